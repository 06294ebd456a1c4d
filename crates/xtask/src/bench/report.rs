//! `cargo xtask bench report`: how long a large report takes to write and to open, and how long
//! an editor waits after a save.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

#[allow(dead_code, reason = "the tests of reports do more with it")]
#[path = "../../../report/tests/it/browser.rs"]
mod browser;

use super::obtain::Corpus;
use super::table::Table;
use super::{origin, subject};

/// Its `deflate.c` has about two thousand lines.
pub const CORPUS: &str = "zlib";
const SAVED: &str = "deflate.c";

/// Faults with one cause, itself included.
const GROUP: u32 = 5;

#[derive(Args)]
pub struct Report {
    /// Findings in the report
    #[arg(long, default_value_t = 5000)]
    findings: u32,
    /// How often everything is measured; the median counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
}

pub fn run(root: &Path, corpus: &Corpus, options: &Report) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => fs::canonicalize(path)?,
        None => subject::build(root)?,
    };
    let folder = tempfile::tempdir()?;
    let mut table = Table::new(&["what", "seconds", "bar"]);
    let seconds = |time: Duration| format!("{:.2}", time.as_secs_f64());
    let findings = folder.path().join("findings.json");
    fs::write(&findings, serde_json::to_vec(&many_findings(corpus, options.findings)?)?)?;
    for (format, bar) in [("html", "3"), ("sarif", ""), ("text", "")] {
        let target = folder.path().join(format!("report.{format}"));
        let time =
            median(options.runs, || rendered(&firstfault, corpus, &findings, format, &target))?;
        let what = format!("{} findings written as {format}", options.findings);
        table.row(vec![what, seconds(time), bar.to_owned()]);
    }
    let page = folder.path().join("report.html");
    let time = median(options.runs, || opened(&page))?;
    table.row(vec![
        "the page opened, until it can be used".to_owned(),
        seconds(time),
        "2".to_owned(),
    ]);
    let lines = fs::read_to_string(corpus.folder.join(SAVED))?.lines().count();
    let time = saves(&firstfault, corpus, options.runs, folder.path())?;
    let what = format!("an editor's save of {SAVED} ({lines} lines), warm");
    table.row(vec![what, seconds(time), "1".to_owned()]);
    let text = format!(
        "# How fast reports are\n\n`cargo xtask bench report --findings {} --runs {}`, {}. Wall-clock \
         seconds on two cores, the median of the runs; `bar` is what is asked for.\n\n{table}",
        options.findings,
        options.runs,
        origin::commit_and_date(root)
    );
    print!("{text}");
    fs::write(root.join("bench/results/report.md"), text)?;
    Ok(())
}

/// Faults with paths of ten steps over all files of a corpus, in groups with one cause each.
fn many_findings(corpus: &Corpus, n: u32) -> Result<Value> {
    let units: Vec<String> = fs::read_dir(&corpus.folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".c"))
        .collect();
    if units.is_empty() {
        bail!("the corpus has no C files");
    }
    let fault = |index: u32| {
        let file = &units[index as usize % units.len()];
        let place = |step: u32| (index * 7 + step * 13) % 500 + 1;
        let steps: Vec<Value> = (0..10)
            .map(|step| {
                json!({"file": file, "line": place(step), "column": 1, "function": "f",
                "note": format!("step {step} of fault {index}"), "impact": step % 3 == 0, "depth": step % 3})
            })
            .collect();
        json!({"id": format!("F{}", index + 1), "rule": "buffer-overflow", "cwe": [787],
            "severity": "error", "verdict": "unsafe", "file": file, "line": place(9), "column": 1,
            "function": "f", "message": format!("fault {index} writes past its end"),
            "origin": "detection", "segments": [{"steps": steps}], "fingerprint": index.to_string()})
    };
    let faults: Vec<Value> = (0..n).map(fault).collect();
    let (correlations, groups) = causes(n);
    Ok(json!({"schema": "firstfault/1", "faults": faults, "correlations": correlations,
        "groups": groups}))
}

/// The first of every five faults causes the four others.
fn causes(n: u32) -> (Vec<Value>, Vec<Value>) {
    let id = |number: u32| format!("F{number}");
    let (mut correlations, mut groups) = (Vec::new(), Vec::new());
    for root in (1..=n).step_by(GROUP as usize) {
        let others: Vec<String> = (root + 1..=n.min(root + GROUP - 1)).map(id).collect();
        correlations.extend(
            others.iter().map(
                |other| json!({"from": id(root), "to": other, "unique": true, "via": "direct"}),
            ),
        );
        let faults: Vec<String> = std::iter::once(id(root)).chain(others.clone()).collect();
        groups.push(json!({"id": format!("G{}", groups.len() + 1), "faults": faults,
            "roots": [id(root)], "removes": [others]}));
    }
    (correlations, groups)
}

fn rendered(
    firstfault: &Path,
    corpus: &Corpus,
    findings: &Path,
    format: &str,
    target: &Path,
) -> Result<Duration> {
    let started = Instant::now();
    let status = Command::new(firstfault)
        .arg("report")
        .arg(findings)
        .args(["--format", format, "-o"])
        .arg(target)
        .current_dir(&corpus.folder)
        .status()?;
    if status.code() != Some(1) {
        bail!("firstfault report ended with {status}");
    }
    Ok(started.elapsed())
}

/// From the navigation to the end of its load event, by the browser's own clock.
fn opened(page: &Path) -> Result<Duration> {
    let mut browser = browser::Browser::open(page);
    let end = browser.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd");
    let milliseconds = end.as_f64().context("the page never loaded")?;
    Ok(Duration::from_secs_f64(milliseconds / 1000.0))
}

/// The time from a save to the diagnostics it brings, after one that warms the cache. Each
/// save has another comment in the file: its unit is compiled and analysed anew.
fn saves(firstfault: &Path, corpus: &Corpus, runs: usize, folder: &Path) -> Result<Duration> {
    let project = folder.join("project");
    fs::create_dir(&project)?;
    for entry in fs::read_dir(&corpus.folder)? {
        let path = entry?.path();
        if let (Some(name), true) =
            (path.file_name(), path.extension().is_some_and(|e| e == "c" || e == "h"))
        {
            fs::copy(&path, project.join(name))?;
        }
    }
    let file = project.join(SAVED);
    let text = fs::read_to_string(&file)?;
    let mut server = Command::new(firstfault)
        .args(["lsp", "--state"])
        .arg(folder.join("state"))
        .args(["--", "-I.", "-DSTDC", "-D_LARGEFILE64_SOURCE", "-DHAVE_UNISTD_H"])
        .current_dir(&project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut to = server.stdin.take().context("a pipe was asked for")?;
    let mut from = BufReader::new(server.stdout.take().context("a pipe was asked for")?);
    send(
        &mut to,
        &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"processId": null, "rootUri": null, "capabilities": {}}}),
    )?;
    receive(&mut from)?;
    send(&mut to, &json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}))?;
    let mut n_saves = 0;
    let mut save = || -> Result<Duration> {
        n_saves += 1;
        // A fault of its own, so that there is always something to publish.
        let fault = format!("\nint ff_{n_saves}(void) {{ int z = 0; return {n_saves} / z; }}\n");
        fs::write(&file, format!("{text}{fault}"))?;
        let started = Instant::now();
        let uri = format!("file://{}", file.display());
        send(
            &mut to,
            &json!({"jsonrpc": "2.0", "method": "textDocument/didSave",
            "params": {"textDocument": {"uri": uri}}}),
        )?;
        loop {
            let message = receive(&mut from)?;
            match message["method"].as_str() {
                Some("textDocument/publishDiagnostics") => return Ok(started.elapsed()),
                Some("window/showMessage") => bail!("{}", message["params"]["message"]),
                _ => {}
            }
        }
    };
    save()?;
    let time = median(runs, save);
    server.kill()?;
    server.wait()?;
    time
}

fn send(to: &mut impl Write, message: &Value) -> Result<()> {
    let text = message.to_string();
    write!(to, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    Ok(to.flush()?)
}

fn receive(from: &mut impl BufRead) -> Result<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            bail!("the server has ended");
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", n)) => length = n.parse()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn median(runs: usize, mut measured: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut times = (0..runs.max(1)).map(|_| measured()).collect::<Result<Vec<_>>>()?;
    times.sort();
    Ok(times[times.len() / 2])
}
