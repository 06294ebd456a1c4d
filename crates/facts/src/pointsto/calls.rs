//! What calls do to pointers: arguments flow into parameters, results back, for direct
//! calls, for calls through pointers as their targets are found, and for callbacks that
//! library functions make.

use program::{Function, FunctionId, InstId, Param, Program, Ty, TypeId};
use rustc_hash::FxHashMap;

use super::copies::MemoryCopy;
use super::external;
use super::graph::{Complex, Graph, Location, Node};
use super::layout::Layout;
use super::object::{ObjectId, ObjectKind};
use super::wrappers::Wrappers;
use crate::externals;

/// The nodes through which a function takes and returns pointers.
#[derive(Clone, Default)]
pub(super) struct Interface {
    pub params: Vec<Node>,
    pub result: Node,
}

/// A call, ready to be linked to its targets.
#[derive(Clone)]
pub(super) struct Site {
    pub caller: FunctionId,
    pub inst: InstId,
    pub args: Vec<Option<Node>>,
    pub arg_types: Vec<Ty>,
    pub result: Option<Node>,
    pub result_type: Ty,
    /// What a returned pointer points to, by its C type.
    pub result_pointee: TypeId,
    /// The call is made by a library function that was handed the pointer.
    pub is_callback: bool,
    pub is_thread: bool,
    pub targets: Vec<FunctionId>,
    /// May go to code we do not see.
    pub is_open: bool,
}

pub(super) struct Calls<'a> {
    pub program: &'a Program,
    pub wrappers: &'a Wrappers,
    /// Aliases lead to the function they stand for.
    pub canonical: &'a [FunctionId],
    pub interfaces: Vec<Interface>,
    /// Calls through pointers, and callbacks.
    pub sites: Vec<Site>,
    pub is_entered: Vec<bool>,
    /// What calls that return untyped memory, and untyped parameters, are used as.
    pub heap_types: FxHashMap<(FunctionId, InstId), TypeId>,
    pub param_types: FxHashMap<(FunctionId, u32), TypeId>,
}

impl Calls<'_> {
    /// A pointer that is called turns out to point here.
    pub fn resolve(&mut self, graph: &mut Graph, site: u32, location: Location) {
        let object = graph.places[location as usize].object;
        match graph.objects[object.0 as usize].object.kind {
            ObjectKind::Function(function) => {
                let target = self.canonical[function.0 as usize];
                let known = &self.sites[site as usize];
                if known.targets.contains(&target) || !compatible(self.program, target, known) {
                    return;
                }
                let known = known.clone();
                self.sites[site as usize].targets.push(target);
                self.link(graph, &known, target);
            }
            kind if kind.is_outside() && !self.sites[site as usize].is_open => {
                self.sites[site as usize].is_open = true;
                external::unmodelled(graph, &self.sites[site as usize]);
            }
            _ => {}
        }
    }

    /// Connects a call with one of its targets.
    pub fn link(&mut self, graph: &mut Graph, site: &Site, target: FunctionId) {
        let function = &self.program.functions[target];
        if function.body.is_none() {
            match externals::lookup(&function.name) {
                Some(model) => external::apply(graph, self, site, target, model),
                None => external::unmodelled(graph, site),
            }
            return;
        }
        self.pass_arguments(graph, site, target, function);
        let Some(result) = site.result else { return };
        let returned = self.interfaces[target.0 as usize].result;
        if self.wrappers.is_wrapper(target) {
            self.rename(graph, site, target, returned, result);
        } else {
            graph.add_edge(returned, result);
        }
    }

    fn pass_arguments(
        &self,
        graph: &mut Graph,
        site: &Site,
        target: FunctionId,
        function: &Function,
    ) {
        let params = &self.interfaces[target.0 as usize].params;
        for (index, arg) in site.args.iter().enumerate() {
            let Some(arg) = *arg else { continue };
            match (function.params.get(index), params.get(index)) {
                (Some(Param { by_value: Some(bytes), .. }), Some(&param)) => {
                    copy_memory(graph, param, arg, Some(*bytes));
                }
                (Some(_), Some(&param)) => graph.add_edge(arg, param),
                _ if function.is_variadic => {
                    let varargs = varargs(graph, target);
                    let every = graph.every_cell(varargs);
                    graph.add_edge(arg, every);
                }
                _ => {}
            }
        }
    }

    /// The caller of a wrapper sees an object of its own in place of those allocated in it.
    fn rename(
        &self,
        graph: &mut Graph,
        site: &Site,
        target: FunctionId,
        returned: Node,
        result: Node,
    ) {
        graph.add_complex(returned, Complex::Renamed(result));
        let own = self.heap_object(graph, site.caller, site.inst);
        let start = graph.location(own, 0);
        graph.add_member(result, start);
        let every = graph.every_cell(own);
        for &inst in self.wrappers.allocations(target) {
            let inner = self.heap_object(graph, target, inst);
            if inner != own {
                let contents = graph.all_contents(inner);
                graph.add_edge(contents, every);
            }
        }
    }

    /// The object allocated at a call.
    pub fn heap_object(&self, graph: &mut Graph, caller: FunctionId, inst: InstId) -> ObjectId {
        let layout = match self.heap_types.get(&(caller, inst)) {
            Some(&ty) if graph.types.size(ty) > 0 => Layout::Array(ty),
            _ => Layout::Bytes,
        };
        let object = graph.object(ObjectKind::Heap { function: caller, inst }, layout, None);
        if self.wrappers.is_allocation(caller, inst) {
            graph.objects[object.0 as usize].is_renamed = true;
        }
        object
    }

    /// Code outside the program may call this function: its pointer parameters lead to
    /// memory from outside.
    pub fn enter_from_outside(&mut self, graph: &mut Graph, function: FunctionId) {
        let function = self.canonical[function.0 as usize];
        if std::mem::replace(&mut self.is_entered[function.0 as usize], true) {
            return;
        }
        let called = &self.program.functions[function];
        if called.body.is_none() {
            return;
        }
        for (index, param) in called.params.iter().enumerate() {
            if param.ty != Ty::Ptr || param.by_value.is_some() {
                continue;
            }
            let pointee = self.param_pointee(graph, function, index as u32, param);
            let node = self.interfaces[function.0 as usize].params[index];
            graph.add_edge(pointee, node);
        }
        if called.is_variadic {
            let varargs = varargs(graph, function);
            let every = graph.every_cell(varargs);
            let unknown = graph.location(ObjectId(0), 0);
            graph.add_member(every, unknown);
        }
        // What it returns is in the hands of code outside.
        graph.add_complex(self.interfaces[function.0 as usize].result, Complex::Escape);
    }

    /// What a parameter of an entry points to: memory of its type from outside. Several
    /// parameters may be the same memory, so that they share one object.
    fn param_pointee(
        &self,
        graph: &mut Graph,
        function: FunctionId,
        index: u32,
        param: &Param,
    ) -> Node {
        let declared = graph.types.pointee(param.ctype).unwrap_or(TypeId::UNKNOWN);
        let used = self.param_types.get(&(function, index)).copied();
        graph.pool(used.unwrap_or(declared))
    }

    /// Functions whose address is taken, but that nothing turned out to call, are called
    /// from outside. Whether there were any.
    pub fn enter_uncalled(&mut self, graph: &mut Graph, address_taken: &[FunctionId]) -> bool {
        let mut is_called = vec![false; self.program.functions.len()];
        for target in self.sites.iter().flat_map(|site| &site.targets) {
            is_called[target.0 as usize] = true;
        }
        let mut any = false;
        for &function in address_taken {
            let function = self.canonical[function.0 as usize];
            if !is_called[function.0 as usize] && !self.is_entered[function.0 as usize] {
                self.enter_from_outside(graph, function);
                any = true;
            }
        }
        any
    }
}

/// The object that holds a function's variable arguments.
pub(super) fn varargs(graph: &mut Graph, function: FunctionId) -> ObjectId {
    graph.object(ObjectKind::Varargs(function), Layout::Whole, None)
}

/// `*to = *from`, for `size` bytes or all there are.
pub(super) fn copy_memory(graph: &mut Graph, to: Node, from: Node, size: Option<u64>) {
    let copy = graph.copies.len() as u32;
    graph.copies.push(MemoryCopy { size, ..MemoryCopy::default() });
    graph.add_complex(from, Complex::CopyFrom(copy));
    graph.add_complex(to, Complex::CopyTo(copy));
}

/// Whether a call through a pointer can mean this function: arguments of the same kinds.
/// Old code calls with too many arguments, and with too few if the function is variadic.
fn compatible(program: &Program, target: FunctionId, site: &Site) -> bool {
    let function = &program.functions[target];
    if site.is_callback {
        return true;
    }
    if site.arg_types.len() < function.params.len() {
        return false;
    }
    let same_kind = |a: Ty, b: Ty| {
        matches!(
            (a, b),
            (Ty::Ptr, Ty::Ptr)
                | (Ty::Int(_), Ty::Int(_))
                | (Ty::Float(_), Ty::Float(_))
                | (Ty::Aggregate(_), Ty::Aggregate(_))
                | (Ty::Vector(_), Ty::Vector(_))
        )
    };
    let params = function.params.iter().zip(&site.arg_types);
    params.into_iter().all(|(param, arg)| same_kind(param.ty, *arg))
        && (site.result_type == Ty::Void || same_kind(site.result_type, function.result))
}
