//! Matching whole operations: the shapes of a pattern at one instruction or terminator.

use program::{Access, Call, Op, Operand, PathStep, Terminator, Ty};

use super::operand::negated;
use super::{CodePoint, Matching, Shape};
use crate::ast::VarIndex;
use crate::c::{BinaryOp, Expr, TypeName, UnaryOp};
use crate::facts;
use crate::lower::{Argument, Bindings};

impl Matching<'_> {
    /// Every way a shape matches at a point.
    pub(super) fn shape(&self, shape: &Shape, point: CodePoint) -> Vec<Bindings> {
        match point {
            CodePoint::Inst(inst) => match shape {
                Shape::Event { name, args } => self.events(name, args, inst),
                _ => {
                    let mut bindings = self.fresh();
                    let matches = self.inst(shape, inst, &mut bindings);
                    if matches { vec![bindings] } else { Vec::new() }
                }
            },
            CodePoint::Terminator(block) => {
                self.terminator(shape, &self.body.blocks[block].terminator)
            }
        }
    }

    fn inst(&self, shape: &Shape, id: program::InstId, bindings: &mut Bindings) -> bool {
        let inst = &self.body.insts[id];
        let result = |pattern: &Option<Expr>, bindings: &mut Bindings| match pattern {
            Some(pattern) => self.operand(pattern, Operand::Inst(id), bindings, 0),
            None => true,
        };
        match (shape, &inst.op) {
            (Shape::Call { result: r, callee, args }, Op::Call(call)) => {
                self.call(callee, args, call, bindings, 0)
                    && (r.is_none() || inst.ty != Ty::Void)
                    && result(r, bindings)
            }
            (Shape::Copy { target, value }, Op::Bind { variable, value: bound }) => {
                self.operand(value, *bound, bindings, 0)
                    && self.target(target, Argument::Operand(*bound), bindings)
                    && self.named_target(target, &self.body.variables[*variable].name)
            }
            (Shape::Copy { target, value }, Op::Store { value: stored, access }) => {
                // A store through a pointer expression is no assignment of a variable.
                is_variable(self, access.ptr)
                    && self.operand(value, *stored, bindings, 0)
                    && self.target(target, Argument::Place(id), bindings)
            }
            (Shape::Store { place, value }, Op::Store { access, value: stored }) => {
                self.place(place, access, bindings, 0) && self.operand(value, *stored, bindings, 0)
            }
            (Shape::Load { result: r, place }, Op::Load(access)) => {
                self.place(place, access, bindings, 0) && result(r, bindings)
            }
            (
                Shape::Access { place },
                Op::Load(access)
                | Op::Store { access, .. }
                | Op::AtomicUpdate { access, .. }
                | Op::CompareExchange { access, .. },
            ) => self.place(place, access, bindings, 0),
            (Shape::Compute { result: r, op, left, right }, machine) => {
                self.binary(*op, left, right, machine, bindings, 0) && result(r, bindings)
            }
            (Shape::Convert { result: r, to, value }, Op::Convert(conversion)) => {
                conversion.origin != program::ConversionOrigin::Compiler
                    && self.type_matches(to, conversion.to)
                    && self.operand(value, conversion.value, bindings, 0)
                    && result(r, bindings)
            }
            (Shape::Address { result: r, of }, Op::Address(_)) => {
                self.address(of, Operand::Inst(id), bindings, 0) && result(r, bindings)
            }
            (Shape::Declare { ctype, name, is_array }, op) => {
                self.declaration(ctype, name, *is_array, op, id, bindings)
            }
            _ => false,
        }
    }

    pub(super) fn target(
        &self,
        pattern: &Expr,
        argument: Argument,
        bindings: &mut Bindings,
    ) -> bool {
        match pattern {
            Expr::Any | Expr::Name(_) => true,
            Expr::Var(var) => self.bind(*var, argument, bindings),
            _ => false,
        }
    }

    fn named_target(&self, pattern: &Expr, variable: &str) -> bool {
        match pattern {
            Expr::Name(name) => name == variable,
            _ => true,
        }
    }

    fn declaration(
        &self,
        ctype: &TypeName,
        name: &Expr,
        is_array: bool,
        op: &Op,
        id: program::InstId,
        bindings: &mut Bindings,
    ) -> bool {
        let (variable, argument) = match op {
            Op::Uninit { variable } => (*variable, Argument::Operand(Operand::Inst(id))),
            Op::UninitMemory { ptr, variable, .. } => (*variable, Argument::Operand(*ptr)),
            _ => return false,
        };
        let variable = &self.body.variables[variable];
        let declared = facts::stripped(self.program, variable.ctype);
        let (declared_array, named_type) = match declared {
            program::CType::Array { element, .. } => (true, *element),
            _ => (false, variable.ctype),
        };
        (!is_array || declared_array)
            && self.type_matches(ctype, if is_array { named_type } else { variable.ctype })
            && self.target(name, argument, bindings)
            && self.named_target(name, &variable.name)
    }

    pub(super) fn call(
        &self,
        callee: &Expr,
        patterns: &[Expr],
        call: &Call,
        bindings: &mut Bindings,
        depth: u32,
    ) -> bool {
        if !self.callee(callee, &call.callee, bindings) {
            return false;
        }
        let extra: &[usize] = match &call.callee {
            program::Callee::Function(id) => {
                let name = &self.program.functions[*id].name;
                let exact = matches!(callee, Expr::Name(pattern) if **pattern == **name);
                if exact { &[] } else { super::library_name(name).extra }
            }
            _ => &[],
        };
        let args: Vec<Operand> = call
            .args
            .iter()
            .enumerate()
            .filter(|(index, _)| !extra.contains(index))
            .map(|(_, arg)| *arg)
            .collect();
        for (index, pattern) in patterns.iter().enumerate() {
            if *pattern == Expr::Rest {
                bindings.rest = args[index.min(args.len())..].to_vec();
                return true;
            }
            match args.get(index) {
                Some(arg) if self.operand(pattern, *arg, bindings, depth + 1) => {}
                _ => return false,
            }
        }
        args.len() == patterns.len()
    }

    /// Whether an access is to the place a pattern describes.
    pub(super) fn place(
        &self,
        pattern: &Expr,
        access: &Access,
        bindings: &mut Bindings,
        depth: u32,
    ) -> bool {
        match pattern {
            Expr::Deref(pointer) => {
                let value = self.through_conversions(access.ptr);
                let is_part = matches!(value, Operand::Inst(inst)
                    if matches!(self.body.insts[inst].op, Op::Address(_)));
                access.path.is_empty()
                    && !is_part
                    && !is_variable(self, access.ptr)
                    && self.operand(pointer, access.ptr, bindings, depth)
            }
            Expr::Field { base, arrow, member } => {
                self.field(base, *arrow, member, access, bindings, depth)
            }
            Expr::Index(base, index) => match self.inside_global(access.ptr) {
                Some(global) => self.global_element((base, index), global, access, bindings),
                None => {
                    access.path.is_empty() && self.element(base, index, access.ptr, bindings, depth)
                }
            },
            _ => false,
        }
    }

    fn field(
        &self,
        base: &Expr,
        arrow: bool,
        member: &Expr,
        access: &Access,
        bindings: &mut Bindings,
        depth: u32,
    ) -> bool {
        let (object, own_path) = self.decompose(access.ptr);
        let mut steps = own_path.iter().chain(&access.path);
        let Some(step) = steps.rfind(|step| !matches!(step, PathStep::Index { .. })) else {
            return false;
        };
        let names: Vec<&str> = match step {
            PathStep::Field { record, member } => self.program.records[*record]
                .members
                .get(*member as usize)
                .map(|member| &*member.name)
                .into_iter()
                .collect(),
            PathStep::UnionMembers { record, members } => {
                let all = &self.program.records[*record].members;
                members.iter().filter_map(|m| all.get(*m as usize)).map(|m| &*m.name).collect()
            }
            PathStep::Index { .. } => return false,
        };
        // `p->x` needs a pointer, `s.x` a variable.
        arrow != is_variable(self, object)
            && match member {
                Expr::Any => true,
                Expr::Name(name) => names.contains(&name.as_str()),
                Expr::Var(var) => match names.first() {
                    Some(name) => bindings.bind(*var, Argument::Member((*name).into())),
                    None => false,
                },
                _ => false,
            }
            && match self.inside_global(object) {
                Some(global) => self.target(base, Argument::Global(global), bindings),
                None => self.operand(base, object, bindings, depth),
            }
    }

    /// The global that a constant address lies in.
    fn inside_global(&self, ptr: Operand) -> Option<program::GlobalId> {
        let Operand::Const(id) = self.through_conversions(ptr) else { return None };
        match self.program.constants.get(id) {
            Some(program::Const::Global { global, .. }) => Some(*global),
            _ => None,
        }
    }

    /// `table[3]` of a global array: its address is a constant.
    fn global_element(
        &self,
        (base, index): (&Expr, &Expr),
        global: program::GlobalId,
        access: &Access,
        bindings: &mut Bindings,
    ) -> bool {
        let [PathStep::Index { term: None, constant }] = &*access.path else { return false };
        let named = match base {
            Expr::Name(name) => *self.program.globals[global].name == **name,
            _ => true,
        };
        named
            && self.constant_index(index, *constant, bindings)
            && self.target(base, Argument::Global(global), bindings)
    }

    fn constant_index(&self, index: &Expr, constant: i64, bindings: &mut Bindings) -> bool {
        match index {
            Expr::Any => true,
            Expr::Var(var) => self.bind(*var, Argument::Number(i128::from(constant)), bindings),
            Expr::Int(value) => *value == i128::from(constant),
            _ => false,
        }
    }

    fn element(
        &self,
        base: &Expr,
        index: &Expr,
        ptr: Operand,
        bindings: &mut Bindings,
        depth: u32,
    ) -> bool {
        let Operand::Inst(inst) = self.through_conversions(ptr) else { return false };
        let Op::Address(address) = &self.body.insts[inst].op else { return false };
        let Some(PathStep::Index { term, constant }) = address.path.last() else { return false };
        let found = match term.and_then(|term| address.terms.get(term as usize)) {
            Some(term) => self.operand(index, term.index, bindings, depth),
            None => self.constant_index(index, *constant, bindings),
        };
        found && self.operand(base, address.base, bindings, depth)
    }

    /// `&a[d]`, `&p->x`: an address computation, or the address of a variable.
    pub(super) fn address(
        &self,
        of: &Expr,
        value: Operand,
        bindings: &mut Bindings,
        depth: u32,
    ) -> bool {
        match of {
            Expr::Index(base, index) => self.element(base, index, value, bindings, depth),
            Expr::Field { base, arrow, member } => {
                let access = Access {
                    ptr: value,
                    size: 0,
                    ctype: program::TypeId::UNKNOWN,
                    path: Box::default(),
                    bit_field: None,
                    is_volatile: false,
                    is_atomic: false,
                };
                self.field(base, *arrow, member, &access, bindings, depth)
            }
            _ => is_variable(self, value) && self.operand(of, value, bindings, depth),
        }
    }

    /// The pointer an address starts from, and the path from there.
    fn decompose(&self, ptr: Operand) -> (Operand, &[PathStep]) {
        if let Operand::Inst(inst) = self.through_conversions(ptr)
            && let Op::Address(address) = &self.body.insts[inst].op
        {
            return (address.base, &address.path);
        }
        (ptr, &[])
    }

    fn type_matches(&self, pattern: &TypeName, ctype: program::TypeId) -> bool {
        let TypeName::Named { words, stars } = pattern else { return true };
        let mut current = ctype;
        for _ in 0..*stars {
            match facts::stripped(self.program, current) {
                program::CType::Pointer(inner) => current = *inner,
                _ => return false,
            }
        }
        facts::type_is_named(self.program, current, words)
    }

    fn terminator(&self, shape: &Shape, terminator: &Terminator) -> Vec<Bindings> {
        let mut bindings = self.fresh();
        match (shape, terminator) {
            (Shape::Branch(pattern), Terminator::Branch { condition, .. }) => {
                self.branch(pattern, *condition)
            }
            (Shape::Switch(pattern), Terminator::Switch { value, .. })
                if self.operand(pattern, *value, &mut bindings, 0) =>
            {
                vec![bindings]
            }
            (Shape::Return(None), Terminator::Return(None)) => vec![bindings],
            (Shape::Return(Some(pattern)), Terminator::Return(Some(value)))
                if self.operand(pattern, *value, &mut bindings, 0) =>
            {
                vec![bindings]
            }
            (Shape::Event { name, args }, Terminator::Return(value)) if name == "use" => {
                self.uses(args, value.iter().copied())
            }
            (Shape::Event { name, args }, _) if name == "use" => {
                self.uses(args, terminator.operand().into_iter())
            }
            _ => Vec::new(),
        }
    }

    /// The edges of a branch on which the pattern's condition holds.
    fn branch(&self, pattern: &Expr, condition: Operand) -> Vec<Bindings> {
        let mut found = Vec::new();
        let (positive, negative) = match pattern {
            Expr::Unary(UnaryOp::Not, inner) => (None, Some((**inner).clone())),
            Expr::Binary(op, left, right) => {
                let opposite = negated(*op).map(|op| Expr::Binary(op, left.clone(), right.clone()));
                (Some(pattern.clone()), opposite)
            }
            _ => (Some(pattern.clone()), None),
        };
        for (candidate, edge) in [(positive, true), (negative, false)] {
            let Some(candidate) = candidate else { continue };
            let mut bindings = self.fresh();
            if self.truth(&candidate, condition, &mut bindings) {
                bindings.edge = Some(edge);
                found.push(bindings);
            }
        }
        found
    }

    /// Whether a condition is `pattern`, or tests that `pattern` is not zero.
    fn truth(&self, pattern: &Expr, condition: Operand, bindings: &mut Bindings) -> bool {
        if let Expr::Binary(op, ..) = pattern
            && op.is_comparison()
        {
            return self.operand(pattern, condition, bindings, 0);
        }
        let zero = Expr::Binary(BinaryOp::Ne, pattern.clone().into(), Expr::Int(0).into());
        let mut tested = bindings.clone();
        if self.operand(&zero, condition, &mut tested, 0) {
            *bindings = tested;
            return true;
        }
        self.operand(pattern, condition, bindings, 0)
    }

    /// What an instruction announces by itself.
    fn events(&self, name: &str, args: &[VarIndex], id: program::InstId) -> Vec<Bindings> {
        let op = &self.body.insts[id].op;
        let size = |bytes: u64| Argument::Number(i128::from(bytes));
        let reads = matches!(name, "read" | "access");
        let writes = matches!(name, "write" | "access");
        let mut accesses: Vec<(Operand, Argument)> = Vec::new();
        match op {
            Op::Load(access) if reads => accesses.push((access.ptr, size(access.size))),
            Op::Store { access, .. } if writes => {
                accesses.push((access.ptr, size(access.size)));
            }
            Op::AtomicUpdate { access, .. } | Op::CompareExchange { access, .. }
                if reads || writes =>
            {
                accesses.push((access.ptr, size(access.size)));
            }
            Op::MemCopy { to, from, size, .. } => {
                if writes {
                    accesses.push((*to, self.size_argument(*size)));
                }
                if reads {
                    accesses.push((*from, self.size_argument(*size)));
                }
            }
            Op::MemSet { to, size, .. } if writes => {
                accesses.push((*to, self.size_argument(*size)));
            }
            // A mask decides what is left of the other: it may be nothing.
            Op::Binary { op: program::BinaryOp::And, lhs, rhs, .. }
                if name == "use" && self.number(*lhs).or(self.number(*rhs)).is_none() => {}
            _ if name == "use" => return self.uses(args, used_operands(op).into_iter()),
            _ => {}
        }
        let bind = |(ptr, bytes): (Operand, Argument)| {
            let mut bindings = self.fresh();
            let values = [Argument::Operand(ptr), bytes];
            let fits =
                args.iter().zip(values).all(|(arg, value)| self.bind(*arg, value, &mut bindings));
            fits.then_some(bindings)
        };
        accesses.into_iter().filter_map(bind).collect()
    }

    fn size_argument(&self, operand: Operand) -> Argument {
        match self.number(operand) {
            Some(bytes) => Argument::Number(bytes),
            None => Argument::Operand(operand),
        }
    }

    fn uses(&self, args: &[VarIndex], operands: impl Iterator<Item = Operand>) -> Vec<Bindings> {
        let mut found: Vec<Bindings> = Vec::new();
        // Constants are never without a value.
        for operand in operands.filter(|operand| !matches!(operand, Operand::Const(_))) {
            let mut bindings = self.fresh();
            let fits = match args.first() {
                Some(var) => self.bind(*var, Argument::Operand(operand), &mut bindings),
                None => true,
            };
            if fits && !found.contains(&bindings) {
                found.push(bindings);
            }
        }
        found
    }
}

/// Whether a pointer is the address of a variable itself.
fn is_variable(matching: &Matching<'_>, ptr: Operand) -> bool {
    match ptr {
        Operand::Inst(inst) => {
            matches!(matching.body.insts[inst].op, Op::Alloca { count: None, .. })
        }
        Operand::Const(id) => {
            matches!(matching.program.constants.get(id), Some(program::Const::Global { .. }))
        }
        Operand::Param(_) => false,
    }
}

/// Operands whose value decides something; copies alone do not.
fn used_operands(op: &Op) -> Vec<Operand> {
    match op {
        Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => vec![*lhs, *rhs],
        Op::Negate(value) => vec![*value],
        Op::Select { condition, .. } => vec![*condition],
        Op::Address(address) => {
            let indices = address.terms.iter().map(|term| term.index);
            std::iter::once(address.base).chain(indices).collect()
        }
        Op::Load(access) => vec![access.ptr],
        Op::Store { access, .. } => vec![access.ptr],
        Op::Call(call) => call.args.to_vec(),
        _ => Vec::new(),
    }
}
