//! Linking and printing what the front end makes of real C.

use std::path::Path;
use std::process::Command;

use capture::provenance;
use program::link::{Linked, link};
use program::{FunctionId, Op, Program, check, render};

/// The units of C files, each preprocessed, compiled and imported.
fn import(files: &[(&str, &str)]) -> Vec<Program> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    let sources = files.iter().map(|(name, _)| *name).filter(|name| name.ends_with(".c"));
    sources.map(|name| import_one(folder.path(), name)).collect()
}

fn import_one(folder: &Path, name: &str) -> Program {
    let output = Command::new("clang-19")
        .args(["-E", "-dD", "-w", "-fcommon", name])
        .current_dir(folder)
        .output()
        .expect("clang-19 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = &mut |path: &Path| std::fs::read(folder.join(path)).ok();
    let prepared = provenance::prepare(&output.stdout, provenance::Extent::Needed, read);
    let (limits, cancel) = (base::child::Limits::default(), base::Cancel::new());
    let bitcode = llvm::compile(&prepared.text, &["-fcommon"], &prepared.map, &limits, &cancel)
        .expect("the unit compiles");
    llvm::import(&bitcode, &prepared.map, name).expect("the unit is imported")
}

fn linked(files: &[(&str, &str)]) -> Linked {
    let linked = link(import(files));
    assert_eq!(check::check(&linked.program), Vec::<String>::new());
    linked
}

fn named(program: &Program, name: &str) -> FunctionId {
    let mut found = program.functions.ids().filter(|id| &*program.functions[*id].name == name);
    let id = found.next().expect("the function exists");
    assert!(found.next().is_none(), "{name} is there twice");
    id
}

const HEADER: &str = "
enum color { RED, GREEN = 4 };
struct header { unsigned len; unsigned urgent : 1, rest : 7; };
struct packet { struct header hdr; char name[16]; struct packet *next;
                union { int number; char *text; } u; int (*send)(struct packet *, int); };
#define MAX(a, b) ((a) > (b) ? (a) : (b))
int transmit(struct packet *p, int n);
extern int counter;
";

const MAIN: &str = r#"
#include "packet.h"
static int helper(struct packet *p, int i)
{
    char local[32];
    int x;
    local[i + 1] = p->name[i];
    p->next->hdr.urgent = 1;
    if (p->hdr.len == 7u)
        return p->send(p->next, MAX(i + 1, x));
    return local[0];
}
int color(enum color c, struct packet *all)
{
    switch (c) { case RED: return 1; case GREEN: return all[c].u.number; }
    return transmit(all + 1, counter) + helper(all, 3);
}
int main(void) { return 0; }
int counter;
"#;

const OTHER: &str = r#"
#include "packet.h"
static int helper(struct packet *p) { return p->hdr.rest; }
int transmit(struct packet *p, int n) { short s = n; return helper(p) + s; }
int counter = 3;
__attribute__((weak)) int color(enum color c, struct packet *all) { return 0; }
"#;

const FILES: [(&str, &str); 3] = [("packet.h", HEADER), ("main.c", MAIN), ("other.c", OTHER)];

#[test]
fn units_share_symbols_and_types() {
    let linked = linked(&FILES);
    let program = &linked.program;
    assert_eq!(linked.notices, Vec::<String>::new());
    let helpers = program.functions.iter().filter(|f| &*f.name == "helper").count();
    assert_eq!(helpers, 2, "static functions stay apart");
    let packets = program.records.iter().filter(|r| &*r.name == "packet").count();
    assert_eq!(packets, 1, "the same struct in two units is one");
    let counter = program.globals.iter().find(|g| &*g.name == "counter").expect("the global");
    assert_eq!(program.units[counter.unit].path, "other.c", "a definition beats a tentative one");
    let color = &program.functions[named(program, "color")];
    assert_eq!(program.units[color.unit].path, "main.c", "strong beats weak");
    let transmit = &program.functions[named(program, "transmit")];
    assert!(transmit.body.is_some());
    assert_eq!(program.main(), Some(named(program, "main")));
}

#[test]
fn code_reads_in_terms_of_the_source() {
    let program = linked(&FILES).program;
    let all: String = program.functions.ids().map(|id| render::function(&program, id)).collect();
    let mut whole = Vec::new();
    render::program(&program, &mut whole).expect("memory can be written");
    let whole = String::from_utf8(whole).expect("the text is UTF-8");
    assert!(whole.starts_with("int counter ") && whole.contains("\nint main(void)"), "{whole}");
    for expected in [
        "int helper(struct packet *p, int i)",
        "alloca char local[32]",
        "uninitialised local, 32 bytes",
        "= load p->name[",
        "store local[",
        "= load p->next : struct packet *",
        "urgent",
        "branch %",
        "[p->hdr.len == 7]",
        "(argument of MAX)",
        "(body of MAX)",
        "= load p->send : int (*)(struct packet *, int)",
        "= load local[0] : char",
        "{ RED: b",
        "GREEN: b",
        ".u.number : int",
        "= load counter : int",
        "int -> short (implicit, truncation)",
        "int color(enum color c, struct packet *all)",
    ] {
        assert!(all.contains(expected), "no `{expected}` in\n{all}");
    }
}

#[test]
fn expressions_read_as_the_programmer_wrote_them() {
    let program = linked(&FILES).program;
    let id = named(&program, "color");
    let renderer = render::Renderer::new(&program, id);
    let body = program.functions[id].body.as_ref().expect("a body");
    let calls: Vec<String> = body
        .insts
        .iter_enumerated()
        .filter(|(_, inst)| matches!(inst.op, Op::Call(_)))
        .map(|(call, _)| renderer.expr(program::Operand::Inst(call)))
        .collect();
    assert_eq!(calls, ["transmit(all + 1, counter)", "helper(all, 3)"]);
    let loads: Vec<String> =
        body.insts.ids().filter_map(|inst| renderer.accessed_by(inst)).collect();
    assert_eq!(loads, ["all[c].u.number", "counter"]);
}

#[test]
fn graphs_name_functions_and_conditions() {
    let program = linked(&FILES).program;
    let send = named(&program, "transmit");
    let resolver = |_: FunctionId, _| vec![send];
    let calls = render::callgraph(&program, &resolver, None);
    assert!(calls.contains("color (main.c:13)\n  -> transmit\n  -> helper\n"), "{calls}");
    assert!(calls.contains("  -> transmit (through a pointer)\n"), "{calls}");
    let graph = render::cfg(&program, named(&program, "color"));
    assert!(graph.contains("-> case GREEN: b"), "{graph}");
    let dot = render::icfg_dot(&program, &resolver, None);
    assert!(dot.starts_with("digraph \"icfg\" {") && dot.ends_with("}\n"));
    assert!(dot.contains("[label=\"call\", style=bold]"), "{dot}");
}
