//! What is accessed: fields, unions, bit-fields, arrays, and what lies where.

mod common;

use common::{accesses, body, global, import, insts, returns};
use program::{BinaryOp, CType, Const, Op, Operand, Ty};

#[test]
fn fields_of_structs_have_names_and_types() {
    let program = import(
        "typedef struct point { int x; short y; } point;
         struct line { point from, to; char name[8]; struct line *next; };
         int f(struct line *l, int i) { l->next->to.y = 3; l->name[i] = 'a'; return l->from.x; }",
    );
    assert_eq!(
        accesses(&program, "f"),
        [
            "load (param0.next) : struct line *",
            "store ((*(param0.next) : struct line *.to).y) : short = (short)3",
            "store ((param0.name)[(long)param1]) : char = (char)97",
            "load ((param0.from).x) : int",
        ]
    );
}

#[test]
fn a_cast_of_a_pointer_is_seen_by_the_struct_it_is_used_as() {
    let program = import(
        "struct a { int x; }; struct b { long pad; int y; };
         int f(struct a *p) { return ((struct b *)p)->y; }
         int g(void *p) { struct b *q = p; return q->y; }",
    );
    assert_eq!(accesses(&program, "f"), ["load (param0.y) : int"]);
    assert_eq!(accesses(&program, "g"), ["load (param0.y) : int"]);
}

#[test]
fn a_union_access_lists_every_member_that_fits() {
    let program = import(
        "union u { int i; unsigned n; float f; char c[4]; struct { short lo, hi; } s; };
         int f(union u *p) { p->f = 1.5f; p->s.hi = 2; p->c[1] = 3; return p->i; }",
    );
    assert_eq!(
        accesses(&program, "f"),
        [
            "store param0.{f} : float = Float { bits: 32, as_f64_bits: 4609434218613702656, exact: true }",
            "store (param0.{s}.hi) : short = (short)2",
            "store (param0.{c}[1]) : char = (char)3",
            "load param0.{i|n} : int",
        ]
    );
}

#[test]
fn structs_without_names_are_told_apart_by_what_lies_where() {
    let program = import(
        "struct loop { union { struct { short eq, top; void *index; } tree;
                               struct { int num; unsigned free : 1; void *name; } table; } u; };
         void f(struct loop *l, int n) { l->u.table.num = n; l->u.table.free = 1; l->u.tree.top = 2; }
         struct token { const char *text; unsigned size; };
         unsigned g(struct token t) { return t.size; }",
    );
    assert_eq!(
        accesses(&program, "f"),
        [
            "store ((param0.u).{table}.num) : int = param1",
            "store ((param0.u).{table}).free : unsigned int bits 0+1 = 1",
            "store ((param0.u).{tree}.top) : short = (short)2",
        ]
    );
    assert_eq!(
        accesses(&program, "g"),
        [
            "store (&t.text) : const char * = param0",
            "store (&t.size) : unsigned int = param1",
            "load (&t.size) : unsigned int",
        ]
    );
}

#[test]
fn bit_fields_are_read_and_written_as_such() {
    let program = import(
        "struct s { unsigned a : 3; int b : 6; unsigned char c : 1; _Bool d : 1; long e : 40; };
         struct s g;
         int read(struct s *p) { return p->a + p->b + p->c + p->d + (p->e != 0) + g.b; }
         void write(struct s *p, int n, _Bool t) { p->b = n; p->d = t; p->c = 1; g.a = 5; p->e = n; }",
    );
    assert_eq!(
        accesses(&program, "read"),
        [
            "load param0.a : unsigned int bits 0+3",
            "load param0.b : int bits 3+6",
            "load param0.c : unsigned char bits 9+1",
            "load param0.d : _Bool bits 10+1",
            "load param0.e : long bits 11+40",
            "load g.b : int bits 3+6",
        ]
    );
    assert_eq!(
        accesses(&program, "write"),
        [
            "store param0.b : int bits 3+6 = (int)param1",
            "store param0.d : _Bool bits 10+1 = (_Bool)(_Bool)param2",
            "store param0.c : unsigned char bits 9+1 = 1",
            "store g.a : unsigned int bits 0+3 = 5",
            "store param0.e : long bits 11+40 = (long)param1",
        ]
    );
    // Nothing of the masks and shifts is left.
    assert!(!insts(&program, "write").any(|inst| matches!(inst.op, Op::Binary { .. })));
}

#[test]
fn masks_the_programmer_wrote_stay() {
    let program = import(
        "union u { unsigned raw; struct { unsigned low : 5; unsigned rest : 27; } s; };
         unsigned f(union u *p, unsigned short *q) { return (p->raw & 31) + (*q & 31); }",
    );
    let masks = insts(&program, "f").filter(|inst| matches!(inst.op, Op::Binary { .. })).count();
    assert_eq!(masks, 3, "two masks and their sum");
}

#[test]
fn flexible_arrays_variable_length_arrays_and_alloca() {
    let program = import(
        "struct f { int n; char data[]; };
         char f(struct f *p, int i) { return p->data[i]; }
         int g(int n) { int a[n]; a[0] = n; return a[n - 1]; }
         void *h(unsigned long n) { return __builtin_alloca(n); }",
    );
    assert_eq!(accesses(&program, "f"), ["load ((param0.data)[(long)param1]) : char"]);
    let storage = insts(&program, "g").find_map(|inst| match inst.op {
        Op::Alloca { size, count: Some(count), variable } => Some((size, count, variable)),
        _ => None,
    });
    let (size, count, variable) = storage.expect("the array has a count");
    assert_eq!(size, 4);
    assert_eq!(common::operand(&program, body(&program, "g"), count), "(unsigned long)param0");
    let name = &body(&program, "g").variables[variable.expect("the array is a variable")].name;
    assert_eq!(&**name, "a");
    let dynamic = insts(&program, "h").find_map(|inst| match inst.op {
        Op::Alloca { size, count, .. } => Some((size, count)),
        _ => None,
    });
    assert_eq!(dynamic, Some((1, Some(Operand::Param(0)))));
}

#[test]
fn arrays_keep_strides_and_indices() {
    let program = import("int m[4][5]; int f(int i, int j) { return m[i][j + 1]; }");
    let terms: Vec<_> = insts(&program, "f")
        .filter_map(|inst| match &inst.op {
            Op::Address(address) => Some((address.offset, address.terms[0].stride)),
            _ => None,
        })
        .collect();
    assert_eq!(terms, [(0, 20), (0, 4)]);
}

#[test]
fn initialisers_are_flattened_and_zeros_left_out() {
    let program = import(
        "struct in { short a; const char *s; };
         int zero[4];
         struct { int x; struct in in[2]; void (*f)(void); char text[8]; } v;
         void fun(void);
         struct { int x; struct in in[2]; void (*f)(void); char text[8]; } g =
           { 7, { { 0, 0 }, { 3, \"hey\" } }, fun, \"abc\" };
         void *end = (void *)-1; int *second = &zero[1];",
    );
    let g = global(&program, "g");
    let pieces: Vec<_> =
        g.init.iter().flatten().map(|p| (p.offset, &program.constants[p.value])).collect();
    assert_eq!(pieces[0], (0, &Const::Int { bits: 32, value: 7 }));
    assert_eq!(pieces[1], (24, &Const::Int { bits: 16, value: 3 }));
    assert_eq!(pieces[2].0, 32);
    let Const::Global { global: literal, offset: 0 } = pieces[2].1 else { panic!("a literal") };
    assert!(program.globals[*literal].is_string_literal);
    assert!(matches!(pieces[3], (40, Const::Function(_))));
    assert_eq!(pieces[4], (48, &Const::Bytes(b"abc\0\0\0\0\0".to_vec())));
    assert_eq!(pieces.len(), 5);
    assert_eq!(global(&program, "zero").init, Some(vec![]));
    let end = global(&program, "end").init.as_ref().expect("defined here")[0].value;
    assert_eq!(program.constants[end], Const::Int { bits: 64, value: -1 });
    let second = global(&program, "second").init.as_ref().expect("defined here")[0].value;
    assert!(matches!(program.constants[second], Const::Global { offset: 4, .. }));
}

#[test]
fn string_literals_are_flagged_and_typed() {
    let program = import("const char *f(void) { return \"text\"; }");
    let literal = program.globals.iter().find(|g| g.is_string_literal).expect("a literal");
    assert_eq!((&*literal.name, literal.size, literal.is_constant), ("", 5, true));
    assert_eq!(program.type_name(literal.ctype), "char [5]");
}

#[test]
fn static_locals_belong_to_their_function() {
    let program = import("int f(void) { static int n = 3; { static int n; n++; } return n++; }");
    let locals: Vec<_> = program.globals.iter().filter(|g| &*g.name == "n").collect();
    assert_eq!(locals.len(), 2);
    assert!(locals.iter().all(|local| local.function.as_deref() == Some("f")));
}

#[test]
fn structs_by_value_small_and_large() {
    let program = import(
        "struct small { int a, b; }; struct large { long v[8]; };
         int f(struct small s) { return s.b; }
         long g(struct large l) { return l.v[3]; }
         struct large h(long x) { struct large r; r.v[2] = x; return r; }
         struct small i(int x) { struct small s = { x, 1 }; return s; }
         long j(struct large *p) { return g(*p) + h(2).v[1] + i(1).b; }",
    );
    let small = &common::function(&program, "f").params[0];
    assert_eq!((small.ty, small.by_value), (Ty::Int(64), None));
    let variable = small.variable.expect("the piece belongs to s");
    assert_eq!(&*body(&program, "f").variables[variable].name, "s");
    assert_eq!(accesses(&program, "f")[1], "load (&s.b) : int");
    let large = &common::function(&program, "g").params[0];
    assert_eq!((large.ty, large.by_value), (Ty::Ptr, Some(64)));
    assert_eq!(accesses(&program, "g"), ["load ((param0.v)[3]) : long"]);
    let hidden = &common::function(&program, "h").params[0];
    assert!(hidden.is_struct_return);
    assert_eq!(program.type_name(hidden.ctype), "struct large *");
    let named_result = insts(&program, "h").find_map(|inst| match inst.op {
        Op::UninitMemory { ptr: Operand::Param(0), size, .. } => Some(size),
        _ => None,
    });
    assert_eq!(named_result, Some(64));
    assert_eq!(common::calls(&program, "j").len(), 3);
}

#[test]
fn floats_of_every_width() {
    let program = import(
        "long double f(float a, double b, long double c) { return a + b + c; }
         double g(double x) { return -x * 2.5; }",
    );
    let widths: Vec<_> = common::function(&program, "f").params.iter().map(|p| p.ty).collect();
    assert_eq!(widths, [Ty::Float(32), Ty::Float(64), Ty::Float(80)]);
    assert!(insts(&program, "g").any(|inst| matches!(inst.op, Op::Negate(Operand::Param(0)))));
    assert_eq!(returns(&program, "g"), ["Binary"]);
}

#[test]
fn enumerations_typedefs_and_qualifiers() {
    let program = import(
        "enum colour { RED, GREEN = 5, BLUE = -1 };
         typedef const volatile unsigned char *reg;
         enum colour c; reg r;",
    );
    let CType::Enum { name, enumerators, signed, .. } = &program.types[global(&program, "c").ctype]
    else {
        panic!("an enumeration")
    };
    let values: Vec<_> = enumerators.iter().map(|(name, value)| (&**name, *value)).collect();
    assert_eq!((&**name, *signed), ("colour", true));
    assert_eq!(values, [("RED", 0), ("GREEN", 5), ("BLUE", -1)]);
    let CType::Typedef { target, .. } = &program.types[global(&program, "r").ctype] else {
        panic!("a typedef")
    };
    let CType::Pointer(pointee) = program.types[*target] else { panic!("a pointer") };
    assert!(matches!(program.types[pointee], CType::Const(_) | CType::Volatile(_)));
}

#[test]
fn a_pointer_moves_backwards_without_a_subtraction_of_numbers() {
    let program = import("char *f(char *p, unsigned n) { return p - n; }");
    let terms: Vec<_> = insts(&program, "f")
        .filter_map(|inst| match &inst.op {
            Op::Address(address) => Some(address.terms[0]),
            _ => None,
        })
        .collect();
    assert_eq!(terms.len(), 1);
    assert_eq!(terms[0].stride, -1);
    let Operand::Inst(index) = terms[0].index else { panic!("the index is converted") };
    assert!(matches!(body(&program, "f").insts[index].op, Op::Convert(_)));
}

#[test]
fn a_decrement_of_an_unsigned_number_is_a_subtraction() {
    let program = import("unsigned f(unsigned n) { n--; return n; }");
    let subtracted: Vec<_> = insts(&program, "f")
        .filter_map(|inst| match inst.op {
            Op::Binary { op: BinaryOp::Sub, rhs: Operand::Const(by), .. } => {
                Some(program.constants[by].clone())
            }
            _ => None,
        })
        .collect();
    assert_eq!(subtracted, [Const::Int { bits: 32, value: 1 }]);
}
