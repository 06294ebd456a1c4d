//! Programs for tests: C compiled by the real compiler and imported, with its facts, and a
//! way to ask about values by a label.
//!
//! The C text calls `see("label", pointer)` or `see_int("label", number)`, functions with
//! an empty body of their own, so that asking changes nothing.

use base::Cancel;
use facts::pointsto::Types;
use facts::{CellId, Facts, Interval, LoopFacts, Nullness, ObjectKind, Options, Version};
use fixture::identity_map;
use program::{Body, Callee, Const, FunctionId, InstId, Op, Operand, Program};

/// Declared in front of every test program.
pub const PRELUDE: &str = r#"
typedef unsigned long size_t;
typedef long intptr_t;
void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t);
void free(void *); void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t); void *memset(void *, int, size_t);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
char *strchr(const char *, int); char *strcpy(char *, const char *); void abort(void);
long strtol(const char *, char **, int);
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#define container_of(pointer, type, member) \
    ((type *)((char *)(pointer) - offsetof(type, member)))
"#;

/// The questions, as functions that do nothing.
pub const QUESTIONS: &str = r#"
static void see(const char *label, const void *pointer) {}
static void see_int(const char *label, long number) {}
"#;

pub struct Analysed {
    pub program: Program,
    pub facts: Facts,
}

/// The text with the prelude in front.
pub fn import(text: &str) -> Program {
    import_plain(&format!("{PRELUDE}{QUESTIONS}{text}"))
}

pub fn import_plain(text: &str) -> Program {
    let expanded = expand_macros(text);
    let map = identity_map(&expanded);
    let flags: [&str; 0] = [];
    let bitcode =
        llvm::compile(expanded.as_bytes(), &flags, &map, &Default::default(), &Cancel::new())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = llvm::import(&bitcode, &map, "t.c").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(program::check::check(&program), Vec::<String>::new());
    program
}

fn expand_macros(text: &str) -> String {
    use std::io::Write;
    let mut child = std::process::Command::new("clang-19")
        .args(["-E", "-P", "-x", "c", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("clang-19 is installed");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let text = text.to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("clang-19 runs");
    writing.join().expect("no panic").expect("clang-19 reads its input");
    String::from_utf8(output.stdout).expect("C text")
}

pub fn analyse(text: &str) -> Analysed {
    let program = import(text);
    let facts = Facts::compute(&program, &Options::default());
    Analysed { program, facts }
}

/// A call of a helper with its label.
#[derive(Clone, Copy)]
pub struct Asked {
    pub function: FunctionId,
    pub inst: InstId,
    pub value: Operand,
}

impl Analysed {
    pub fn function(&self, name: &str) -> FunctionId {
        let found = self.program.functions.iter_enumerated().find(|(_, f)| &*f.name == name);
        found.unwrap_or_else(|| panic!("function {name} was imported")).0
    }

    pub fn body(&self, function: FunctionId) -> &Body {
        self.program.functions[function].body.as_ref().expect("the function has a body")
    }

    /// Every call of `helper`, with the label that is its first argument.
    pub fn calls_of(&self, helper: &str) -> Vec<(String, FunctionId, InstId, &program::Call)> {
        let mut calls = Vec::new();
        for (function, called) in self.program.functions.iter_enumerated() {
            for (inst, op) in called.body.iter().flat_map(|body| body.insts.iter_enumerated()) {
                if let Op::Call(call) = &op.op
                    && let Callee::Function(target) = call.callee
                    && &*self.program.functions[target].name == helper
                    && let Some(label) = self.text_of(call.args[0])
                {
                    calls.push((label, function, inst, &**call));
                }
            }
        }
        calls
    }

    fn text_of(&self, operand: Operand) -> Option<String> {
        let Operand::Const(id) = operand else { return None };
        let Const::Global { global, offset: 0 } = self.program.constants[id] else { return None };
        let piece = self.program.globals[global].init.as_ref()?.first()?;
        let Const::Bytes(bytes) = &self.program.constants[piece.value] else { return None };
        let text = bytes.split(|byte| *byte == 0).next()?;
        String::from_utf8(text.to_vec()).ok()
    }

    /// The one question with this label.
    pub fn asked(&self, label: &str) -> Asked {
        let calls = self.calls_of("see").into_iter().chain(self.calls_of("see_int"));
        let mut found: Vec<_> = calls.filter(|(known, ..)| known == label).collect();
        assert_eq!(found.len(), 1, "one question is labelled {label}");
        let (_, function, inst, call) = found.remove(0);
        Asked { function, inst, value: call.args[1] }
    }

    /// What a labelled pointer may point to, as sorted names like `x`, `s+8` or `s+?`.
    pub fn points_to(&self, label: &str) -> Vec<String> {
        let Asked { function, value, .. } = self.asked(label);
        self.names(self.facts.pointers.of(function, value))
    }

    /// What the first parameter of a function may point to.
    pub fn points_to_in(&self, function: &str) -> Vec<String> {
        self.names(self.facts.pointers.of(self.function(function), Operand::Param(0)))
    }

    pub fn names(&self, cells: &facts::SparseSet) -> Vec<String> {
        let mut names: Vec<String> =
            cells.iter().map(|cell| self.cell_name(CellId(cell))).collect();
        names.sort();
        names
    }

    pub fn cell_name(&self, cell: CellId) -> String {
        let cell = self.facts.pointers.cells[cell];
        let name = self.object_name(cell.object);
        match cell.offset {
            Some(0) => name,
            Some(offset) => format!("{name}+{offset}"),
            None => format!("{name}+?"),
        }
    }

    pub fn object_name(&self, object: facts::ObjectId) -> String {
        let inst_line = |function: FunctionId, inst: InstId| {
            let calls = self.body(function).insts.iter_enumerated();
            let calls = calls.filter(|(_, inst)| matches!(inst.op, Op::Call(_)));
            calls.take_while(|(id, _)| *id <= inst).count()
        };
        match self.facts.pointers.objects[object].kind {
            ObjectKind::Unknown => "unknown".into(),
            ObjectKind::Outside(ty) => format!("outside {}", self.program.type_name(ty)),
            ObjectKind::ParamCopy { function, param } => {
                format!("copy {}#{param}", self.program.functions[function].name)
            }
            ObjectKind::Local { function, inst } => match &self.body(function).insts[inst].op {
                Op::Alloca { variable: Some(variable), .. } => {
                    self.body(function).variables[*variable].name.to_string()
                }
                _ => format!("temporary of {}", self.program.functions[function].name),
            },
            ObjectKind::Global(global) => match &*self.program.globals[global].name {
                "" => "literal".into(),
                name => name.into(),
            },
            ObjectKind::Heap { function, inst } => {
                let name = &self.program.functions[function].name;
                format!("heap {name}:{}", inst_line(function, inst))
            }
            ObjectKind::Handle { function, .. } => {
                format!("handle {}", self.program.functions[function].name)
            }
            ObjectKind::Library(function) => {
                format!("library {}", self.program.functions[function].name)
            }
            ObjectKind::Varargs(function) => {
                format!("varargs {}", self.program.functions[function].name)
            }
            ObjectKind::Function(function) => self.program.functions[function].name.to_string(),
        }
    }

    /// Whether a labelled pointer may point into the object of this name, be it that the
    /// object escaped and the pointer comes from outside.
    pub fn may_point_into(&self, label: &str, name: &str) -> bool {
        let Asked { function, value, .. } = self.asked(label);
        let pointers = &self.facts.pointers;
        let touched = pointers.touched(pointers.of(function, value), Some(1));
        let objects = pointers.objects_in(&pointers.with_aliases(&touched));
        objects.into_iter().any(|object| self.object_name(object) == name)
    }

    /// The range of a labelled number where it is asked for.
    pub fn range(&self, label: &str) -> Interval {
        let Asked { function, inst, value } = self.asked(label);
        let block = self.body(function).insts[inst].block;
        self.facts.range_at(&self.program, function, block, value).expect("a number")
    }

    pub fn signed_range(&self, label: &str) -> (i64, i64) {
        let range = self.range(label);
        (range.signed_min, range.signed_max)
    }

    pub fn nullness(&self, label: &str) -> Nullness {
        let Asked { function, inst, value } = self.asked(label);
        self.facts.nullness_at(&self.program, function, inst, value)
    }

    /// The functions a call through a pointer in `function` may reach, sorted by name.
    pub fn pointer_targets(&self, function: &str) -> Vec<String> {
        let calls = self.facts.calls.calls(self.function(function)).iter();
        let calls = calls.filter(|call| call.kind != facts::CallKind::Direct);
        let targets = calls.flat_map(|call| self.facts.calls.targets(call));
        let mut names: Vec<String> =
            targets.map(|&f| self.program.functions[f].name.to_string()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// What the only call of `callee` in `function` may write, as names of cells.
    pub fn written_by_call(&self, function: &str, callee: &str) -> Vec<String> {
        self.names(&self.effects_of_call(function, callee).writes)
    }

    pub fn effects_of_call(&self, function: &str, callee: &str) -> facts::CellEffects {
        let function = self.function(function);
        let calls = |inst: &program::Inst| match &inst.op {
            Op::Call(call) => matches!(call.callee, Callee::Function(target)
                if &*self.program.functions[target].name == callee),
            _ => false,
        };
        let mut sites = self.body(function).insts.iter_enumerated().filter(|(_, i)| calls(i));
        let (inst, _) = sites.next().expect("the function makes the call");
        assert!(sites.next().is_none(), "only one call of {callee}");
        let types = Types::new(&self.program);
        let context = self.facts.effect_context(&self.program, &types);
        self.facts.effects.of_call(&context, function, inst)
    }

    /// The loops of a function, outermost first.
    pub fn loops(&self, function: &str) -> Vec<&LoopFacts> {
        self.facts.loops[self.function(function).0 as usize].loops.iter().collect()
    }

    /// How the instruction that computes the labelled number, a load, is reached by writes:
    /// each as the instruction's number, or none for what the caller left.
    pub fn reaching_writes(&self, label: &str) -> Vec<Option<InstId>> {
        let Asked { function, value, .. } = self.asked(label);
        let memory = &self.facts.memory[function.0 as usize];
        let reaching = memory.reaching(self.load_of(function, value)).expect("a load");
        let versions = &memory.groups[reaching.group as usize].versions;
        let (mut work, mut seen) = (vec![reaching.version], vec![false; versions.len()]);
        let mut found = Vec::new();
        while let Some(version) = work.pop() {
            if std::mem::replace(&mut seen[version as usize], true) {
                continue;
            }
            match &versions[version as usize] {
                Version::Entry => found.push(None),
                Version::Write { inst, previous, is_certain } => {
                    found.push(Some(*inst));
                    if !is_certain {
                        work.push(*previous);
                    }
                }
                Version::Merge { operands, .. } => work.extend(operands.iter().map(|(_, v)| *v)),
            }
        }
        found.sort_unstable();
        found
    }

    fn load_of(&self, function: FunctionId, mut value: Operand) -> InstId {
        loop {
            let Operand::Inst(inst) = value else { panic!("no load") };
            match &self.body(function).insts[inst].op {
                Op::Load(_) => return inst,
                Op::Convert(conversion) => value = conversion.value,
                other => panic!("no load but {other:?}"),
            }
        }
    }
}
