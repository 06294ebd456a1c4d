//! Facts against runs: programs are compiled and run natively, and whatever is observed
//! must be among what the facts say can be.
//!
//! `programs/*.c` are written by hand, others are made up by [`crate::made_up`]. They call
//! observers (`programs/observers.h`) that name memory and print where pointers point,
//! which memory a call changes, which functions it enters, and which values arise.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use facts::pointsto::Types;
use facts::{CellId, Facts, Nullness, ObjectId, Options, SparseSet};
use program::{FunctionId, InstId, Op};

use crate::common::{Analysed, PRELUDE, import_plain};

const SILENT: &str = r#"
static void know(const char *name, const void *start, size_t size) {}
static void forget(const char *name, const void *start) {}
static void see(const char *label, const void *pointer) {}
static void see_int(const char *label, long number) {}
static void watch(const char *label) {}
static void changed(const char *label) {}
static void entered(const char *function) {}
void out_keep(void *); void *out_fetch(int); void out_link(int, int); void out_number(int, int);
void out_call(void (*)(void *), int);
"#;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

fn analyse(text: &str) -> Analysed {
    let program = import_plain(&format!("{PRELUDE}{SILENT}{text}"));
    let facts = Facts::compute(&program, &Options::default());
    Analysed { program, facts }
}

/// What a native run prints, each line once.
fn run(text: &str) -> BTreeSet<String> {
    let scratch = tempfile::tempdir().expect("a folder to work in");
    let source = scratch.path().join("t.c");
    let folder = folder();
    let headers =
        format!("#include \"{0}/observers.h\"\n#include \"{0}/outside.h\"\n", folder.display());
    std::fs::write(&source, format!("{PRELUDE}{headers}{text}")).expect("a file can be written");
    let program = scratch.path().join("t");
    let compiled = Command::new("clang-19")
        .args(["-O0", "-w", "-fno-strict-aliasing", "-o"])
        .args([&program, &source])
        .output()
        .expect("clang-19 is installed");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).output().expect("the program starts");
    assert!(output.status.code().is_some(), "the program crashed\n{text}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Everything observed that the facts deny.
fn denied(known: &Analysed, observed: &BTreeSet<String>) -> Vec<String> {
    let check = Check { known, types: Types::new(&known.program) };
    observed.iter().filter(|line| !check.allows(line)).cloned().collect()
}

struct Check<'a> {
    known: &'a Analysed,
    types: Types<'a>,
}

impl Check<'_> {
    fn allows(&self, line: &str) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["points", label, name, at] => self.allows_target(label, name, at.parse().unwrap()),
            ["null", label] => {
                matches!(self.known.nullness(label), Nullness::Null | Nullness::Maybe)
            }
            ["number", label, number] => {
                self.known.range(label).contains_signed(number.parse().unwrap())
            }
            ["changed", label, name, at] => self.allows_change(label, name, at.parse().unwrap()),
            ["entered", label, name] => self.allows_call(label, name),
            _ => panic!("the program printed {line}"),
        }
    }

    /// The objects a name was given to.
    fn named(&self, name: &str) -> Vec<ObjectId> {
        let pointers = &self.known.facts.pointers;
        let calls = self.known.calls_of("know").into_iter().filter(|(known, ..)| known == name);
        let objects = calls.flat_map(|(_, function, _, call)| {
            pointers.objects_in(pointers.of(function, call.args[1]))
        });
        objects.collect()
    }

    fn allows_target(&self, label: &str, name: &str, at: i64) -> bool {
        let asked = self.known.asked(label);
        let pointers = &self.known.facts.pointers;
        let cells = pointers.with_aliases(pointers.of(asked.function, asked.value));
        let block = self.known.body(asked.function).insts[asked.inst].block;
        self.known.facts.ranges.can_reach(asked.function, block)
            && self.known.nullness(label) != Nullness::Null
            && self.covers(&cells, name, at, false)
    }

    /// Whether a byte of the named memory lies in one of the cells.
    fn covers(&self, cells: &SparseSet, name: &str, at: i64, or_inside: bool) -> bool {
        let pointers = &self.known.facts.pointers;
        let named = self.named(name);
        assert!(!named.is_empty(), "{name} names something");
        cells.iter().any(|cell| {
            let cell = pointers.cells[CellId(cell)];
            let object = &pointers.objects[cell.object];
            let Some(offset) = cell.offset else { return named.contains(&cell.object) };
            if !named.contains(&cell.object) {
                return false;
            }
            // Elements of an array are its first; a record's last array may go on instead.
            let first = self.types.element_size(object.layout).map_or(at, |element| at % element);
            let canonical = |at| self.types.canonical(object.layout, at, object.size);
            if !or_inside {
                return canonical(at) == Some(offset) || canonical(first) == Some(offset);
            }
            // The scalar the byte lies in, or the last before it that anybody points to.
            let cells = pointers.cells_of(cell.object).map(|id| pointers.cells[CellId(id)].offset);
            let is_last_before = |at: i64| {
                let scalar = (at - 15..=at).rev().find_map(canonical).unwrap_or(at);
                cells.clone().flatten().filter(|start| *start <= scalar).max() == Some(offset)
            };
            is_last_before(at) || is_last_before(first)
        })
    }

    /// The calls between `watch` and `changed` of a label.
    fn watched(&self, label: &str) -> (FunctionId, Vec<InstId>) {
        let find = |helper: &str| {
            let calls = self.known.calls_of(helper).into_iter();
            let mut found = calls.filter(|(known, ..)| known == label);
            let (_, function, inst, _) = found.next().expect("the label is watched");
            assert!(found.next().is_none(), "{label} is watched once");
            (function, inst)
        };
        let ((function, from), (_, to)) = (find("watch"), find("changed"));
        let insts = self.known.body(function).insts.iter_enumerated();
        let between = insts.filter(|(id, inst)| {
            (from..to).contains(id) && matches!(inst.op, Op::Call(_) | Op::Store { .. })
        });
        (function, between.map(|(id, _)| id).collect())
    }

    fn allows_change(&self, label: &str, name: &str, at: i64) -> bool {
        let (function, insts) = self.watched(label);
        let context = self.known.facts.effect_context(&self.known.program, &self.types);
        let mut written = SparseSet::new();
        for inst in insts {
            match &self.known.body(function).insts[inst].op {
                Op::Store { access, .. } => {
                    written.union(&context.accessed(function, access));
                }
                _ => {
                    let effects = self.known.facts.effects.of_call(&context, function, inst);
                    written.union(&effects.writes);
                }
            }
        }
        self.covers(&written, name, at, true)
    }

    fn allows_call(&self, label: &str, name: &str) -> bool {
        let (function, insts) = self.watched(label);
        let calls = &self.known.facts.calls;
        let entered = self.known.function(name);
        let mut work = Vec::new();
        let mut is_open = false;
        for inst in insts {
            for call in calls.calls_at(function, inst) {
                is_open |= call.is_open;
                work.extend_from_slice(calls.targets(call));
            }
        }
        let mut seen = BTreeSet::new();
        while let Some(function) = work.pop() {
            if seen.insert(function) {
                is_open |= calls.calls(function).iter().any(|call| call.is_open);
                work.extend(calls.callees(function));
            }
        }
        seen.contains(&entered) || (is_open && !calls.all_callers_known(entered))
    }
}

#[test]
fn programs_written_by_hand() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the programs are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 15);
    let mut complaints = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a program");
        let observed = run(&text);
        assert!(observed.len() >= 3, "{} shows something", path.display());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        complaints
            .extend(denied(&analyse(&text), &observed).into_iter().map(|c| (name.clone(), c)));
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn programs_made_up() {
    for seed in 0..12 {
        let text = crate::made_up::pointers(seed);
        let complaints = denied(&analyse(&text), &run(&text));
        assert!(complaints.is_empty(), "seed {seed}: {complaints:#?}\n{text}");
    }
    for seed in 0..8 {
        let text = crate::made_up::numbers(seed);
        let complaints = denied(&analyse(&text), &run(&text));
        assert!(complaints.is_empty(), "seed {seed}: {complaints:#?}\n{text}");
    }
}

/// The comparison itself: facts of a program that lacks a statement deny what it causes.
#[test]
fn facts_of_another_program_are_denied() {
    let program = |statement: &str, call: &str, number: &str| {
        format!(
            "static int x, y; static int *p = &x; void set(int *q) {{ entered(\"set\"); {call} }}
             static void (*hook)(int *) = set;
             int main(void) {{ know(\"x\", &x, 4); know(\"y\", &y, 4); {statement} see(\"p\", p);
                watch(\"call\"); hook(&x); changed(\"call\"); see_int(\"n\", {number}); return 0; }}"
        )
    };
    let full = program("p = &y;", "*q = 1;", "5");
    let observed = run(&full);
    assert_eq!(denied(&analyse(&full), &observed), Vec::<String>::new());
    let denied_without = |text: String| denied(&analyse(&text), &observed).len();
    assert_eq!(denied_without(program("", "*q = 1;", "5")), 1, "where p points");
    assert_eq!(denied_without(program("p = &y;", "", "5")), 1, "what the call changes");
    assert_eq!(denied_without(program("p = &y;", "*q = 1;", "4")), 1, "the number");
    let uncalled = full.replace("(int *) = set", "(int *)");
    assert!(denied_without(uncalled) >= 1, "the function entered");
}
