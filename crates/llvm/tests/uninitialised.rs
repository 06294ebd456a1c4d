//! Indeterminate values: where they arise and what reads them.

mod common;

use common::{accesses, binds, body, import, insts, returns};
use program::Op;

#[test]
fn an_uninitialised_scalar_reaches_its_use() {
    let program = import("int f(int c) { int x; if (c) x = 1; return x; }");
    assert_eq!(returns(&program, "f"), ["phi(1, uninit(x))"]);
}

#[test]
fn an_initialised_scalar_leaves_no_marker() {
    let program = import("int f(int c) { int x = c; int y; y = x; return y; }");
    assert!(!insts(&program, "f").any(|inst| matches!(inst.op, Op::Uninit { .. })));
    assert_eq!(returns(&program, "f"), ["param0"]);
}

#[test]
fn a_variable_of_a_loop_is_new_in_each_round() {
    let program = import(
        "void use(int);
         void f(int n) { for (int i = 0; i < n; i++) { int x; if (i) use(x); x = i; } }",
    );
    let call = common::calls(&program, "f")[0];
    let argument = common::operand(&program, body(&program, "f"), call.args[0]);
    assert_eq!(argument, "uninit(x)");
}

#[test]
fn a_jump_over_a_declaration_leaves_the_variable_indeterminate() {
    let program = import(
        "void use(int);
         void f(int c) { switch (c) { int x; case 1: x = 2; case 3: use(x); } }
         int g(int c) { if (c) goto over; int y = 1; over: return y; }",
    );
    // The compiler does not tell the name of a variable declared where control never comes.
    let argument = common::calls(&program, "f")[0].args[0];
    assert_eq!(common::operand(&program, body(&program, "f"), argument), "phi(2, uninit())");
    assert_eq!(binds(&program, "g", "y"), ["1", "phi(1, uninit(y))"]);
}

#[test]
fn a_value_read_in_its_own_initialiser_is_indeterminate() {
    let program = import("int f(void) { int x = x + 1; return x; }");
    let adds = insts(&program, "f").find_map(|inst| match &inst.op {
        Op::Binary { lhs, .. } => Some(common::operand(&program, body(&program, "f"), *lhs)),
        _ => None,
    });
    assert_eq!(adds.as_deref(), Some("uninit(x)"));
}

#[test]
fn scalars_in_memory_store_their_indeterminate_value() {
    let program = import("void fill(int *); int f(void) { int x; fill(&x); return x; }");
    assert_eq!(accesses(&program, "f"), ["store &x : int = uninit(x)", "load &x : int"]);
}

#[test]
fn arrays_and_records_become_indeterminate_as_a_whole() {
    let program = import(
        "struct s { int a, b; };
         void fill(void *);
         void f(int n) {
           char buffer[16];
           while (n--) { struct s record; fill(&record); fill(buffer); }
         }",
    );
    let marked: Vec<_> = insts(&program, "f")
        .filter_map(|inst| match inst.op {
            Op::UninitMemory { size, variable, .. } => {
                Some((&*body(&program, "f").variables[variable].name, size, inst.block))
            }
            _ => None,
        })
        .collect();
    assert_eq!(marked.len(), 2);
    assert_eq!((marked[0].0, marked[0].1), ("buffer", 16));
    assert_eq!((marked[1].0, marked[1].1), ("record", 8));
    assert_ne!(marked[1].2, program::Body::ENTRY, "inside the loop");
}

#[test]
fn parameters_are_never_indeterminate() {
    let program = import("void fill(int *); int f(int a) { fill(&a); return a; }");
    assert_eq!(accesses(&program, "f"), ["store &a : int = param0", "load &a : int"]);
}

#[test]
fn a_missing_return_value_is_undefined_not_a_variable() {
    let program = import("int f(int c) { if (c) return 1; }");
    assert_eq!(returns(&program, "f"), ["phi(1, Undef(Int(32)))"]);
}
