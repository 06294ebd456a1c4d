//! Linking small units built by hand.

use super::{link, split};
use crate::testing::UnitBuilder;
use crate::{CType, Callee, Const, Linkage, Op, Program, Record, RecordKind, TypeId};

fn body_of<'a>(program: &'a Program, name: &str) -> &'a crate::Body {
    let mut named = program.functions.iter().filter(|f| &*f.name == name);
    let function = named.next().expect("the function exists");
    assert!(named.next().is_none(), "{name} is there twice");
    function.body.as_ref().expect("the function has a body")
}

fn callee_name(program: &Program, body: &crate::Body) -> String {
    let callee = body.insts.iter().find_map(|inst| match &inst.op {
        Op::Call(call) => Some(call.callee.clone()),
        _ => None,
    });
    match callee {
        Some(Callee::Function(id)) => {
            let unit = program.functions[id].unit;
            format!("{} of {}", program.functions[id].name, program.units[unit].path)
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn a_declaration_leads_to_the_definition_of_another_unit() {
    let mut a = UnitBuilder::new("a.c");
    let f = a.declare("f");
    a.define("main", Linkage::External, &[f]);
    let mut b = UnitBuilder::new("b.c");
    b.define("f", Linkage::External, &[]);
    let linked = link(vec![a.finish(), b.finish()]);
    assert_eq!(linked.notices, Vec::<String>::new());
    assert_eq!(linked.program.functions.len(), 2);
    assert_eq!(callee_name(&linked.program, body_of(&linked.program, "main")), "f of b.c");
    assert!(linked.program.main().is_some());
}

#[test]
fn static_functions_of_one_name_stay_apart() {
    let unit = |path: &str, user: &str| {
        let mut unit = UnitBuilder::new(path);
        let helper = unit.define("helper", Linkage::Internal, &[]);
        unit.define(user, Linkage::External, &[helper]);
        unit.finish()
    };
    let linked = link(vec![unit("a.c", "f"), unit("b.c", "g")]);
    let program = &linked.program;
    assert_eq!(program.functions.len(), 4);
    assert_eq!(callee_name(program, body_of(program, "f")), "helper of a.c");
    assert_eq!(callee_name(program, body_of(program, "g")), "helper of b.c");
}

#[test]
fn of_two_strong_definitions_the_first_counts_and_a_notice_says_so() {
    let unit = |path: &str| {
        let mut unit = UnitBuilder::new(path);
        unit.define("f", Linkage::External, &[]);
        unit.finish()
    };
    let linked = link(vec![unit("a.c"), unit("b.c")]);
    assert_eq!(linked.program.functions.len(), 1);
    assert_eq!(linked.notices, ["`f` is defined at a.c:1 and again at b.c:1; the first counts"]);
}

#[test]
fn strong_beats_weak_and_weak_beats_inline() {
    let unit = |path: &str, linkage| {
        let mut unit = UnitBuilder::new(path);
        unit.define("f", linkage, &[]);
        unit.finish()
    };
    let (inline, weak) = (unit("i.c", Linkage::Inline), unit("w.c", Linkage::Weak));
    let strong = unit("s.c", Linkage::External);
    let unit_of = |linked: &super::Linked| {
        let program = &linked.program;
        program.units[program.functions.iter().next().expect("a function").unit].path.clone()
    };
    assert_eq!(unit_of(&link(vec![inline.clone(), weak.clone(), strong])), "s.c");
    let linked = link(vec![inline, weak]);
    assert_eq!(unit_of(&linked), "w.c");
    assert_eq!(linked.notices, Vec::<String>::new());
}

#[test]
fn calls_of_a_second_name_reach_the_function_itself() {
    let mut a = UnitBuilder::new("a.c");
    a.define("real", Linkage::Internal, &[]);
    a.alias("public", "real");
    let mut b = UnitBuilder::new("b.c");
    let public = b.declare("public");
    b.define("main", Linkage::External, &[public]);
    let program = link(vec![a.finish(), b.finish()]).program;
    assert_eq!(callee_name(&program, body_of(&program, "main")), "real of a.c");
}

#[test]
fn tentative_definitions_become_the_largest_and_give_way_to_a_real_one() {
    let unit = |path: &str, linkage, size, defined| {
        let mut unit = UnitBuilder::new(path);
        unit.global("x", linkage, size, defined);
        unit.finish()
    };
    let small = unit("a.c", Linkage::Common, 4, true);
    let large = unit("b.c", Linkage::Common, 8, true);
    let declared = unit("c.c", Linkage::External, 0, false);
    let real = unit("d.c", Linkage::External, 4, true);
    let only = |units| {
        let program = link(units).program;
        assert_eq!(program.globals.len(), 1);
        let global = program.globals.iter().next().expect("a global").clone();
        (program.units[global.unit].path.clone(), global.size)
    };
    let tentative = vec![declared.clone(), small.clone(), large.clone()];
    assert_eq!(only(tentative), ("b.c".to_owned(), 8));
    assert_eq!(only(vec![large, small, real, declared]), ("d.c".to_owned(), 4));
}

/// A unit with `struct node { T *other; struct node *next; }` where `T` is a record.
fn unit_with_list(path: &str, other: Record) -> Program {
    let mut unit = UnitBuilder::new(path);
    let other = unit.record(other);
    let node = unit.record(UnitBuilder::empty_record("node"));
    let other_type = unit.ctype(CType::Record(other));
    let other_pointer = unit.ctype(CType::Pointer(other_type));
    let node_type = unit.ctype(CType::Record(node));
    let node_pointer = unit.ctype(CType::Pointer(node_type));
    unit.set_members(node, &[("other", other_pointer), ("next", node_pointer)]);
    unit.finish()
}

#[test]
fn recursive_records_of_two_units_are_one() {
    let other = || UnitBuilder::sized_record("other", 8);
    let one = unit_with_list("a.c", other());
    let program = link(vec![one.clone(), unit_with_list("b.c", other())]).program;
    assert_eq!(program.records.len(), 2);
    assert_eq!(program.types.len(), one.types.len());
}

#[test]
fn records_that_lead_to_different_records_are_different() {
    let a = unit_with_list("a.c", UnitBuilder::sized_record("other", 8));
    let b = unit_with_list("b.c", UnitBuilder::sized_record("other", 16));
    let program = link(vec![a, b]).program;
    assert_eq!(program.records.len(), 4);
}

#[test]
fn a_declared_record_is_the_one_defined_elsewhere() {
    let declared = Record { complete: false, size: 0, ..UnitBuilder::sized_record("other", 8) };
    let a = unit_with_list("a.c", declared);
    let b = unit_with_list("b.c", UnitBuilder::sized_record("other", 8));
    let program = link(vec![a, b]).program;
    assert_eq!(program.records.len(), 2);
    assert!(program.records.iter().all(|record| record.complete));
    assert!(program.records.iter().any(|record| record.kind == RecordKind::Struct));
}

#[test]
fn labels_of_a_dropped_definition_name_no_block() {
    let unit = |path: &str| {
        let mut unit = UnitBuilder::new(path);
        let f = unit.define("f", Linkage::External, &[]);
        unit.constant(Const::Label { function: f, block: crate::BlockId(0) });
        unit.finish()
    };
    let program = link(vec![unit("a.c"), unit("b.c")]).program;
    let labels = program.constants.iter().filter(|c| matches!(c, Const::Label { .. })).count();
    assert_eq!(labels, 1);
}

#[test]
fn the_order_of_threads_does_not_show() {
    let units: Vec<Program> = (0..20)
        .map(|index| {
            let mut unit = UnitBuilder::new(&format!("{index}.c"));
            let next = unit.declare(&format!("f{}", (index + 1) % 20));
            unit.define(&format!("f{index}"), Linkage::External, &[next]);
            unit.finish()
        })
        .collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a thread pool starts").install(|| link(units.clone()))
    };
    assert_eq!(on(1), on(4));
}

#[test]
fn the_unknown_location_stays_unknown_in_every_unit() {
    let unit = |path: &str, name: &str| {
        let mut unit = UnitBuilder::new(path);
        unit.global(name, Linkage::External, 4, true);
        unit.finish()
    };
    let program = link(vec![unit("a.c", "x"), unit("b.c", "y")]).program;
    assert!(program.globals.iter().all(|global| !global.loc.is_known()));
}

#[test]
fn no_units_make_an_empty_program() {
    let linked = link(Vec::new());
    assert!(linked.program.functions.is_empty());
    assert_eq!(linked.program.types.as_slice(), [CType::Unknown]);
    assert_eq!(linked.program.types.get(TypeId::UNKNOWN), Some(&CType::Unknown));
}

#[test]
fn several_mains_make_several_programs_that_share_units() {
    let unit = |path: &str, defined: &[&str], used: &[&str]| {
        let mut unit = UnitBuilder::new(path);
        let used: Vec<_> = used.iter().map(|name| unit.declare(name)).collect();
        for name in defined {
            unit.define(name, Linkage::External, &used);
        }
        unit.finish()
    };
    let units = [
        unit("one.c", &["main"], &["shared"]),
        unit("two.c", &["main"], &["shared", "two_only"]),
        unit("shared.c", &["shared"], &["deep"]),
        unit("deep.c", &["deep"], &[]),
        unit("two_only.c", &["two_only"], &[]),
        unit("stray.c", &["stray"], &[]),
    ];
    let split = split(&units);
    assert_eq!(split.programs, [vec![0, 2, 3], vec![1, 2, 3, 4]]);
    assert_eq!(split.unused, [5]);
}
