//! Values as C expressions.

use rustc_hash::FxHashMap;

use crate::{
    BinaryOp, Body, Callee, ConversionKind, ConversionOrigin, FloatPredicate, Function, FunctionId,
    Inst, InstId, Op, Operand, Predicate, Program, TypeId, VarId, Variable,
};

/// How deep an expression is shown.
const MAX_DEPTH: u32 = 8;
/// Expressions longer than this are shown less deep.
const MAX_LENGTH: usize = 120;

/// How tightly an expression holds together, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Conditional,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Add,
    Multiply,
    Unary,
    Primary,
}

/// An expression and how tightly it holds together.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub text: String,
    pub level: Level,
}

impl Text {
    pub fn primary(text: String) -> Self {
        Self { text, level: Level::Primary }
    }

    pub fn unary(text: String) -> Self {
        Self { text, level: Level::Unary }
    }

    pub fn number(value: i64) -> Self {
        let level = if value < 0 { Level::Unary } else { Level::Primary };
        Self { text: value.to_string(), level }
    }

    /// The text, in parentheses unless it holds together as tightly as that.
    pub fn at_least(&self, level: Level) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// Renders the values of one function.
pub struct Renderer<'a> {
    pub(super) program: &'a Program,
    pub(super) function: &'a Function,
    /// The variable each value was first assigned to.
    names: FxHashMap<Operand, VarId>,
    /// Show operands by number, as the printed form of instructions does.
    pub(super) by_number: bool,
}

impl<'a> Renderer<'a> {
    pub fn new(program: &'a Program, function: FunctionId) -> Self {
        let function = &program.functions[function];
        let mut names = FxHashMap::default();
        if let Some(body) = &function.body {
            // A constant and the address of a variable say more than a name for them.
            let needs_name = |value| match value {
                Operand::Const(_) => false,
                Operand::Param(_) => true,
                Operand::Inst(inst) => {
                    !matches!(body.insts[inst].op, Op::Alloca { variable: Some(_), .. })
                }
            };
            for inst in &body.insts {
                if let Op::Bind { variable, value } = inst.op
                    && needs_name(value)
                {
                    names.entry(value).or_insert(variable);
                }
            }
        }
        for (index, param) in function.params.iter().enumerate() {
            if let Some(variable) = param.variable {
                names.insert(Operand::Param(index as u32), variable);
            }
        }
        Self { program, function, names, by_number: false }
    }

    /// The operand as C-like text, cut short where deep or long.
    pub fn expr(&self, operand: Operand) -> String {
        let mut depth = MAX_DEPTH;
        loop {
            let text = self.value(operand, depth).text;
            if text.len() <= MAX_LENGTH || depth == 1 {
                return text;
            }
            depth -= 1;
        }
    }

    /// What the pointer points to, as an lvalue.
    pub fn pointee(&self, pointer: Operand) -> String {
        self.lvalue(&self.place(pointer, MAX_DEPTH)).text
    }

    /// What the instruction reads or writes in memory, as an lvalue.
    pub fn accessed_by(&self, inst: InstId) -> Option<String> {
        match &self.body_inst(inst).op {
            Op::Load(access)
            | Op::Store { access, .. }
            | Op::AtomicUpdate { access, .. }
            | Op::CompareExchange { access, .. } => Some(self.accessed(access, MAX_DEPTH).text),
            _ => None,
        }
    }

    /// The source variable that holds the value, if one was assigned it.
    pub fn variable_of(&self, operand: Operand) -> Option<VarId> {
        self.names.get(&operand).copied()
    }

    pub(super) fn name(&self, operand: Operand) -> Option<String> {
        let variable = self.variable_of(operand)?;
        self.variable(variable).filter(|v| !v.name.is_empty()).map(|v| v.name.to_string())
    }

    pub(super) fn variable(&self, id: VarId) -> Option<&'a Variable> {
        self.function.body.as_ref()?.variables.get(id)
    }

    pub(super) fn variable_name(&self, id: VarId) -> String {
        match self.variable(id) {
            Some(variable) if !variable.name.is_empty() => variable.name.to_string(),
            _ => format!("<temporary {}>", id.0),
        }
    }

    /// The variable whose own copy a parameter passed in memory points to.
    pub(super) fn by_value_variable(&self, param: u32) -> Option<VarId> {
        let param = self.function.params.get(param as usize)?;
        param.by_value.and(param.variable)
    }

    pub(super) fn body(&self) -> &'a Body {
        self.function.body.as_ref().expect("only functions with a body have instructions")
    }

    pub(super) fn body_inst(&self, id: InstId) -> &'a Inst {
        &self.body().insts[id]
    }

    /// The C type of an operand, where known.
    pub fn ctype(&self, operand: Operand) -> TypeId {
        match operand {
            Operand::Inst(inst) => self.body_inst(inst).ctype,
            Operand::Param(index) => {
                self.function.params.get(index as usize).map_or(TypeId::UNKNOWN, |p| p.ctype)
            }
            Operand::Const(_) => TypeId::UNKNOWN,
        }
    }

    pub(super) fn value(&self, operand: Operand, depth: u32) -> Text {
        self.value_as(operand, TypeId::UNKNOWN, depth)
    }

    /// A value used with a type, which decides how a constant is written.
    pub(super) fn value_as(&self, operand: Operand, ctype: TypeId, depth: u32) -> Text {
        match operand {
            Operand::Const(id) => self.constant(id, ctype),
            Operand::Param(index) => {
                let name = self.name(operand).unwrap_or_else(|| format!("<parameter {index}>"));
                match self.by_value_variable(index) {
                    Some(_) => Text::unary(format!("&{name}")),
                    None => Text::primary(name),
                }
            }
            Operand::Inst(inst) if self.by_number && !self.is_variable(inst) => {
                let number = format!("%{}", inst.0);
                Text::primary(match self.name(self.unconverted(operand)) {
                    Some(name) => format!("{number}({name})"),
                    None => number,
                })
            }
            Operand::Inst(inst) => match self.name(operand) {
                Some(name) => Text::primary(name),
                None if depth == 0 => Text::primary("...".to_owned()),
                None => self.computed(inst, depth - 1),
            },
        }
    }

    /// The value before the compiler widened it for its own purposes.
    fn unconverted(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Inst(id) if self.name(operand).is_none() => match &self.body_inst(id).op {
                Op::Convert(conversion) if conversion.origin == ConversionOrigin::Compiler => {
                    conversion.value
                }
                _ => operand,
            },
            _ => operand,
        }
    }

    /// Whether the instruction is just the storage of a variable.
    fn is_variable(&self, id: InstId) -> bool {
        matches!(self.body_inst(id).op, Op::Alloca { variable: Some(_), count: None, .. })
    }

    /// What an instruction computes, as an expression over its operands.
    pub(super) fn computed(&self, id: InstId, depth: u32) -> Text {
        match &self.body_inst(id).op {
            Op::Alloca { variable: Some(_), count: None, .. } => {
                self.address_of(&self.place(Operand::Inst(id), depth))
            }
            Op::Alloca { size, count: Some(count), .. } => {
                let count = self.value(*count, depth).at_least(Level::Multiply);
                let bytes = if *size == 1 { count } else { format!("{size} * {count}") };
                Text::primary(format!("alloca({bytes})"))
            }
            Op::Address(_) => self.address_of(&self.place_of_address(id, depth)),
            Op::Load(access) => self.accessed(access, depth),
            Op::Uninit { variable } => {
                Text::primary(format!("<uninitialised {}>", self.variable_name(*variable)))
            }
            Op::Binary { op, lhs, rhs, .. } => self.binary(*op, *lhs, *rhs, depth),
            Op::Negate(value) => {
                Text::unary(format!("-{}", self.value(*value, depth).at_least(Level::Primary)))
            }
            Op::Compare { predicate, lhs, rhs } => self.compare(*predicate, *lhs, *rhs, depth),
            Op::Convert(conversion) => {
                let value = self.value_as(conversion.value, conversion.from, depth);
                // Between pointers and integers nothing converts on its own.
                let is_cast = matches!(
                    conversion.kind,
                    ConversionKind::PointerToInt | ConversionKind::IntToPointer
                );
                let shows = conversion.origin == ConversionOrigin::Explicit || is_cast;
                if !shows || !conversion.to.is_known() {
                    return value;
                }
                let to = self.program.type_name(conversion.to);
                Text::unary(format!("({to}){}", value.at_least(Level::Unary)))
            }
            Op::Select { condition, then, otherwise } => {
                let condition = self.value(*condition, depth).at_least(Level::BitOr);
                let ctype = self.body_inst(id).ctype;
                let then = self.value_as(*then, ctype, depth).at_least(Level::BitOr);
                let otherwise = self.value_as(*otherwise, ctype, depth).text;
                let text = format!("{condition} ? {then} : {otherwise}");
                Text { text, level: Level::Conditional }
            }
            Op::Phi(edges) => self.joined(id, edges.iter().map(|(_, value)| *value)),
            Op::Call(call) => {
                let callee = match &call.callee {
                    Callee::Function(function) => {
                        self.program.functions[*function].name.to_string()
                    }
                    Callee::Pointer(pointer) => {
                        self.value(*pointer, depth).at_least(Level::Primary)
                    }
                    Callee::Intrinsic(name) => name.to_string(),
                };
                let types =
                    call.arg_ctypes.iter().copied().chain(std::iter::repeat(TypeId::UNKNOWN));
                let args: Vec<String> = call
                    .args
                    .iter()
                    .zip(types)
                    .map(|(arg, ctype)| self.value_as(*arg, ctype, depth).text)
                    .collect();
                Text::primary(format!("{callee}({})", args.join(", ")))
            }
            Op::AtomicUpdate { access, op, value } => {
                let place = self.accessed(access, depth).at_least(Level::Unary);
                let value = self.value(*value, depth).text;
                Text::primary(format!("__atomic_fetch_{op}(&{place}, {value})"))
            }
            Op::Extract { aggregate, indices } => {
                let indices: Vec<String> = indices.iter().map(u32::to_string).collect();
                let aggregate = self.value(*aggregate, depth).at_least(Level::Primary);
                Text::primary(format!("{aggregate}.<{}>", indices.join(".")))
            }
            Op::Opaque { name, args } => {
                let args: Vec<String> =
                    args.iter().map(|arg| self.value(*arg, depth).text).collect();
                Text::primary(format!("{name}({})", args.join(", ")))
            }
            _ => Text::primary(format!("%{}", id.0)),
        }
    }

    fn place_of_address(&self, id: InstId, depth: u32) -> super::place::Place {
        match &self.body_inst(id).op {
            Op::Address(address) => self.address_place(address, depth),
            _ => self.place(Operand::Inst(id), depth),
        }
    }

    /// A value that several paths bring: the variable they all mean, or just its number.
    fn joined(&self, id: InstId, values: impl Iterator<Item = Operand>) -> Text {
        let mut name: Option<String> = None;
        for value in values {
            if matches!(value, Operand::Const(_)) || value == Operand::Inst(id) {
                continue;
            }
            match (self.name(value), &name) {
                (Some(found), None) => name = Some(found),
                (Some(found), Some(known)) if found == *known => {}
                _ => return Text::primary(format!("%{}", id.0)),
            }
        }
        Text::primary(name.unwrap_or_else(|| format!("%{}", id.0)))
    }

    fn binary(&self, op: BinaryOp, lhs: Operand, rhs: Operand, depth: u32) -> Text {
        use BinaryOp::*;
        let (symbol, level) = match op {
            Add | FloatAdd => ("+", Level::Add),
            Sub | FloatSub => ("-", Level::Add),
            Mul | FloatMul => ("*", Level::Multiply),
            UnsignedDiv | SignedDiv | FloatDiv => ("/", Level::Multiply),
            UnsignedRem | SignedRem | FloatRem => ("%", Level::Multiply),
            Shl => ("<<", Level::Shift),
            LogicalShr | ArithmeticShr => (">>", Level::Shift),
            And => ("&", Level::BitAnd),
            Or => ("|", Level::BitOr),
            Xor => ("^", Level::BitXor),
        };
        if op == Xor && self.is_number(rhs, -1) {
            let value = self.value(lhs, depth).at_least(Level::Unary);
            return Text::unary(format!("~{value}"));
        }
        if op == Sub && self.is_number(lhs, 0) {
            return Text::unary(format!("-{}", self.value(rhs, depth).at_least(Level::Primary)));
        }
        let left = self.value_as(lhs, self.number_type(rhs), depth);
        let right = self.value_as(rhs, self.number_type(lhs), depth);
        // `n + -1` is how the compiler keeps `n - 1`.
        if op == Add
            && let Some(less) = right.text.strip_prefix('-').filter(|_| right.level == Level::Unary)
            && less.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Text { text: format!("{} - {less}", left.at_least(level)), level };
        }
        // Nobody remembers how bit operators bind.
        let is_bitwise = matches!(op, Shl | LogicalShr | ArithmeticShr | And | Or | Xor);
        let (left, right) = match is_bitwise {
            true if left.level == level => (left.text, right.at_least(Level::Unary)),
            true => (left.at_least(Level::Unary), right.at_least(Level::Unary)),
            false => (left.at_least(level), right.at_least(tighter(level))),
        };
        Text { text: format!("{left} {symbol} {right}"), level }
    }

    /// The other operand's type where it tells how to write a constant; characters
    /// are numbers in arithmetic.
    fn number_type(&self, other: Operand) -> TypeId {
        let ctype = self.ctype(other);
        match self.program.resolved_type(ctype) {
            crate::CType::Int { name, .. } if name.ends_with("char") => TypeId::UNKNOWN,
            _ => ctype,
        }
    }

    /// The comparison that an operand widens to an integer, if it does.
    fn truth_value(&self, operand: Operand) -> Option<Operand> {
        let mut found = operand;
        for _ in 0..MAX_DEPTH {
            let Operand::Inst(id) = found else { return None };
            if self.by_number || self.name(found).is_some() {
                return None;
            }
            match &self.body_inst(id).op {
                Op::Compare { .. } => return Some(found),
                Op::Convert(conversion) if conversion.origin == ConversionOrigin::Compiler => {
                    found = conversion.value;
                }
                _ => return None,
            }
        }
        None
    }

    fn is_number(&self, operand: Operand, number: i128) -> bool {
        let Operand::Const(id) = operand else { return false };
        matches!(&self.program.constants[id], crate::Const::Int { value, .. } if *value == number)
    }

    fn compare(&self, predicate: Predicate, lhs: Operand, rhs: Operand, depth: u32) -> Text {
        if self.is_number(rhs, 0)
            && let Some(truth) = self.truth_value(lhs)
            && matches!(predicate, Predicate::Eq | Predicate::Ne)
        {
            let truth = self.value(truth, depth);
            return match predicate {
                Predicate::Ne => truth,
                _ => Text::unary(format!("!{}", truth.at_least(Level::Unary))),
            };
        }
        let (symbol, level) = match predicate {
            Predicate::Eq => ("==", Level::Equality),
            Predicate::Ne => ("!=", Level::Equality),
            Predicate::SignedLt | Predicate::UnsignedLt => ("<", Level::Relation),
            Predicate::SignedLe | Predicate::UnsignedLe => ("<=", Level::Relation),
            Predicate::SignedGt | Predicate::UnsignedGt => (">", Level::Relation),
            Predicate::SignedGe | Predicate::UnsignedGe => (">=", Level::Relation),
            Predicate::FloatOrdered(float) | Predicate::FloatUnordered(float) => match float {
                FloatPredicate::Eq => ("==", Level::Equality),
                FloatPredicate::Ne => ("!=", Level::Equality),
                FloatPredicate::Lt => ("<", Level::Relation),
                FloatPredicate::Le => ("<=", Level::Relation),
                FloatPredicate::Gt => (">", Level::Relation),
                FloatPredicate::Ge => (">=", Level::Relation),
                FloatPredicate::NumbersOnly => ("<both numbers>", Level::Relation),
                FloatPredicate::Always => ("<always>", Level::Relation),
            },
        };
        let left = self.value_as(lhs, self.ctype(rhs), depth).at_least(tighter(level));
        let right = self.value_as(rhs, self.ctype(lhs), depth).at_least(tighter(level));
        Text { text: format!("{left} {symbol} {right}"), level }
    }
}

/// The level an operand on the right needs so that no parentheses are missing.
fn tighter(level: Level) -> Level {
    match level {
        Level::Conditional => Level::BitOr,
        Level::BitOr => Level::BitXor,
        Level::BitXor => Level::BitAnd,
        Level::BitAnd => Level::Equality,
        Level::Equality => Level::Relation,
        Level::Relation => Level::Shift,
        Level::Shift => Level::Add,
        Level::Add => Level::Multiply,
        Level::Multiply | Level::Unary | Level::Primary => Level::Unary,
    }
}
