//! Attributes of specifications, answered by facts alone.

use facts::Facts;
use facts::ranges::Nullness;
use logic::{Interval, TermId, Terms};
use program::{Body, Const, FunctionId, InstId, Op, Operand, Ty};
use rustc_hash::FxHashMap;
use spec::attribute::AttributeId;
use spec::lower::{Argument, Context as Lower, Origin, UNDEF, Unsupported};

use super::states::{Reach, States};
use super::unset::Unset;
use crate::code::Code;
use spec::text::{Text, name_code};

/// The terms that stand for values, by operand, the block they are read in, and sign.
#[derive(Default)]
pub struct Reading {
    numbers: FxHashMap<(Operand, program::BlockId, bool), TermId>,
}

/// What is known at one instruction on every path to it.
pub struct Known<'a, 'p> {
    pub code: &'a Code<'p>,
    pub facts: &'a Facts,
    pub unset: &'a Unset<'a, 'p>,
    pub states: &'a States,
    pub function: FunctionId,
    pub body: &'p Body,
    pub inst: InstId,
    /// Whether `Init` of a pointer means what it points to.
    pub speaks_of_memory: bool,
    pub terms: &'a mut Terms,
    pub reading: &'a mut Reading,
    pub reach: &'a mut Reach,
}

impl<'p> Known<'_, 'p> {
    fn text(&self) -> Text<'_, 'p> {
        Text {
            program: self.code.program,
            flow: self.code,
            function: self.function,
            inst: Some(self.inst),
        }
    }

    pub fn operand_ty(&self, operand: Operand) -> Ty {
        let program = self.code.program;
        let params = &program.functions[self.function].params;
        self.body.operand_ty(operand, params, &program.constants)
    }

    /// `Value(x)`: a number of the range it has here.
    fn value(&mut self, argument: &Argument) -> Option<TermId> {
        let operand = match argument {
            Argument::Operand(operand) => *operand,
            Argument::Number(number) => return Some(self.terms.constant(*number)),
            _ => return None,
        };
        match self.operand_ty(operand) {
            Ty::Int(bits) if bits > 1 => {
                let signed = self.text().is_signed(argument);
                self.number(operand, signed)
            }
            Ty::Ptr => Some(self.pointer(operand)),
            _ => None,
        }
    }

    pub fn number(&mut self, operand: Operand, signed: bool) -> Option<TermId> {
        let block = self.body.insts[self.inst].block;
        if let Some(term) = self.reading.numbers.get(&(operand, block, signed)) {
            return Some(*term);
        }
        let range = self.facts.range_at(self.code.program, self.function, block, operand)?;
        let (low, high) = if signed {
            (i128::from(range.signed_min), i128::from(range.signed_max))
        } else {
            (i128::from(range.unsigned_min), i128::from(range.unsigned_max))
        };
        if low > high {
            return None;
        }
        let symbol = self.terms.fresh_symbol(Interval::new(low, high));
        let term = self.terms.symbol(symbol);
        self.reading.numbers.insert((operand, block, signed), term);
        Some(term)
    }

    /// A pointer is a number that is zero or not.
    fn pointer(&mut self, operand: Operand) -> TermId {
        let program = self.code.program;
        let (function, inst) = (self.function, self.inst);
        let is_good =
            matches!(self.facts.nullness_at(program, function, inst, operand), Nullness::NotNull)
                || self.facts.dereferenced_before(program, function, inst, operand).is_some();
        let low = i128::from(is_good);
        let symbol = self.terms.fresh_symbol(Interval::new(low, i128::from(u64::MAX)));
        self.terms.symbol(symbol)
    }

    /// 1 where the value was surely set; unknown otherwise.
    fn initialized(&mut self, argument: &Argument) -> Option<TermId> {
        let Argument::Operand(operand) = argument else { return None };
        if self.speaks_of_memory && self.operand_ty(*operand) == Ty::Ptr {
            return None;
        }
        (!self.unset.may_be(self.function, *operand)).then(|| self.terms.constant(1))
    }

    /// A state that nothing on the way here can have given the object.
    fn state(&mut self) -> Option<TermId> {
        let is_untouched = !self.states.may_be_set(self.function, self.body, self.inst, self.reach);
        is_untouched.then(|| self.terms.constant(UNDEF))
    }
}

impl Lower for Known<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        self.terms
    }

    fn tracked(
        &mut self,
        attribute: AttributeId,
        args: &[Argument],
        _domain: Interval,
    ) -> Result<TermId, Unsupported> {
        let known = match (attribute.name(), args.first()) {
            (_, None) | ("Len" | "WLen" | "Input", _) => None,
            ("Value", Some(argument)) => self.value(argument),
            ("Size", Some(argument)) => self.room(argument),
            ("Offset", Some(argument)) => self.offset(argument),
            ("Init", Some(argument)) => self.initialized(argument),
            (_, Some(_)) => self.state(),
        };
        known.ok_or(Unsupported::UnknownFact(attribute))
    }

    fn fact(&mut self, attribute: AttributeId, args: &[Argument]) -> Option<i128> {
        self.text().fact(attribute, args)
    }

    fn source(&mut self, args: &[Argument]) -> Option<Argument> {
        spec::facts::source(&self.code.program.functions[self.function], args)
    }

    fn fresh(&mut self, _origin: Origin) -> TermId {
        let symbol = self.terms.fresh_symbol(Interval::ALL);
        self.terms.symbol(symbol)
    }

    fn name_code(&mut self, name: &str) -> i128 {
        name_code(name)
    }

    fn constant_string(&mut self, argument: &Argument) -> Option<Vec<u8>> {
        spec::facts::literal_bytes(self.code.program, argument)
    }

    fn type_range(&mut self, argument: &Argument) -> Option<Interval> {
        let program = self.code.program;
        let function = &program.functions[self.function];
        spec::facts::type_range(program, spec::facts::c_type(program, function, argument)?)
    }
}

/// The global a constant is the address of, and the bytes into it.
pub fn global_of(code: &Code, operand: Operand) -> Option<(program::GlobalId, i64)> {
    let Operand::Const(id) = operand else { return None };
    match &code.program.constants[id] {
        Const::Global { global, offset } => Some((*global, *offset)),
        _ => None,
    }
}

/// The storage an instruction makes, where its size is fixed.
pub fn storage_of(body: &Body, operand: Operand) -> Option<u64> {
    let Operand::Inst(inst) = operand else { return None };
    match &body.insts[inst].op {
        Op::Alloca { size, count: None, .. } => Some(*size),
        _ => None,
    }
}
