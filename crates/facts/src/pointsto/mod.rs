//! Which memory a pointer can point to: inclusion-based (Andersen), field-sensitive, over
//! the whole program, with calls through pointers resolved on the way.
//!
//! Memory from outside the program is one object for each type, and stands for what of the
//! program escaped as well; see [`PointsTo::with_aliases`]. What is believed about types,
//! arithmetic and integers is in docs/decisions/004.

mod addresses;
mod alias;
mod calls;
mod compatible;
mod copies;
mod escape;
mod external;
mod generate;
mod graph;
mod heap_types;
mod inside;
pub mod layout;
mod object;
mod result;
mod shape;
mod shift;
mod solver;
mod wrappers;

pub(crate) use addresses::shift_of;
pub use layout::{Layout, Types};
pub use object::{Object, ObjectId, ObjectKind};
pub use result::{CallSite, Cell, CellId, PointsTo, SetId, UNKNOWN_CELL};
pub use shift::Shift;
pub use wrappers::Wrappers;
pub(crate) use wrappers::{address_taken, canonical_functions, direct_calls};

use base::IdVec;
use program::{FunctionId, Program};

use self::calls::{Calls, Interface};
use self::generate::{Generator, NO_NODE, ValueNodes};
use self::graph::Graph;
use crate::users::Users;

/// Functions that somebody calls directly.
fn directly_called(program: &Program, calls: &crate::csr::Csr<u32>) -> Vec<bool> {
    let mut called = vec![false; program.functions.len()];
    for caller in 0..calls.len() {
        for &callee in calls.row(caller).iter().filter(|&&callee| callee as usize != caller) {
            called[callee as usize] = true;
        }
    }
    called
}

pub(crate) fn compute(
    program: &Program,
    canonical: &[FunctionId],
    direct: &crate::csr::Csr<u32>,
    wrappers: &Wrappers,
    users: &[Users],
    entries: &[FunctionId],
) -> PointsTo {
    let types = Types::new(program);
    let mut graph = Graph::new(&types);
    let interfaces = program.functions.iter().map(|function| {
        let params = function.params.iter().map(|_| graph.node()).collect();
        Interface { params, result: graph.node() }
    });
    let interfaces = interfaces.collect();
    let inferred = heap_types::infer(program, &types, users);
    let mut calls = Calls {
        program,
        wrappers,
        canonical,
        interfaces,
        sites: Vec::new(),
        is_entered: vec![false; program.functions.len()],
        heap_types: inferred.calls,
        param_types: inferred.params,
    };
    copies_of_parameters(program, &mut graph, &calls);
    let values = ValueNodes {
        insts: IdVec::filled(Vec::new(), program.functions.len()),
        constants: vec![NO_NODE; program.constants.len()],
    };
    let mut generator = Generator { program, graph: &mut graph, calls: &mut calls, values };
    generator.run();
    let values = generator.values;
    let taken = address_taken(program);
    let called = directly_called(program, direct);
    for (id, _) in program.functions.iter_enumerated().filter(|(_, f)| f.body.is_some()) {
        let is_taken = || taken.iter().any(|&f| canonical[f.0 as usize] == id);
        if (!called[id.0 as usize] && !is_taken()) || entries.contains(&id) {
            calls.enter_from_outside(&mut graph, id);
        }
    }
    loop {
        solver::solve(&mut graph, &mut calls);
        if !calls.enter_uncalled(&mut graph, &called_targets(&taken, canonical, &called)) {
            break;
        }
    }
    result::freeze(program, graph, calls, values)
}

/// Functions whose address is taken and that nobody calls by name.
fn called_targets(
    taken: &[FunctionId],
    canonical: &[FunctionId],
    called: &[bool],
) -> Vec<FunctionId> {
    let uncalled = |id: &&FunctionId| !called[canonical[id.0 as usize].0 as usize];
    taken.iter().filter(uncalled).copied().collect()
}

/// A struct passed by value in memory is the callee's own object.
fn copies_of_parameters(program: &Program, graph: &mut Graph, calls: &Calls) {
    for (function, called) in program.functions.iter_enumerated() {
        if called.body.is_none() {
            continue;
        }
        for (index, param) in called.params.iter().enumerate() {
            let Some(bytes) = param.by_value else { continue };
            let kind = ObjectKind::ParamCopy { function, param: index as u32 };
            let pointee = graph.types.pointee(param.ctype).unwrap_or(param.ctype);
            let layout = match graph.types.size(pointee) {
                0 => Layout::Bytes,
                _ => Layout::Type(pointee),
            };
            let object = graph.object(kind, layout, Some(bytes));
            let start = graph.location(object, 0);
            graph.add_member(calls.interfaces[function.0 as usize].params[index], start);
        }
    }
}
