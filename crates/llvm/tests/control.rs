//! Control flow, calls, symbols, and code that is not plain C.

mod common;

use common::{binds, body, calls, function, global, import, import_with, insts};
use program::{Callee, Const, Linkage, Op, Operand, Terminator};

#[test]
fn branches_go_where_the_source_says() {
    let program = import("int f(int n) { if (n < 3) return 1; return 2; }");
    let body = body(&program, "f");
    let Terminator::Branch { then, .. } = body.blocks[program::Body::ENTRY].terminator else {
        panic!("a branch")
    };
    let Terminator::Jump(end) = body.blocks[then].terminator else { panic!("then returns") };
    let Op::Phi(edges) = &body.insts[body.blocks[end].first].op else { panic!("a join") };
    let from_then = edges.iter().find(|(source, _)| *source == then).expect("an edge from then");
    assert_eq!(common::operand(&program, body, from_then.1), "1");
}

#[test]
fn loops_join_their_variables() {
    let program =
        import("int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }");
    assert_eq!(binds(&program, "f", "i"), ["0", "phi(0, Binary)", "Binary"]);
    assert_eq!(binds(&program, "f", "s"), ["0", "phi(0, Binary)", "Binary"]);
}

#[test]
fn switches_and_computed_gotos() {
    let program = import(
        "int f(int n) { switch (n) { case 1: return 5; case -7: case 9: return 6; default: return 0; } }
         int g(int n) { static void *t[] = { &&a, &&b }; goto *t[n]; a: return 1; b: return 2; }",
    );
    let Terminator::Switch { cases, .. } =
        &body(&program, "f").blocks[program::Body::ENTRY].terminator
    else {
        panic!("a switch")
    };
    let values: Vec<_> = cases.iter().map(|(value, _)| program.constants[*value].clone()).collect();
    let int = |value| Const::Int { bits: 32, value };
    assert_eq!(values, [int(1), int(-7), int(9)]);
    assert_eq!(cases[1].1, cases[2].1);
    let targets = body(&program, "g").blocks.iter().find_map(|block| match &block.terminator {
        Terminator::Indirect { targets, .. } => Some(targets.clone()),
        _ => None,
    });
    let targets = targets.expect("a computed goto");
    let table = global(&program, "t").init.as_ref().expect("labels");
    let labels: Vec<_> = table
        .iter()
        .map(|piece| match program.constants[piece.value] {
            Const::Label { block, .. } => block,
            ref other => panic!("{other:?} is no label"),
        })
        .collect();
    assert_eq!(labels.len(), 2);
    assert!(labels.iter().all(|label| targets.contains(label)));
}

#[test]
fn calls_direct_through_pointers_and_tables() {
    let program = import(
        "typedef int (*op)(int, unsigned char);
         int add(int a, unsigned char b); int sub(int a, unsigned char b);
         struct ops { const char *name; op run; } table[] = { { \"add\", add }, { \"sub\", sub } };
         int f(op o, int i) { return add(1, 2) + o(i, 3) + table[i].run(4, 5); }",
    );
    let calls = calls(&program, "f");
    assert!(
        matches!(calls[0].callee, Callee::Function(id) if &*program.functions[id].name == "add")
    );
    assert_eq!(calls[1].callee, Callee::Pointer(Operand::Param(0)));
    for call in &calls {
        assert_eq!(program.type_name(call.ctype), "int (int, unsigned char)");
        let types: Vec<_> = call.arg_ctypes.iter().map(|t| program.type_name(*t)).collect();
        assert_eq!(types, ["int", "unsigned char"]);
    }
}

#[test]
fn functions_only_declared_have_their_c_types() {
    let program = import(
        "extern void *get(unsigned long n, const char *s); void *f(void) { return get(1, 0); }",
    );
    assert_eq!(
        program.type_name(function(&program, "get").ctype),
        "void *(unsigned long, const char *)"
    );
}

#[test]
fn varargs_setjmp_and_noreturn() {
    let program = import(
        "int printf(const char *, ...);
         typedef struct { long b[8]; } jmp_buf[1];
         int setjmp(jmp_buf) __attribute__((returns_twice));
         void die(void) __attribute__((noreturn));
         jmp_buf env;
         int f(char c) { printf(\"%d\", c); if (setjmp(env)) die(); return 0; }
         int sum(int n, ...) {
           __builtin_va_list l; __builtin_va_start(l, n);
           int s = __builtin_va_arg(l, int); __builtin_va_end(l); return s; }",
    );
    let calls = calls(&program, "f");
    assert_eq!(calls[0].args.len(), 2);
    assert_eq!(program.type_name(calls[0].arg_ctypes[1]), "int");
    assert!(calls[1].returns_twice);
    assert!(calls[2].is_noreturn);
    assert!(function(&program, "printf").is_variadic && function(&program, "sum").is_variadic);
    let builtins: Vec<_> = common::calls(&program, "sum")
        .iter()
        .filter_map(|call| match &call.callee {
            Callee::Intrinsic(name) => Some(name.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(builtins, ["va_start.p0", "va_end.p0"]);
}

#[test]
fn inline_assembler_is_unknown_code() {
    let program = import("int f(int x) { __asm__ volatile(\"nop\" : \"+r\"(x)); return x; }");
    assert!(insts(&program, "f").any(|inst| matches!(inst.op, Op::Asm { may_write: true, .. })));
    assert_eq!(program.unknown_code.len(), 1);
    assert_eq!(program.locs[program.unknown_code[0].loc].line, 1);
}

#[test]
fn atomics_keep_their_operation() {
    let program = import(
        "_Atomic int counter;
         int f(int *p) { counter++; __atomic_fetch_or(p, 4, 5); int e = 1;
           __atomic_compare_exchange_n(p, &e, 2, 0, 5, 5); __atomic_thread_fence(5); return counter; }",
    );
    let updates: Vec<_> = insts(&program, "f")
        .filter_map(|inst| match &inst.op {
            Op::AtomicUpdate { op, .. } => Some(op.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(updates, ["add", "or"]);
    assert!(insts(&program, "f").any(|inst| matches!(inst.op, Op::CompareExchange { .. })));
    assert!(insts(&program, "f").any(|inst| matches!(inst.op, Op::Fence)));
    let atomic = insts(&program, "f").any(|i| matches!(&i.op, Op::Load(a) if a.is_atomic));
    assert!(atomic);
}

#[test]
fn symbols_weak_static_thread_local_alias_constructor() {
    let program = import_with(
        "__attribute__((weak)) int w(void) { return 1; }
         static int s(void) { return 2; }
         __thread int per_thread = 4;
         int common_one;
         int original = 1;
         extern int other __attribute__((alias(\"original\")));
         int real(void) { return s(); }
         int second(void) __attribute__((alias(\"real\")));
         __attribute__((constructor)) static void up(void) {}
         __attribute__((destructor)) static void down(void) {}
         inline int inl(int x) { return x; }
         extern int outside;
         int use(void) { return inl(outside) + other; }",
        &["-fcommon"],
    );
    assert_eq!(function(&program, "w").linkage, Linkage::Weak);
    assert_eq!(function(&program, "s").linkage, Linkage::Internal);
    assert!(global(&program, "per_thread").is_thread_local);
    assert_eq!(global(&program, "common_one").linkage, Linkage::Common);
    assert_eq!(global(&program, "other").alias_of.as_deref(), Some("original"));
    assert_eq!(function(&program, "second").alias_of.as_deref(), Some("real"));
    assert!(function(&program, "up").is_constructor);
    assert!(function(&program, "down").is_destructor);
    assert_eq!(function(&program, "inl").linkage, Linkage::Inline);
    assert!(function(&program, "inl").body.is_some());
    assert_eq!(global(&program, "outside").init, None);
}

#[test]
fn old_style_c_compiles_and_keeps_its_parameters() {
    let program = import_with(
        "f(a, b, c) char a; short b; float c; { return g(a) + b; }
         static h() { return 1; }
         main() { char *p = 5; return f(1, 2, 3.0) + h(); }",
        &["-std=gnu89"],
    );
    let f = function(&program, "f");
    let variables: Vec<_> = f
        .params
        .iter()
        .map(|p| p.variable.map(|v| body(&program, "f").variables[v].name.to_string()))
        .collect();
    assert_eq!(variables, [Some("a".into()), Some("b".into()), Some("c".into())]);
    assert!(function(&program, "g").body.is_none());
}

#[test]
fn copies_by_call_stay_calls_and_struct_copies_do_not() {
    let program = import(
        "void *memcpy(void *, const void *, unsigned long);
         void *memset(void *, int, unsigned long);
         struct s { int a[20]; };
         void f(struct s *p, struct s *q) { memcpy(p, q, sizeof *p); memset(q, 0, 4); *p = *q;
           struct s zero = { 0 }; *q = zero; }",
    );
    let names: Vec<_> = calls(&program, "f")
        .iter()
        .map(|call| match &call.callee {
            Callee::Function(id) => program.functions[*id].name.to_string(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["memcpy", "memset"]);
    let copies = insts(&program, "f").filter(|i| matches!(i.op, Op::MemCopy { .. })).count();
    let fills = insts(&program, "f").filter(|i| matches!(i.op, Op::MemSet { .. })).count();
    assert_eq!((copies, fills), (2, 1));
}

#[test]
fn cleanups_do_not_unwind() {
    let program = import_with(
        "void done(int *); void may(void);
         int f(void) { __attribute__((cleanup(done))) int x = 1; may(); return x; }",
        &["-fexceptions"],
    );
    assert_eq!(calls(&program, "f").len(), 2);
}

#[test]
fn every_instruction_has_the_place_it_was_written_at() {
    let program = import("int f(int a)\n{\n  int b = a\n    * 7;\n  return b;\n}\n");
    let multiply =
        insts(&program, "f").find(|i| matches!(i.op, Op::Binary { .. })).expect("a product");
    let loc = program.locs[multiply.loc];
    assert_eq!((loc.line, loc.column), (4, 5));
    assert_eq!(program.locs[function(&program, "f").loc].line, 1);
    let b = body(&program, "f").variables.iter().find(|v| &*v.name == "b").expect("b");
    assert_eq!((program.locs[b.loc].line, program.locs[b.loc].column), (3, 7));
}

#[test]
fn the_same_text_gives_the_same_program() {
    let text = "struct s { int a : 3; } g; int f(int n) { int x; if (n) x = g.a; return x; }";
    assert_eq!(import(text), import(text));
}
