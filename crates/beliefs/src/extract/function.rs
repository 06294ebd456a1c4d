//! One function as extraction looks at it: its flow, its values, and how the source names
//! them.

use facts::Cfg;
use program::query::Uses;
use program::{
    BlockId, Body, Call, Callee, Const, Function, FunctionId, Inst, InstId, LocId, Op, Operand,
    PathStep, Program, Ty, VarId,
};
use rustc_hash::FxHashMap;

use super::values::{Shape, Value, Values};
use crate::known::{Keys, Known};

/// What every extractor reads.
pub struct Fun<'a> {
    pub program: &'a Program,
    pub keys: &'a Keys,
    pub known: &'a Known,
    pub function: &'a Function,
    id: FunctionId,
    pub body: &'a Body,
    pub cfg: Cfg,
    pub uses: Uses,
    pub values: Values,
    /// The variable a value was bound to first.
    variables: FxHashMap<Value, VarId>,
}

impl<'a> Fun<'a> {
    pub fn new(
        program: &'a Program,
        keys: &'a Keys,
        known: &'a Known,
        function: &'a Function,
        id: FunctionId,
        body: &'a Body,
    ) -> Self {
        let ends_flow = |id: InstId| never_returns(&body.insts[id], keys, known);
        let cfg = Cfg::new(body, ends_flow);
        let mut values = Values::new(body, program);
        let mut variables = FxHashMap::default();
        for inst in &body.insts {
            match &inst.op {
                Op::Bind { variable, value } => {
                    let value = values.get_or_make(*value, program);
                    variables.entry(value).or_insert(*variable);
                }
                Op::Call(call) => {
                    for arg in &call.args {
                        values.get_or_make(*arg, program);
                    }
                }
                Op::Compare { lhs, rhs, .. } => {
                    values.get_or_make(*lhs, program);
                    values.get_or_make(*rhs, program);
                }
                Op::Load(access) | Op::Store { access, .. } => {
                    values.get_or_make(access.ptr, program);
                }
                _ => {}
            }
        }
        let uses = Uses::new(body);
        Self { program, keys, known, function, id, body, cfg, uses, values, variables }
    }

    /// The function's own key.
    pub fn key(&self) -> &'a str {
        self.keys.function(self.id)
    }

    pub fn value(&self, operand: Operand) -> Option<Value> {
        self.values.get(operand, self.program)
    }

    pub fn inst(&self, operand: Operand) -> Option<(InstId, &'a Inst)> {
        match operand {
            Operand::Inst(id) => Some((id, &self.body.insts[id])),
            _ => None,
        }
    }

    /// The operand behind changes of type that keep it zero or non-zero.
    pub fn unconverted(&self, mut operand: Operand) -> Operand {
        use program::ConversionKind as K;
        while let Some((_, inst)) = self.inst(operand) {
            let Op::Convert(conversion) = &inst.op else { break };
            match conversion.kind {
                K::SignChange
                | K::ZeroExtend
                | K::SignExtend
                | K::PointerToInt
                | K::IntToPointer
                | K::Bits => operand = conversion.value,
                // A truth value stored as a byte.
                K::Truncate if inst.ty == Ty::Int(1) => operand = conversion.value,
                _ => break,
            }
        }
        operand
    }

    /// The pointer that an address is computed from.
    pub fn base_operand(&self, mut operand: Operand) -> Operand {
        loop {
            operand = self.unconverted(operand);
            match self.inst(operand) {
                Some((_, Inst { op: Op::Address(address), .. })) => operand = address.base,
                _ => return operand,
            }
        }
    }

    pub fn ty(&self, operand: Operand) -> Ty {
        self.body.operand_ty(operand, &self.function.params, &self.program.constants)
    }

    /// The number a constant operand is; null is 0.
    pub fn constant(&self, operand: Operand) -> Option<i64> {
        let Operand::Const(id) = operand else { return None };
        match &self.program.constants[id] {
            Const::Int { value, .. } => i64::try_from(*value).ok(),
            Const::Null | Const::Zero(Ty::Int(_) | Ty::Ptr) => Some(0),
            _ => None,
        }
    }

    /// What a call calls, by the key it has over the whole program.
    pub fn callee(&self, call: &Call) -> Option<&'a str> {
        match &call.callee {
            Callee::Function(id) => Some(self.keys.function(*id)),
            _ => None,
        }
    }

    /// As [`callee`](Self::callee); calls through members are named after the member.
    pub fn callee_or_member(&self, call: &Call) -> Option<String> {
        match &call.callee {
            Callee::Function(id) => Some(self.keys.function(*id).to_owned()),
            Callee::Pointer(pointer) => {
                let (_, inst) = self.inst(*pointer)?;
                let Op::Load(access) = &inst.op else { return None };
                let field = self.field(access.ptr)?;
                Some(format!("*{field}"))
            }
            Callee::Intrinsic(_) => None,
        }
    }

    /// `record.member` of an address, over the whole program.
    pub fn field(&self, address: Operand) -> Option<String> {
        let (_, inst) = self.inst(address)?;
        let Op::Address(address) = &inst.op else { return None };
        let fields = address.path.iter().filter_map(|step| match step {
            PathStep::Field { record, member } => Some((*record, *member)),
            _ => None,
        });
        let mut name = String::new();
        for (record, member) in fields {
            let record = &self.program.records[record];
            if name.is_empty() {
                if record.name.is_empty() {
                    return None;
                }
                name = record.name.to_string();
            }
            name.push('.');
            name += &record.members.get(member as usize)?.name;
        }
        (!name.is_empty()).then_some(name)
    }

    /// The name of a value in the source, as far as it has one.
    pub fn name(&self, value: Value) -> String {
        self.name_within(value, 4)
    }

    fn name_within(&self, value: Value, depth: u32) -> String {
        if let Some(variable) = self.variables.get(&value) {
            let name = &self.body.variables[*variable].name;
            if !name.is_empty() {
                return name.to_string();
            }
        }
        match self.values.shape_of(value) {
            Shape::Param(index) => {
                let param = self.function.params.get(*index as usize);
                let variable = param.and_then(|param| param.variable);
                variable.map(|v| self.body.variables[v].name.to_string()).unwrap_or_default()
            }
            Shape::Load(address) if depth > 0 => self.lvalue(*address, depth - 1),
            Shape::Address(..) if depth > 0 => match self.lvalue(value, depth - 1) {
                name if name.is_empty() => name,
                name => format!("&{name}"),
            },
            Shape::Inst(id) => match &self.body.insts[*id].op {
                Op::Alloca { variable: Some(variable), .. } => {
                    format!("&{}", self.body.variables[*variable].name)
                }
                Op::Call(call) => match self.callee(call) {
                    Some(callee) => format!("{}(...)", crate::known::shown(callee)),
                    None => String::new(),
                },
                _ => String::new(),
            },
            Shape::Const(id) if *id != u32::MAX => match &self.program.constants
                [program::ConstId(*id)]
            {
                Const::Global { global, .. } => {
                    let global = &self.program.globals[*global];
                    if global.name.is_empty() { String::new() } else { format!("&{}", global.name) }
                }
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    /// The object at an address, as the source names it.
    fn lvalue(&self, address: Value, depth: u32) -> String {
        let Shape::Address(base, ..) = self.values.shape_of(address) else {
            let name = self.name_within(address, depth);
            return match name.strip_prefix('&') {
                Some(object) => object.to_owned(),
                None if name.is_empty() => name,
                None => format!("*{name}"),
            };
        };
        let base_name = self.name_within(*base, depth);
        if base_name.is_empty() {
            return base_name;
        }
        let (mut name, mut arrow) = match base_name.strip_prefix('&') {
            Some(object) => (object.to_owned(), "."),
            None => (base_name, "->"),
        };
        let Some(example) = self.values.example(address) else { return String::new() };
        let Op::Address(path) = &self.body.insts[example].op else { return String::new() };
        for step in &path.path {
            match step {
                PathStep::Field { record, member } => {
                    let record = &self.program.records[*record];
                    let Some(member) = record.members.get(*member as usize) else { continue };
                    if !member.name.is_empty() {
                        name = format!("{name}{arrow}{}", member.name);
                    }
                    arrow = ".";
                }
                PathStep::Index { term: None, constant: 0 } => {}
                PathStep::Index { .. } => {
                    name += "[]";
                    arrow = ".";
                }
                PathStep::UnionMembers { .. } => {}
            }
        }
        name
    }

    pub fn line(&self, loc: LocId) -> u32 {
        self.program.locs[loc].line
    }

    /// The macro whose body wrote this, if one did.
    pub fn macro_body(&self, loc: LocId) -> Option<&'a str> {
        match self.program.locs[loc].origin {
            program::Origin::Body(name) => Some(&self.program.names[name]),
            _ => None,
        }
    }

    /// The macro that wrote this, or whose argument it is.
    pub fn macro_around(&self, loc: LocId) -> Option<&'a str> {
        match self.program.locs[loc].origin {
            program::Origin::Body(name) | program::Origin::Argument(name) => {
                Some(&self.program.names[name])
            }
            program::Origin::Plain => None,
        }
    }

    /// Whether the value is one of several, depending on the way control came.
    pub fn is_join(&self, value: Value) -> bool {
        matches!(self.values.shape_of(value), Shape::Inst(id)
            if matches!(self.body.insts[*id].op, Op::Phi(_)))
    }

    /// Whether this is storage of the function itself.
    pub fn is_alloca(&self, value: Value) -> bool {
        matches!(self.values.shape_of(value), Shape::Inst(id)
            if matches!(self.body.insts[*id].op, Op::Alloca { .. }))
    }

    /// Whether a loop with this head computes the value anew each time round.
    pub fn is_recomputed(&self, value: Value, head: BlockId) -> bool {
        match self.values.shape_of(self.values.root(value)) {
            Shape::Inst(id) => {
                let inst = &self.body.insts[*id];
                let is_storage = matches!(inst.op, Op::Alloca { .. });
                !is_storage && self.cfg.position(inst.block) >= self.cfg.position(head)
            }
            _ => false,
        }
    }

    /// Whether control goes back to the head of a loop here.
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.cfg.position(to) <= self.cfg.position(from)
    }

    pub fn calls(&self) -> impl Iterator<Item = (InstId, &'a Inst, &'a Call)> {
        self.body.insts.iter_enumerated().filter_map(|(id, inst)| match &inst.op {
            Op::Call(call) => Some((id, inst, &**call)),
            _ => None,
        })
    }
}

pub fn never_returns(inst: &Inst, keys: &Keys, known: &Known) -> bool {
    let Op::Call(call) = &inst.op else { return false };
    if call.is_noreturn {
        return true;
    }
    let Callee::Function(id) = call.callee else { return false };
    let key = keys.function(id);
    known.never_returns(key) || (keys.is_named_like_a_crash(id) && !known.is_defined(key))
}
