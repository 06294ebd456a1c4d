//! `firstfault lsp` with a client that speaks as an editor does.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::Sandbox;

const FREED: &str = "#include <stdlib.h>
int f(void)
{
    int *p = malloc(sizeof *p);
    if (!p)
        return 0;
    free(p);
    return *p;
}
";

struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Editor {
    fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["lsp"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut editor = Self { server, to, from: BufReader::new(from) };
        let root = format!("file://{}", sandbox.path("").display());
        let params = json!({"processId": null, "rootUri": root, "capabilities": {}});
        let about = editor.ask(1, "initialize", params);
        assert_eq!(about["serverInfo"]["name"], "firstfault");
        assert_eq!(about["capabilities"]["codeActionProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    fn save(&mut self, sandbox: &Sandbox, file: &str) {
        let uri = format!("file://{}", sandbox.path(file).display());
        self.tell("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    }

    /// The next diagnostics the server publishes.
    fn diagnostics(&mut self) -> Value {
        loop {
            let message = self.receive();
            if message["method"] == "textDocument/publishDiagnostics" {
                return message["params"].clone();
            }
        }
    }

    fn end(mut self) {
        self.ask(99, "shutdown", Value::Null);
        self.tell("exit", Value::Null);
        assert_eq!(self.server.wait().unwrap().code(), Some(0));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.to.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", n)) => length = n.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_save_brings_findings_with_their_path_and_another_takes_them_away() {
    let sandbox = Sandbox::new(&[("a.c", FREED)]);
    let mut editor = Editor::start(&sandbox);
    editor.save(&sandbox, "a.c");
    let published = editor.diagnostics();
    let diagnostics = published["diagnostics"].as_array().unwrap();
    let fault = diagnostics.iter().find(|d| d["code"] == "use-after-free").unwrap();
    assert_eq!(fault["range"]["start"], json!({"line": 7, "character": 11}));
    assert_eq!((&fault["severity"], &fault["source"]), (&json!(1), &json!("firstfault")));
    let related = fault["relatedInformation"].as_array().unwrap();
    let freed = related.iter().find(|step| step["location"]["range"]["start"]["line"] == 6);
    assert!(freed.unwrap()["message"].as_str().unwrap().contains("freed by free()"), "{related:?}");

    // What was found can be silenced, and repaired where a repair is known.
    let repaired = json!({"schema": "firstfault/1", "repairs": [{"rank": 1, "why": "do not free it",
        "changes": [{"file": "a.c", "line": 7, "column": 5, "old": "free(p);\n    return *p;",
                     "new": "return 1;"}]}]});
    sandbox.write("state/last.json", repaired.to_string());
    let params = json!({"textDocument": {"uri": published["uri"]}, "context": {"diagnostics": [fault]},
        "range": {"start": {"line": 6, "character": 0}, "end": {"line": 7, "character": 0}}});
    let actions = editor.ask(2, "textDocument/codeAction", params);
    let titles: Vec<&str> =
        actions.as_array().unwrap().iter().map(|a| a["title"].as_str().unwrap()).collect();
    let expected =
        ["firstfault: repair 1: do not free it", "firstfault: ignore use-after-free here"];
    assert_eq!(titles, expected);
    let edit = |action: usize| {
        let uri = published["uri"].as_str().unwrap();
        actions[action]["edit"]["changes"][uri][0].clone()
    };
    assert_eq!(edit(0)["range"]["start"], json!({"line": 6, "character": 4}));
    assert_eq!(edit(0)["range"]["end"], json!({"line": 7, "character": 14}));
    let comment = "    /* firstfault-ignore[use-after-free]: say why */\n";
    assert_eq!(edit(1)["newText"], comment);

    // Each edit does what it promises.
    for fixed in [
        FREED
            .replace("    free(p);\n    return *p;", "    int x = 1;\n    free(p);\n    return x;"),
        FREED.replace("    return *p;", &format!("{comment}    return *p;")),
    ] {
        sandbox.write("a.c", fixed);
        editor.save(&sandbox, "a.c");
        assert_eq!(editor.diagnostics()["diagnostics"], json!([]));
        sandbox.write("a.c", FREED);
        editor.save(&sandbox, "a.c");
        assert_ne!(editor.diagnostics()["diagnostics"], json!([]));
    }
    // The editor's runs leave the last findings of the terminal alone.
    assert!(sandbox.read("state/last.json").contains("do not free it"));
    editor.end();
}

#[test]
fn code_that_does_not_compile_leaves_what_is_shown_and_says_so() {
    let sandbox = Sandbox::new(&[("a.c", "int f(void) { return nothing; }\n")]);
    let mut editor = Editor::start(&sandbox);
    editor.save(&sandbox, "a.c");
    let message = editor.receive();
    assert_eq!(message["method"], "window/showMessage", "{message}");
    editor.end();
}
