//! `firstfault lsp`: findings in the editor, new ones with every save.
//!
//! The server keeps no analysis in memory. Each save starts `firstfault check` as a child, which
//! finds in the cache whatever did not change; a save that comes meanwhile ends the child and
//! starts anew. An analysis that crashes or hangs costs its findings, not the editor's server.

mod actions;
mod analysis;
mod convert;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base::Cancel;
use clap::Args;
use crossbeam_channel::{Receiver, Sender, select, unbounded};
use findings::Findings;
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidOpenTextDocument, DidSaveTextDocument, Notification as _, PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{CodeActionRequest, Request as _};
use lsp_types::{
    CodeActionParams, CodeActionProviderCapability, InitializeParams, MessageType,
    PublishDiagnosticsParams, SaveOptions, ServerCapabilities, ShowMessageParams,
    TextDocumentSyncCapability, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
};
use report::sources::Sources;

use super::Outcome;
use crate::args::{InputArgs, RunArgs};
use analysis::Analysed;

#[derive(Args)]
pub struct LspArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub fn run(args: &LspArgs, cancel: &Cancel) -> Result<Outcome> {
    let (connection, threads) = Connection::stdio();
    let (id, params) = connection.initialize_start().context("no editor speaks to us")?;
    let params: InitializeParams = serde_json::from_value(params).unwrap_or_default();
    let about = serde_json::json!({
        "capabilities": capabilities(),
        "serverInfo": {"name": "firstfault", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, about).context("the editor has gone")?;
    let (results, finished) = unbounded();
    let mut server = Server {
        sender: connection.sender.clone(),
        args,
        root: root(&params)?,
        running: Cancel::new(),
        generation: 0,
        results,
        findings: Findings::new(),
        published: BTreeSet::new(),
    };
    server.serve(&connection, &finished, cancel)?;
    server.running.cancel();
    drop(server);
    drop(connection);
    threads.join().context("cannot write to the editor")?;
    Ok(Outcome::Clean)
}

fn capabilities() -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
            include_text: Some(false),
        })),
        ..TextDocumentSyncOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}

/// The folder the editor has open; where it says none, the one we were started in.
fn root(params: &InitializeParams) -> Result<PathBuf> {
    let folder = params.workspace_folders.iter().flatten().next().map(|folder| &folder.uri);
    #[allow(deprecated, reason = "older editors send nothing else")]
    let uri = folder.or(params.root_uri.as_ref());
    let named = uri.and_then(convert::path).filter(|path| path.is_dir());
    let here = || std::env::current_dir().context("cannot tell the current folder");
    named.map_or_else(here, Ok)
}

struct Server<'a> {
    sender: Sender<Message>,
    args: &'a LspArgs,
    root: PathBuf,
    /// Ends the analysis under way.
    running: Cancel,
    /// Counts analyses: what an older one says is no longer of interest.
    generation: u64,
    results: Sender<Analysed>,
    findings: Findings,
    /// Files the editor shows something in.
    published: BTreeSet<String>,
}

impl Server<'_> {
    fn serve(
        &mut self,
        connection: &Connection,
        finished: &Receiver<Analysed>,
        cancel: &Cancel,
    ) -> Result<()> {
        loop {
            select! {
                recv(connection.receiver) -> message => {
                    // An editor that has gone needs no server.
                    let Ok(message) = message else { return Ok(()) };
                    if let Message::Request(request) = &message
                        && connection.handle_shutdown(request)?
                    {
                        return Ok(());
                    }
                    self.heard(message)?;
                }
                recv(finished) -> analysed => self.analysed(analysed?)?,
            }
            if cancel.is_cancelled() {
                return Ok(());
            }
        }
    }

    fn heard(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Request(request) => self.asked(request),
            Message::Notification(notification) => {
                self.told(&notification);
                Ok(())
            }
            Message::Response(_) => Ok(()),
        }
    }

    fn told(&mut self, notification: &Notification) {
        let is_news = match notification.method.as_str() {
            DidSaveTextDocument::METHOD => true,
            // What is open at the beginning has not been looked at yet.
            DidOpenTextDocument::METHOD => self.generation == 0,
            _ => false,
        };
        let uri = notification.params["textDocument"]["uri"].as_str();
        if let Some(file) = uri.and_then(convert::path_of).filter(|_| is_news) {
            self.analyse(&file);
        }
    }

    fn analyse(&mut self, saved: &Path) {
        self.running.cancel();
        self.running = Cancel::new();
        self.generation += 1;
        let command = analysis::command(self.args, &self.root, saved);
        let (cancel, results) = (self.running.clone(), self.results.clone());
        let generation = self.generation;
        std::thread::spawn(move || {
            let findings = command.and_then(|command| analysis::run(command, &cancel));
            // Nobody listens once the server ends.
            let _ = results.send(Analysed { generation, findings });
        });
    }

    fn analysed(&mut self, analysed: Analysed) -> Result<()> {
        if analysed.generation != self.generation {
            return Ok(());
        }
        match analysed.findings {
            Ok(findings) => {
                self.findings = findings;
                self.publish()
            }
            // What is shown stays: code that does not compile is seldom saved for long.
            Err(error) => {
                let message = format!("firstfault: {error:#}");
                self.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::WARNING, message })
            }
        }
    }

    fn publish(&mut self) -> Result<()> {
        let mut sources = Sources::of(&self.root, &self.findings);
        let all = convert::diagnostics(&self.findings, &self.root, &mut sources);
        let before = std::mem::replace(&mut self.published, all.keys().cloned().collect());
        let gone = before.into_iter().map(|file| (file, Vec::new()));
        let mut messages: BTreeMap<_, _> = gone.collect();
        messages.extend(all);
        for (file, diagnostics) in messages {
            let Some(uri) = convert::uri(&self.root, &file) else { continue };
            let params = PublishDiagnosticsParams { uri, diagnostics, version: None };
            self.notify::<PublishDiagnostics>(params)?;
        }
        Ok(())
    }

    fn asked(&self, request: Request) -> Result<()> {
        if request.method != CodeActionRequest::METHOD {
            let code = lsp_server::ErrorCode::MethodNotFound as i32;
            let message = format!("firstfault has no {}", request.method);
            return self.answer(Response::new_err(request.id, code, message));
        }
        self.offer(request.id, request.params)
    }

    fn offer(&self, id: RequestId, params: serde_json::Value) -> Result<()> {
        let Ok(params) = serde_json::from_value::<CodeActionParams>(params) else {
            let code = lsp_server::ErrorCode::InvalidParams as i32;
            let message = "this is no request for code actions".to_owned();
            return self.answer(Response::new_err(id, code, message));
        };
        let repairs = analysis::repairs(self.args, &self.root);
        let actions = actions::actions(&params, &self.findings, &repairs, &self.root);
        self.answer(Response::new_ok(id, actions))
    }

    fn answer(&self, response: Response) -> Result<()> {
        self.sender.send(Message::Response(response)).context("the editor has gone")
    }

    fn notify<N: lsp_types::notification::Notification>(&self, params: N::Params) -> Result<()> {
        let notification = Notification::new(N::METHOD.to_owned(), params);
        self.sender.send(Message::Notification(notification)).context("the editor has gone")
    }
}
