//! Applies the models of external functions to the constraint graph.

use program::{FunctionId, Ty};

use super::calls::{Calls, Site, copy_memory};
use super::graph::{Complex, Graph, Node};
use super::layout::Layout;
use super::object::ObjectKind;
use crate::externals::{Callback, External, Returned};

/// A function we know nothing about keeps, writes and calls what it can reach.
pub(super) fn unmodelled(graph: &mut Graph, site: &Site) {
    for arg in site.args.iter().flatten() {
        graph.add_complex(*arg, Complex::Escape);
    }
    if let Some(result) = site.result
        && site.result_type == Ty::Ptr
    {
        let pool = graph.pool(site.result_pointee);
        graph.add_edge(pool, result);
    }
}

pub(super) fn apply(
    graph: &mut Graph,
    calls: &mut Calls,
    site: &Site,
    target: FunctionId,
    model: &External,
) {
    let arg = |index: u8| site.args.get(index as usize).copied().flatten();
    let fresh = returned(graph, calls, site, target, model);
    for &(to, from) in &model.copies {
        let to = match to {
            Some(index) => arg(index),
            None => fresh,
        };
        if let (Some(to), Some(from)) = (to, arg(from)) {
            copy_memory(graph, to, from, None);
        }
    }
    for &(to, value) in &model.stores {
        if let (Some(to), Some(value)) = (arg(to), arg(value)) {
            let within = graph.node();
            graph.add_complex(value, Complex::Within(within));
            graph.add_complex(to, Complex::Store(within));
        }
    }
    for callback in &model.callbacks {
        if let Some(pointer) = arg(callback.argument) {
            call_back(graph, calls, site, pointer, callback);
        }
    }
    for &kept in &model.keeps {
        if let Some(kept) = arg(kept) {
            graph.add_complex(kept, Complex::Escape);
        }
    }
}

/// Gives the result its targets; the node of a fresh result, if there is one.
fn returned(
    graph: &mut Graph,
    calls: &Calls,
    site: &Site,
    target: FunctionId,
    model: &External,
) -> Option<Node> {
    let result = site.result?;
    let arg = |index: u8| site.args.get(index as usize).copied().flatten();
    match model.returned {
        Returned::Nothing => return None,
        Returned::Fresh => {
            let object = if model.is_allocator {
                calls.heap_object(graph, site.caller, site.inst)
            } else {
                let kind = ObjectKind::Handle { function: site.caller, inst: site.inst };
                graph.object(kind, Layout::Whole, None)
            };
            // A node of its own: the result may stand for more than this object.
            let fresh = graph.node();
            let start = graph.location(object, 0);
            graph.add_member(fresh, start);
            graph.add_edge(fresh, result);
            return Some(fresh);
        }
        Returned::Argument(index) => {
            if let Some(arg) = arg(index) {
                graph.add_edge(arg, result);
            }
        }
        Returned::Within(index) => {
            if let Some(arg) = arg(index) {
                graph.add_complex(arg, Complex::Within(result));
            }
        }
        Returned::Pointee(index) => {
            if let Some(arg) = arg(index) {
                graph.add_complex(arg, Complex::Load(result, site.result_pointee));
            }
        }
        Returned::Static => {
            let object = graph.object(ObjectKind::Library(target), Layout::Whole, None);
            let start = graph.location(object, 0);
            let contents = graph.places[start as usize].read;
            graph.add_member(contents, start);
            graph.add_member(result, start);
        }
    }
    None
}

fn call_back(
    graph: &mut Graph,
    calls: &mut Calls,
    site: &Site,
    pointer: Node,
    callback: &Callback,
) {
    let mut args = Vec::new();
    for &passed in &callback.passes {
        let arg = site.args.get(passed as usize).copied().flatten();
        args.push(arg.map(|arg| {
            let within = graph.node();
            // Threads receive the pointer itself, comparison functions any element.
            if callback.is_thread {
                graph.add_edge(arg, within);
            } else {
                graph.add_complex(arg, Complex::Within(within));
                graph.add_edge(arg, within);
            }
            within
        }));
    }
    let id = calls.sites.len() as u32;
    calls.sites.push(Site {
        args,
        arg_types: Vec::new(),
        result: None,
        is_callback: true,
        is_thread: callback.is_thread,
        targets: Vec::new(),
        is_open: false,
        ..site.clone()
    });
    graph.add_complex(pointer, Complex::Call(id));
}
