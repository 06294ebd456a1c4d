//! Constructs that are rare but real: they must be imported soundly, and the facts stated
//! here are what analyses count on.

mod common;

use base::source::SourceMapEntry;
use base::{Cancel, Origin, SourceMap, SourcePosition};
use common::{accesses, body, calls, function, import, insts};
use program::{Callee, Linkage, Op, Terminator, Ty};

#[test]
fn vectors_and_complex_numbers() {
    let program = import(
        "typedef int v4 __attribute__((vector_size(16)));
         v4 f(v4 a, v4 b) { return a + b * 2; }
         _Complex double g(_Complex double a, _Complex double b) { return a * b + 1.0; }",
    );
    assert_eq!(function(&program, "f").result, Ty::Vector(16));
    assert!(insts(&program, "f").any(|inst| matches!(&inst.op, Op::Opaque { .. })));
    assert!(insts(&program, "g").count() > 4);
}

#[test]
fn assembler_that_jumps() {
    let program = import(
        "int f(int x) { __asm__ goto(\"\" : : \"r\"(x) : : out); return 1; out: return 2; }
         __asm__(\"nop\");",
    );
    let jumps = body(&program, "f").blocks.iter().any(
        |block| matches!(&block.terminator, Terminator::Indirect { targets, .. } if targets.len() == 2),
    );
    assert!(jumps);
    let mut what: Vec<_> = program.unknown_code.iter().map(|code| &*code.what).collect();
    what.sort_unstable();
    assert_eq!(what, ["assembler at file level", "inline assembler"]);
}

#[test]
fn ifuncs_are_functions_without_a_body() {
    let program = import(
        "static int one(void) { return 1; }
         static void *pick(void) { return one; }
         int chosen(void) __attribute__((ifunc(\"pick\")));
         int f(void) { return chosen(); }",
    );
    assert!(function(&program, "chosen").body.is_none());
    assert!(matches!(calls(&program, "f")[0].callee,
        Callee::Function(id) if &*program.functions[id].name == "chosen"));
}

#[test]
fn overflow_builtins_are_intrinsics_by_name() {
    let program = import("int f(int a, int b, int *r) { return __builtin_mul_overflow(a, b, r); }");
    assert_eq!(calls(&program, "f")[0].callee, Callee::Intrinsic("smul.with.overflow.i32".into()));
    assert!(insts(&program, "f").any(|inst| matches!(inst.op, Op::Extract { .. })));
}

#[test]
fn advice_to_the_optimiser_is_gone() {
    let program = import(
        "int f(int x, char *p) {
           if (__builtin_expect(x > 3, 0)) return 1;
           return __builtin_constant_p(x) ? 2 : (int)__builtin_object_size(p, 0);
         }",
    );
    assert!(calls(&program, "f").is_empty());
}

#[test]
fn nested_anonymous_members_compound_literals_and_designators() {
    let program = import(
        "struct s { int tag; union { struct { short x, y; }; long bits; }; };
         int f(struct s *p) { p->y = 4; *p = (struct s){ .tag = 1, .x = 2 }; return p->x; }
         struct s table[] = { [2] = { .tag = 7, { .bits = 9 } } };",
    );
    let lines = accesses(&program, "f");
    assert_eq!(lines[0], "store ((param0.).{}.y) : short = (short)4");
    let table = common::global(&program, "table");
    let offsets: Vec<_> = table.init.iter().flatten().map(|piece| piece.offset).collect();
    assert_eq!((table.size, offsets), (48, vec![32, 40]));
}

#[test]
fn structs_of_floats_come_back_in_registers() {
    let program = import(
        "struct p { double x, y; }; struct q { float a; int b; };
         struct p make(double x) { struct p r = { x, x }; return r; }
         struct q mixed(void) { struct q r = { 1, 2 }; return r; }
         double use(void) { return make(2).y + mixed().a; }",
    );
    assert_eq!(function(&program, "make").result, Ty::Aggregate(16));
    assert_eq!(function(&program, "mixed").result, Ty::Int(64));
    assert!(insts(&program, "use").any(|inst| matches!(inst.op, Op::Extract { .. })));
}

#[test]
fn wide_strings_zero_length_arrays_and_bit_precise_integers() {
    let program = import(
        "struct z { int n; int data[0]; };
         int *f(struct z *p) { return p->data; }
         const int *wide = L\"ab\";
         int g(unsigned _BitInt(37) b) { return b; }",
    );
    let wide = program.globals.iter().find(|global| global.is_string_literal).expect("a literal");
    assert_eq!((wide.size, wide.init.as_ref().map(Vec::len)), (12, Some(2)));
    // Passed in a whole register, and narrowed behind the door.
    assert_eq!(function(&program, "g").params[0].ty, Ty::Int(64));
    assert!(insts(&program, "g").any(|inst| inst.ty == Ty::Int(37)));
}

#[test]
fn implicit_declarations_and_tentative_definitions() {
    let program = import("int shared; int f(void) { return undeclared(shared); }");
    assert_eq!(common::global(&program, "shared").linkage, Linkage::Common);
    assert!(function(&program, "undeclared").body.is_none());
}

#[test]
fn macro_origins_come_from_the_map() {
    let text = "int f(int a) { return a + 1; }\n";
    let entry = |column, source_column, origin| SourceMapEntry {
        line: 1,
        column,
        position: SourcePosition { file: 1, line: 40, column: source_column, origin },
    };
    let map = SourceMap {
        files: vec!["other.h".into(), "t.c".into()],
        system_files: vec![true, false],
        macros: vec!["INC".into()],
        entries: vec![
            entry(1, 1, Origin::Plain),
            entry(23, 30, Origin::Argument(0)),
            entry(25, 26, Origin::Body(0)),
        ],
    };
    let flags: [&str; 0] = [];
    let bitcode = llvm::compile(text.as_bytes(), &flags, &map, &Default::default(), &Cancel::new());
    let program = llvm::import(&bitcode.expect("it compiles"), &map, "t.c").expect("it imports");
    let sum = insts(&program, "f").find(|i| matches!(i.op, Op::Binary { .. })).expect("a sum");
    let loc = program.locs[sum.loc];
    assert_eq!((loc.line, loc.column), (40, 26));
    let Origin::Body(name) = loc.origin else { panic!("the body of a macro") };
    assert_eq!(&*program.names[name], "INC");
    assert_eq!(program.files[loc.file].path, "t.c");
    assert!(program.files.iter().all(|file| !file.is_system), "only files that are named");
}

#[test]
fn columns_beyond_what_debug_information_holds_keep_their_line() {
    let text = format!("int f(int a) {{\n{} return a * 3; }}\n", " ".repeat(70_000));
    let program = import(&text);
    let product =
        insts(&program, "f").find(|i| matches!(i.op, Op::Binary { .. })).expect("a product");
    let loc = program.locs[product.loc];
    assert_eq!((loc.line, loc.column), (2, 0));
}
