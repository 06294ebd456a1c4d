//! Rendering functions built by hand.

use super::{callgraph, callgraph_dot, cfg, cfg_dot, expr, function, icfg, icfg_dot};
use crate::testing::UnitBuilder;
use crate::{
    Access, Address, AddressTerm, BinaryOp, CType, Const, Conversion, ConversionKind,
    ConversionOrigin, InstId, Linkage, Op, Operand, PathStep, Predicate, RecordId, Terminator, Ty,
    TypeId,
};

/// A unit with `struct item { long key; struct item *next; long data[4]; }`.
struct Unit {
    builder: UnitBuilder,
    int: TypeId,
    long: TypeId,
    item: RecordId,
    item_pointer: TypeId,
}

fn unit() -> Unit {
    let mut builder = UnitBuilder::new("a.c");
    let int = builder.int("int", 32, true);
    let long = builder.int("long", 64, true);
    let item = builder.record(UnitBuilder::empty_record("item"));
    let item_type = builder.ctype(CType::Record(item));
    let item_pointer = builder.ctype(CType::Pointer(item_type));
    let data = builder.ctype(CType::Array { element: long, count: Some(4) });
    builder.set_members(item, &[("key", long), ("next", item_pointer), ("data", data)]);
    Unit { builder, int, long, item, item_pointer }
}

fn inst(index: u32) -> Operand {
    Operand::Inst(InstId(index))
}

fn load(ptr: Operand, ctype: TypeId) -> Op {
    let (path, bit_field) = (Box::new([]) as Box<[PathStep]>, None);
    let (is_volatile, is_atomic) = (false, false);
    Op::Load(Box::new(Access { ptr, size: 8, ctype, path, bit_field, is_volatile, is_atomic }))
}

fn address(base: Operand, offset: i64, terms: &[AddressTerm], path: &[PathStep]) -> Op {
    Op::Address(Box::new(Address {
        base,
        offset,
        terms: terms.into(),
        path: path.into(),
        in_bounds: true,
    }))
}

fn field(record: RecordId, member: u32) -> PathStep {
    PathStep::Field { record, member }
}

const TERM: PathStep = PathStep::Index { term: Some(0), constant: 0 };

#[test]
fn types_are_spelled_as_in_c() {
    let mut b = UnitBuilder::new("a.c");
    let char_type = b.int("char", 8, true);
    let array = b.ctype(CType::Array { element: char_type, count: Some(10) });
    let to_array = b.ctype(CType::Pointer(array));
    let constant = b.ctype(CType::Const(char_type));
    let to_constant = b.ctype(CType::Pointer(constant));
    let constant_pointer = b.ctype(CType::Const(to_constant));
    let params = vec![to_constant, to_array];
    let function = b.ctype(CType::Function { result: char_type, params, variadic: true });
    let to_function = b.ctype(CType::Pointer(function));
    let table = b.ctype(CType::Array { element: to_function, count: Some(3) });
    let nothing = b.ctype(CType::Function { result: to_function, params: vec![], variadic: false });
    let program = b.finish();
    assert_eq!(program.type_name(array), "char [10]");
    assert_eq!(program.type_name(to_array), "char (*)[10]");
    assert_eq!(program.declaration(to_constant, "s"), "const char *s");
    assert_eq!(program.declaration(constant_pointer, "s"), "const char *const s");
    assert_eq!(program.type_name(to_function), "char (*)(const char *, char (*)[10], ...)");
    assert_eq!(
        program.declaration(table, "ops"),
        "char (*ops[3])(const char *, char (*)[10], ...)"
    );
    assert_eq!(
        program.declaration(nothing, "f"),
        "char (*f(void))(const char *, char (*)[10], ...)"
    );
    assert_eq!(program.size_of(table), Some(24));
    assert_eq!(program.size_of(array), Some(10));
    assert_eq!(program.size_of(function), None);
    assert_eq!(program.is_signed(constant), Some(true));
}

#[test]
fn members_and_elements_are_named() {
    let mut u = unit();
    let p = Operand::Param(0);
    let i = Operand::Param(1);
    let one = u.builder.number(1);
    let term = |index| [AddressTerm { stride: 8, index }];
    let binary = Op::Binary {
        op: BinaryOp::Add,
        lhs: i,
        rhs: one,
        no_signed_wrap: true,
        no_unsigned_wrap: false,
    };
    let id = u.builder.function(
        "f",
        &[("p", u.item_pointer), ("i", u.int)],
        vec![
            (address(p, 8, &[], &[field(u.item, 1)]), Ty::Ptr, TypeId::UNKNOWN),
            (load(inst(0), u.item_pointer), Ty::Ptr, u.item_pointer),
            (binary, Ty::Int(32), u.int),
            (
                address(inst(1), 16, &term(inst(2)), &[field(u.item, 2), TERM]),
                Ty::Ptr,
                TypeId::UNKNOWN,
            ),
            (load(inst(3), u.long), Ty::Int(64), u.long),
            (address(p, 0, &term(i), &[TERM]), Ty::Ptr, u.item_pointer),
            (address(inst(5), 0, &[], &[field(u.item, 0)]), Ty::Ptr, TypeId::UNKNOWN),
            (load(inst(6), u.long), Ty::Int(64), u.long),
            (address(p, 16, &[], &[field(u.item, 2)]), Ty::Ptr, TypeId::UNKNOWN),
            (address(p, 24, &[], &[]), Ty::Ptr, TypeId::UNKNOWN),
        ],
        Terminator::Return(None),
    );
    let program = u.builder.finish();
    let show = |index| expr(&program, id, inst(index));
    assert_eq!(show(0), "&p->next");
    assert_eq!(show(1), "p->next");
    assert_eq!(show(4), "p->next->data[i + 1]");
    assert_eq!(show(5), "p + i");
    assert_eq!(show(7), "p[i].key");
    assert_eq!(show(8), "p->data");
    assert_eq!(show(9), "(char *)p + 24");
    assert_eq!(expr(&program, id, p), "p");
}

#[test]
fn local_arrays_decay_and_keep_their_elements_apart() {
    let mut u = unit();
    let array = u.builder.ctype(CType::Array { element: u.long, count: Some(8) });
    let zero = PathStep::Index { term: None, constant: 0 };
    let two = u.builder.number(2);
    let term = [AddressTerm { stride: 8, index: two }];
    let id = u.builder.function("f", &[], Vec::new(), Terminator::Return(None));
    let variable = u.builder.local(id, "buf", array);
    let to_long = u.builder.ctype(CType::Pointer(u.long));
    let body = u.builder.program.functions[id].body.as_mut().expect("a body");
    let mut push = |op, ctype| {
        let (ty, loc, block) = (Ty::Ptr, crate::LocId::UNKNOWN, crate::BlockId(0));
        body.insts.push(crate::Inst { op, ty, ctype, loc, block });
    };
    push(Op::Alloca { variable: Some(variable), size: 64, count: None }, TypeId::UNKNOWN);
    push(address(inst(0), 0, &[], &[zero]), to_long);
    push(address(inst(1), 0, &term, &[TERM]), to_long);
    push(load(inst(2), u.long), u.long);
    push(load(inst(1), u.long), u.long);
    let program = u.builder.finish();
    let show = |index| expr(&program, id, inst(index));
    assert_eq!(show(0), "buf");
    assert_eq!(show(1), "buf");
    assert_eq!(show(2), "buf + 2");
    assert_eq!(show(3), "buf[2]");
    assert_eq!(show(4), "buf[0]");
}

#[test]
fn parentheses_stand_where_c_needs_them() {
    let mut u = unit();
    let (a, b) = (Operand::Param(0), Operand::Param(1));
    let minus = u.builder.number(-3);
    let zero = u.builder.number(0);
    let binary =
        |op, lhs, rhs| Op::Binary { op, lhs, rhs, no_signed_wrap: false, no_unsigned_wrap: false };
    let int = u.int;
    let unsigned = u.builder.int("unsigned int", 32, false);
    let cast = Op::Convert(Box::new(Conversion {
        value: inst(0),
        kind: ConversionKind::SignChange,
        from: int,
        to: unsigned,
        origin: ConversionOrigin::Explicit,
        bit_field_width: None,
    }));
    let id = u.builder.function(
        "f",
        &[("a", int), ("b", int)],
        vec![
            (binary(BinaryOp::Add, a, b), Ty::Int(32), int),
            (binary(BinaryOp::Mul, inst(0), b), Ty::Int(32), int),
            (binary(BinaryOp::Sub, a, inst(0)), Ty::Int(32), int),
            (binary(BinaryOp::Add, a, minus), Ty::Int(32), int),
            (cast, Ty::Int(32), unsigned),
            (
                Op::Compare { predicate: Predicate::UnsignedLt, lhs: inst(4), rhs: minus },
                Ty::Int(1),
                TypeId::UNKNOWN,
            ),
            (binary(BinaryOp::Sub, zero, inst(0)), Ty::Int(32), int),
            (Op::Select { condition: inst(5), then: a, otherwise: inst(3) }, Ty::Int(32), int),
        ],
        Terminator::Return(Some(inst(7))),
    );
    let program = u.builder.finish();
    let show = |index| expr(&program, id, inst(index));
    assert_eq!(show(1), "(a + b) * b");
    assert_eq!(show(2), "a - (a + b)");
    assert_eq!(show(3), "a - 3");
    assert_eq!(show(5), "(unsigned int)(a + b) < 4294967293");
    assert_eq!(show(6), "-(a + b)");
    assert_eq!(show(7), "(unsigned int)(a + b) < 4294967293 ? a : a - 3");
}

#[test]
fn bit_operators_and_truth_values_read_as_written() {
    let mut u = unit();
    let (a, b) = (Operand::Param(0), Operand::Param(1));
    let zero = u.builder.number(0);
    let int = u.int;
    let (no_signed_wrap, no_unsigned_wrap) = (false, false);
    let binary = |op, lhs, rhs| Op::Binary { op, lhs, rhs, no_signed_wrap, no_unsigned_wrap };
    let compare = |predicate, lhs, rhs| Op::Compare { predicate, lhs, rhs };
    let widen = Op::Convert(Box::new(Conversion {
        value: inst(3),
        kind: ConversionKind::ZeroExtend,
        from: TypeId::UNKNOWN,
        to: int,
        origin: ConversionOrigin::Compiler,
        bit_field_width: None,
    }));
    let id = u.builder.function(
        "f",
        &[("a", int), ("b", int)],
        vec![
            (binary(BinaryOp::Sub, a, b), Ty::Int(32), int),
            (binary(BinaryOp::And, inst(0), b), Ty::Int(32), int),
            (binary(BinaryOp::And, inst(1), a), Ty::Int(32), int),
            (compare(Predicate::SignedLt, inst(2), zero), Ty::Int(1), TypeId::UNKNOWN),
            (widen, Ty::Int(32), int),
            (compare(Predicate::Ne, inst(4), zero), Ty::Int(1), TypeId::UNKNOWN),
            (compare(Predicate::Eq, inst(4), zero), Ty::Int(1), TypeId::UNKNOWN),
            (compare(Predicate::Ne, inst(2), zero), Ty::Int(1), TypeId::UNKNOWN),
        ],
        Terminator::Return(None),
    );
    let program = u.builder.finish();
    let show = |index| expr(&program, id, inst(index));
    assert_eq!(show(5), "((a - b) & b & a) < 0");
    assert_eq!(show(6), "!(((a - b) & b & a) < 0)");
    assert_eq!(show(7), "((a - b) & b & a) != 0");
}

#[test]
fn long_expressions_are_cut() {
    let mut u = unit();
    let x = Operand::Param(0);
    let mut insts = Vec::new();
    for index in 0..400 {
        let lhs = if index == 0 { x } else { inst(index - 1) };
        let op = BinaryOp::Xor;
        let (no_signed_wrap, no_unsigned_wrap) = (false, false);
        let binary = Op::Binary { op, lhs, rhs: lhs, no_signed_wrap, no_unsigned_wrap };
        insts.push((binary, Ty::Int(32), u.int));
    }
    // Code that nothing reaches may even refer to itself.
    insts.push((address(inst(400), 8, &[], &[]), Ty::Ptr, TypeId::UNKNOWN));
    let id = u.builder.function("f", &[("x", u.int)], insts, Terminator::Unreachable);
    let program = u.builder.finish();
    let text = expr(&program, id, inst(399));
    assert!(text.contains("...") && text.len() < 200, "{text}");
    assert!(expr(&program, id, inst(400)).len() < 400);
}

#[test]
fn constants_follow_the_type_they_are_used_with() {
    let mut u = unit();
    let red = CType::Enum {
        name: "color".into(),
        bits: 32,
        signed: false,
        enumerators: vec![("RED".into(), 0), ("GREEN".into(), 1)],
    };
    let color = u.builder.ctype(red);
    let one = u.builder.number(1);
    let literal = u.builder.global("", Linkage::Internal, 6, true);
    let bytes = u.builder.constant(Const::Bytes(b"a\"b\n\0".to_vec()));
    let global = &mut u.builder.program.globals[literal];
    global.is_string_literal = true;
    global.init = Some(vec![crate::InitPiece { offset: 0, value: bytes }]);
    let text = u.builder.constant(Const::Global { global: literal, offset: 0 });
    let item_type = u.builder.ctype(CType::Record(u.item));
    let list = u.builder.global("list", Linkage::External, 24, true);
    u.builder.program.globals[list].ctype = item_type;
    let next = u.builder.constant(Const::Global { global: list, offset: 8 });
    let compare = Op::Compare { predicate: Predicate::Eq, lhs: Operand::Param(0), rhs: one };
    let id = u.builder.function(
        "f",
        &[("c", color)],
        vec![
            (compare, Ty::Int(1), TypeId::UNKNOWN),
            (load(Operand::Const(next), u.item_pointer), Ty::Ptr, u.item_pointer),
        ],
        Terminator::Return(None),
    );
    let program = u.builder.finish();
    assert_eq!(expr(&program, id, inst(0)), "c == GREEN");
    assert_eq!(expr(&program, id, Operand::Const(text)), r#""a\"b\n""#);
    assert_eq!(expr(&program, id, Operand::Const(next)), "&list.next");
    assert_eq!(expr(&program, id, inst(1)), "list.next");
}

#[test]
fn functions_print_one_instruction_a_line() {
    let mut u = unit();
    let p = Operand::Param(0);
    let ten = u.builder.number(10);
    let unsigned = u.builder.int("unsigned int", 32, false);
    let id =
        u.builder.function("f", &[("p", u.item_pointer)], Vec::new(), Terminator::Return(None));
    let n = u.builder.local(id, "n", u.long);
    let loc = u.builder.loc(14);
    let body = u.builder.program.functions[id].body.as_mut().expect("a body");
    let mut push = |op, ty, ctype| {
        body.insts.push(crate::Inst { op, ty, ctype, loc, block: crate::BlockId(0) });
    };
    push(address(p, 0, &[], &[field(u.item, 0)]), Ty::Ptr, TypeId::UNKNOWN);
    push(load(inst(0), u.long), Ty::Int(64), u.long);
    push(Op::Bind { variable: n, value: inst(1) }, Ty::Void, TypeId::UNKNOWN);
    let convert = Conversion {
        value: inst(1),
        kind: ConversionKind::Truncate,
        from: u.long,
        to: unsigned,
        origin: ConversionOrigin::Implicit,
        bit_field_width: None,
    };
    push(Op::Convert(Box::new(convert)), Ty::Int(32), unsigned);
    let compare = Op::Compare { predicate: Predicate::SignedLt, lhs: inst(1), rhs: ten };
    push(compare, Ty::Int(1), TypeId::UNKNOWN);
    let (then, otherwise) = (crate::BlockId(1), crate::BlockId(2));
    let branch = Terminator::Branch { condition: inst(4), then, otherwise };
    body.blocks[crate::BlockId(0)].end = InstId(5);
    body.blocks[crate::BlockId(0)].terminator = branch;
    for _ in 0..2 {
        body.blocks.push(crate::Block {
            first: InstId(5),
            end: InstId(5),
            terminator: Terminator::Return(None),
            loc,
            predecessors: vec![crate::BlockId(0)],
        });
    }
    let program = u.builder.finish();
    let text = function(&program, id);
    let lines: Vec<&str> =
        text.lines().map(|line| line.split("  ;").next().unwrap_or("").trim_end()).collect();
    assert_eq!(
        lines,
        [
            "f(struct item *p)",
            "b0:",
            "  %0 = address &p->key : pointer",
            "  %1 = load p->key : long",
            "  n := %1",
            "  %3 = convert %1(n) : long -> unsigned int (implicit, truncation)",
            "  %4 = %1(n) < 10 : _Bool",
            "  branch %4 [n < 10] ? b1 : b2",
            "b1:",
            "  return",
            "b2:",
            "  return",
        ]
    );
    assert!(text.contains("; a.c:14:1"), "{text}");
    let graph = cfg(&program, id);
    assert!(graph.contains("  b0 a.c:14\n    -> if n < 10: b1\n    -> else: b2\n"), "{graph}");
    let dot = cfg_dot(&program, id);
    assert!(dot.contains("\"b0\" -> \"b1\" [label=\"if n < 10\"];"), "{dot}");
}

#[test]
fn call_graphs_show_calls_through_pointers_as_resolved() {
    let mut b = UnitBuilder::new("a.c");
    let outside = b.declare("puts");
    let leaf = b.define("leaf", Linkage::Internal, &[outside]);
    let main = b.define("main", Linkage::External, &[leaf, leaf]);
    let null = Operand::Const(b.constant(Const::Null));
    let body = b.program.functions[main].body.as_mut().expect("a body");
    let Op::Call(call) = &mut body.insts[InstId(1)].op else { panic!("the second is a call") };
    call.callee = crate::Callee::Pointer(null);
    let program = b.finish();
    let resolver = |_, _| vec![leaf];
    let text = callgraph(&program, &resolver, None);
    assert_eq!(
        text,
        "leaf (a.c:1:1)\n  -> puts (outside the program)\nmain (a.c:1:1)\n  -> leaf\n  \
         -> leaf (through a pointer)\n"
    );
    assert!(callgraph(&program, &|_, _| Vec::new(), None).contains("  -> <unknown> (through"));
    assert!(callgraph_dot(&program, &resolver, None).contains("\"f2\" -> \"f1\" [style=dashed];"));
    let text = icfg(&program, &resolver, None);
    assert_eq!(text.matches("  calls n").count(), 2, "{text}");
    assert_eq!(text.matches("  returns to").count(), 2, "{text}");
    assert!(icfg_dot(&program, &resolver, None).contains("subgraph \"cluster_2\""));
    let only = Some(crate::FunctionId(0));
    let name = &*program.functions[crate::FunctionId(0)].name;
    let alone = callgraph(&program, &resolver, only);
    assert!(alone.lines().filter(|line| !line.starts_with("  ")).all(|l| l.starts_with(name)));
    assert!(icfg(&program, &resolver, only).lines().count() < text.lines().count());
}

#[test]
fn dot_labels_are_escaped() {
    assert_eq!(super::dot::quoted("a \"b\" \\ c\nd"), r#""a \"b\" \\ c\nd""#);
}

#[test]
fn uses_and_orders_of_a_body() {
    let mut u = unit();
    let x = Operand::Param(0);
    let (no_signed_wrap, no_unsigned_wrap) = (false, false);
    let add =
        |lhs, rhs| Op::Binary { op: BinaryOp::Add, lhs, rhs, no_signed_wrap, no_unsigned_wrap };
    let insts = vec![
        (add(x, x), Ty::Int(32), u.int),
        (add(inst(0), inst(0)), Ty::Int(32), u.int),
        (add(inst(0), inst(1)), Ty::Int(32), u.int),
    ];
    let id = u.builder.function("f", &[("x", u.int)], insts, Terminator::Return(Some(inst(2))));
    let program = u.builder.finish();
    let body = program.functions[id].body.as_ref().expect("a body");
    let uses = crate::query::Uses::new(body);
    assert_eq!(uses.of(InstId(0)), [InstId(1), InstId(1), InstId(2)]);
    assert_eq!(uses.of(InstId(2)), []);
    assert_eq!(uses.in_terminators(InstId(2)), [crate::BlockId(0)]);
    assert_eq!(crate::query::reverse_post_order(body), [crate::BlockId(0)]);
    assert_eq!(program.member_at(u.item, 9).map(|(index, _)| index), Some(1));
}
