//! Turns a program into constraints.

use base::IdVec;
use program::{
    Access, Address, Body, Callee, Const, ConstId, ConversionKind, FunctionId, InstId, Op, Operand,
    Program, Terminator, Ty, TypeId,
};

use super::addresses::{carries_address, is_pointer_again, shift_of};
use super::calls::{Calls, Site, copy_memory, varargs};
use super::graph::{Complex, Graph, Location, NO_POINTER, Node};
use super::layout::Layout;
use super::object::{ObjectId, ObjectKind};
use super::shift::Shift;
use crate::loops::{constant_value, int_constant};

pub(super) const NO_NODE: Node = Node::MAX;

/// Which node stands for which value.
pub(super) struct ValueNodes {
    /// One per instruction of each function with a body.
    pub insts: IdVec<FunctionId, Vec<Node>>,
    pub constants: Vec<Node>,
}

pub(super) struct Generator<'g, 'a> {
    pub program: &'a Program,
    pub graph: &'g mut Graph<'a>,
    pub calls: &'g mut Calls<'a>,
    pub values: ValueNodes,
}

impl Generator<'_, '_> {
    pub fn run(&mut self) {
        self.initialisers();
        // Numbers are stored through these as well, so that no pointer need flow there.
        for (id, constant) in self.program.constants.iter_enumerated() {
            if matches!(constant, Const::Global { .. }) {
                self.constant(id);
            }
        }
        for (function, called) in self.program.functions.iter_enumerated() {
            if let Some(body) = &called.body {
                self.assign_nodes(function, body);
                for (inst, _) in body.insts.iter_enumerated() {
                    self.instruction(function, body, inst);
                }
                self.returned(function, body);
            }
        }
    }

    fn initialisers(&mut self) {
        for (id, global) in self.program.globals.iter_enumerated() {
            let object = self.global_object(id);
            let Some(pieces) = &global.init else { continue };
            for piece in pieces {
                if let Some(value) = self.constant(piece.value) {
                    let at = self.graph.location(object, piece.offset as i64);
                    let write = self.graph.places[at as usize].write;
                    self.graph.add_edge(value, write);
                }
            }
        }
    }

    fn global_object(&mut self, id: program::GlobalId) -> ObjectId {
        let Some(global) = self.program.globals.get(id) else { return ObjectId(0) };
        let layout = match self.graph.types.size(global.ctype) {
            0 => Layout::Bytes,
            _ => Layout::Type(global.ctype),
        };
        let size = (global.size > 0).then_some(global.size);
        let object = self.graph.object(ObjectKind::Global(id), layout, size);
        if global.init.is_none() {
            // Defined outside the program, which therefore reads and writes it.
            let start = self.graph.location(object, 0);
            let address = self.graph.node();
            self.graph.add_member(address, start);
            self.graph.add_complex(address, Complex::Escape);
        }
        object
    }

    /// Every instruction that can carry a pointer gets a node.
    fn assign_nodes(&mut self, function: FunctionId, body: &Body) {
        let mut nodes = vec![NO_NODE; body.insts.len()];
        let params = &self.program.functions[function].params;
        for (id, inst) in body.insts.iter_enumerated() {
            let carries = match inst.ty {
                Ty::Ptr | Ty::Aggregate(_) => true,
                Ty::Int(64) => carries_address(&inst.op, &nodes, body, params),
                _ => false,
            };
            if !carries {
                continue;
            }
            nodes[id.0 as usize] = match self.same_as(&nodes, function, &inst.op) {
                Some(node) => node,
                None => self.graph.node(),
            };
        }
        self.values.insts[function] = nodes;
    }

    /// The node of a value that is the same pointer, where that is known at once.
    fn same_as(&mut self, nodes: &[Node], function: FunctionId, op: &Op) -> Option<Node> {
        let operand = match op {
            Op::Convert(conversion) => match conversion.kind {
                ConversionKind::Bits | ConversionKind::SignChange => conversion.value,
                ConversionKind::PointerToInt => conversion.value,
                _ => return None,
            },
            Op::Address(address)
                if address.offset == 0 && address.terms.is_empty() && address.path.is_empty() =>
            {
                address.base
            }
            Op::Phi(operands) => match operands[..] {
                [(_, operand)] => operand,
                _ => return None,
            },
            _ => return None,
        };
        match operand {
            Operand::Inst(inst) => {
                nodes.get(inst.0 as usize).copied().filter(|&node| node != NO_NODE)
            }
            Operand::Param(index) => {
                self.calls.interfaces[function.0 as usize].params.get(index as usize).copied()
            }
            Operand::Const(id) => self.constant(id),
        }
    }

    /// The node of an operand; none where it cannot be a pointer to anything.
    fn node(&mut self, function: FunctionId, operand: Operand) -> Option<Node> {
        match operand {
            Operand::Inst(inst) => {
                let nodes = &self.values.insts[function];
                nodes.get(inst.0 as usize).copied().filter(|&node| node != NO_NODE)
            }
            Operand::Param(index) => {
                let params = &self.calls.interfaces[function.0 as usize].params;
                params.get(index as usize).copied()
            }
            Operand::Const(id) => self.constant(id),
        }
    }

    fn constant(&mut self, id: ConstId) -> Option<Node> {
        let known = *self.values.constants.get(id.0 as usize)?;
        if known != NO_NODE {
            return Some(known);
        }
        let node = match &self.program.constants[id] {
            Const::Global { global, offset } => {
                let object = self.global_object(*global);
                let location = self.graph.location(object, *offset);
                self.constant_node(location)
            }
            Const::Function(function) => {
                let target = self.calls.canonical[function.0 as usize];
                let kind = ObjectKind::Function(target);
                let object = self.graph.object(kind, Layout::Whole, None);
                let location = self.graph.location(object, 0);
                self.constant_node(location)
            }
            Const::Aggregate { elements, .. } => {
                let parts: Vec<Node> =
                    elements.iter().filter_map(|&element| self.constant(element)).collect();
                if parts.is_empty() {
                    return None;
                }
                let node = self.graph.node();
                for part in parts {
                    self.graph.add_edge(part, node);
                }
                node
            }
            Const::Opaque { ty: Ty::Ptr | Ty::Int(64), .. } => self.constant_node(0),
            _ => return None,
        };
        self.values.constants[id.0 as usize] = node;
        Some(node)
    }

    fn constant_node(&mut self, location: Location) -> Node {
        let node = self.graph.node();
        self.graph.add_member(node, location);
        node
    }

    fn returned(&mut self, function: FunctionId, body: &Body) {
        let result = self.calls.interfaces[function.0 as usize].result;
        for block in &body.blocks {
            if let Terminator::Return(Some(value)) = block.terminator
                && let Some(node) = self.node(function, value)
            {
                self.graph.add_edge(node, result);
            }
        }
    }

    fn instruction(&mut self, function: FunctionId, body: &Body, id: InstId) {
        let inst = &body.insts[id];
        let to = self.values.insts[function][id.0 as usize];
        match &inst.op {
            Op::Alloca { variable, size, count } => {
                let ctype = variable.and_then(|v| body.variables.get(v)).map(|v| v.ctype);
                let layout = match ctype.filter(|&ty| self.graph.types.size(ty) > 0) {
                    Some(ty) if count.is_none() => Layout::Type(ty),
                    _ => Layout::Bytes,
                };
                let size = count.is_none().then_some(*size);
                let object =
                    self.graph.object(ObjectKind::Local { function, inst: id }, layout, size);
                let start = self.graph.location(object, 0);
                self.graph.add_member(to, start);
            }
            Op::Load(access) => self.load(function, access, inst.ty, to),
            Op::Store { access, value } => self.store(function, body, access, *value),
            Op::Address(address) => self.address(function, address, to),
            Op::Phi(operands) => {
                for (_, operand) in operands {
                    self.copy(function, *operand, to);
                }
            }
            Op::Select { then, otherwise, .. } => {
                self.copy(function, *then, to);
                self.copy(function, *otherwise, to);
            }
            Op::Convert(conversion) => {
                self.copy(function, conversion.value, to);
                if conversion.kind == ConversionKind::IntToPointer
                    && int_constant(conversion.value, &self.program.constants).is_none()
                    && !is_pointer_again(body, conversion.value)
                {
                    self.graph.add_member(to, 0);
                }
            }
            Op::Binary { lhs, rhs, .. } if to != NO_NODE => {
                for operand in [*lhs, *rhs] {
                    if let Some(from) = self.node(function, operand) {
                        self.graph.add_complex(from, Complex::Within(to));
                    }
                }
            }
            Op::MemCopy { to, from, size, .. } => {
                let size = constant_value(*size, body, &self.program.constants);
                if let (Some(to), Some(from)) =
                    (self.node(function, *to), self.node(function, *from))
                {
                    copy_memory(self.graph, to, from, size.and_then(|s| u64::try_from(s).ok()));
                }
            }
            Op::AtomicUpdate { access, value, .. } => {
                self.load(function, access, inst.ty, to);
                self.store(function, body, access, *value);
            }
            Op::CompareExchange { access, new, .. } => {
                self.load(function, access, Ty::Ptr, to);
                self.store(function, body, access, *new);
            }
            Op::Extract { aggregate, .. } => self.copy(function, *aggregate, to),
            Op::Insert { aggregate, element, .. } => {
                self.copy(function, *aggregate, to);
                self.copy(function, *element, to);
            }
            Op::Call(call) => self.call(function, body, id, call),
            Op::Asm { args, .. } => {
                for arg in args {
                    if let Some(node) = self.node(function, *arg) {
                        self.graph.add_complex(node, Complex::Escape);
                    }
                }
                if to != NO_NODE {
                    let contents = self.graph.places[0].read;
                    self.graph.add_edge(contents, to);
                    self.graph.add_member(to, 0);
                }
            }
            Op::Opaque { args, .. } => {
                for arg in args {
                    self.copy(function, *arg, to);
                }
            }
            _ => {}
        }
    }

    fn copy(&mut self, function: FunctionId, from: Operand, to: Node) {
        if to != NO_NODE
            && let Some(from) = self.node(function, from)
        {
            self.graph.add_edge(from, to);
        }
    }

    fn load(&mut self, function: FunctionId, access: &Access, ty: Ty, to: Node) {
        if to == NO_NODE {
            return;
        }
        let Some(pointer) = self.node(function, access.ptr) else { return };
        let pointee = match (self.graph.types.pointee(access.ctype), ty) {
            (Some(pointee), _) => self.graph.types.plain(pointee),
            (None, Ty::Int(_)) => NO_POINTER,
            (None, _) => TypeId::UNKNOWN,
        };
        for part in self.parts(pointer, ty) {
            self.graph.add_complex(part, Complex::Load(to, pointee));
        }
    }

    fn store(&mut self, function: FunctionId, body: &Body, access: &Access, value: Operand) {
        let Some(pointer) = self.node(function, access.ptr) else { return };
        let Some(value_node) = self.stored_value(function, body, value) else { return };
        let params = &self.program.functions[function].params;
        let ty = match value {
            Operand::Param(index) if index as usize >= params.len() => Ty::Ptr,
            _ => body.operand_ty(value, params, &self.program.constants),
        };
        for part in self.parts(pointer, ty) {
            self.graph.add_complex(part, Complex::Store(value_node));
        }
    }

    /// The node of what is stored; a byte that was just read may be one of a pointer.
    fn stored_value(&mut self, function: FunctionId, body: &Body, value: Operand) -> Option<Node> {
        if let Some(node) = self.node(function, value) {
            return Some(node);
        }
        let Operand::Inst(inst) = value else { return None };
        let Op::Load(access) = &body.insts[inst].op else { return None };
        if body.insts[inst].ty != Ty::Int(8) {
            return None;
        }
        let pointer = self.node(function, access.ptr)?;
        let byte = self.graph.node();
        self.graph.add_complex(pointer, Complex::Load(byte, NO_POINTER));
        Some(byte)
    }

    /// The words of an access that can hold pointers: one, unless a whole struct is read
    /// or written as one value.
    fn parts(&mut self, pointer: Node, ty: Ty) -> Vec<Node> {
        let Ty::Aggregate(bytes) = ty else { return vec![pointer] };
        let mut parts = vec![pointer];
        for offset in (8..bytes.min(256)).step_by(8) {
            let part = self.graph.node();
            let shift = self.graph.shift_id(Shift { offset: offset as i64, ..Shift::default() });
            self.graph.add_complex(pointer, Complex::Shift(shift, part));
            parts.push(part);
        }
        parts
    }

    fn address(&mut self, function: FunctionId, address: &Address, to: Node) {
        if to == NO_NODE {
            return;
        }
        let Some(base) = self.node(function, address.base) else { return };
        if base == to {
            return;
        }
        let shift = shift_of(self.program, address);
        if shift == Shift::default() {
            self.graph.add_edge(base, to);
            return;
        }
        let shift = self.graph.shift_id(shift);
        self.graph.add_complex(base, Complex::Shift(shift, to));
    }

    fn call(&mut self, function: FunctionId, body: &Body, id: InstId, call: &program::Call) {
        let inst = &body.insts[id];
        let result = self.values.insts[function][id.0 as usize];
        let args: Vec<Option<Node>> =
            call.args.iter().map(|&arg| self.node(function, arg)).collect();
        let site = Site {
            caller: function,
            inst: id,
            arg_types: self.argument_types(function, body, &call.args),
            args,
            result: (result != NO_NODE).then_some(result),
            result_type: inst.ty,
            result_pointee: match self.calls.heap_types.get(&(function, id)) {
                Some(&ty) => ty,
                None => self.graph.types.pointee(inst.ctype).unwrap_or(TypeId::UNKNOWN),
            },
            is_callback: false,
            is_thread: false,
            targets: Vec::new(),
            is_open: false,
        };
        match &call.callee {
            Callee::Function(target) => {
                let target = self.calls.canonical[target.0 as usize];
                self.calls.link(self.graph, &site, target);
            }
            Callee::Pointer(pointer) => {
                let index = self.calls.sites.len() as u32;
                self.calls.sites.push(site);
                match self.node(function, *pointer) {
                    Some(node) => self.graph.add_complex(node, Complex::Call(index)),
                    None => self.calls.sites[index as usize].is_open = true,
                }
            }
            Callee::Intrinsic(name) => self.intrinsic(function, name, &site),
        }
    }

    fn argument_types(&self, function: FunctionId, body: &Body, args: &[Operand]) -> Vec<Ty> {
        let params = &self.program.functions[function].params;
        args.iter()
            .map(|&arg| match arg {
                Operand::Param(index) if index as usize >= params.len() => Ty::Ptr,
                _ => body.operand_ty(arg, params, &self.program.constants),
            })
            .collect()
    }

    fn intrinsic(&mut self, function: FunctionId, name: &str, site: &Site) {
        let name = name.strip_prefix("llvm.").unwrap_or(name);
        let arg = |index: usize| site.args.get(index).copied().flatten();
        if name.starts_with("va_start") {
            // The list points to the arguments, from whichever of its words.
            let Some(list) = arg(0) else { return };
            let varargs = varargs(self.graph, function);
            let start = self.graph.location(varargs, 0);
            let address = self.constant_node(start);
            let anywhere = self.graph.node();
            self.graph.add_complex(list, Complex::Within(anywhere));
            self.graph.add_complex(anywhere, Complex::Store(address));
        } else if name.starts_with("va_copy") {
            if let (Some(to), Some(from)) = (arg(0), arg(1)) {
                copy_memory(self.graph, to, from, None);
            }
        } else if (name.starts_with("ptrmask") || name.starts_with("launder"))
            && let (Some(from), Some(result)) = (arg(0), site.result)
        {
            self.graph.add_complex(from, Complex::Within(result));
        }
    }
}
