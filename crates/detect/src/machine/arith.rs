//! Integer, pointer and floating-point operations on symbolic values.

use logic::{Comparison, FormulaId, Interval, Rounding, TermId, Terms};
use program::inst::FloatPredicate;
use program::{BinaryOp, ConversionKind, LocId, Predicate, Ty};

use super::context::Context;
use super::memory::{Memory, ObjectKind};
use super::symbols::SymbolKind;
use super::value::{Float, Value};

/// Operands of one operation, and what it may lean on.
pub struct Arith<'c, 'p> {
    pub context: &'c mut Context<'p>,
    pub memory: &'c Memory,
    pub loc: LocId,
}

impl Arith<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        &mut self.context.terms
    }

    /// An integer nobody knows, of this width.
    pub fn unknown_int(&mut self, bits: u32, signed: bool) -> Value {
        let domain = Interval::of_width(bits, signed);
        Value::Int(self.context.fresh(domain, SymbolKind::Unknown, "", self.loc))
    }

    pub fn unknown(&mut self, ty: Ty) -> Value {
        match ty {
            Ty::Int(1) => Value::Bool(self.context.fresh_bool(SymbolKind::Unknown, "", self.loc)),
            Ty::Int(bits) => self.unknown_int(bits, true),
            Ty::Ptr => self.unknown_int(64, false),
            Ty::Float(_) => self.unknown_float(),
            _ => Value::Unknown,
        }
    }

    pub fn unknown_float(&mut self) -> Value {
        let is_zero = self.context.fresh_bool(SymbolKind::Unknown, "", self.loc);
        Value::Float(Float { known: None, is_zero, name: None })
    }

    pub fn known_float(&mut self, number: f64) -> Value {
        let is_zero = if number == 0.0 { Terms::TRUE } else { Terms::FALSE };
        Value::Float(Float { known: Some(number), is_zero, name: None })
    }

    /// The value as an integer term congruent to its bits, where it is one.
    pub fn int(&mut self, value: Value) -> Option<TermId> {
        match value {
            Value::Int(term) => Some(term),
            Value::Bool(formula) => {
                let (one, zero) = (self.terms().constant(1), self.terms().constant(0));
                Some(self.terms().choice(formula, one, zero))
            }
            _ => None,
        }
    }

    pub fn wrap(&mut self, term: TermId, bits: u32, signed: bool) -> TermId {
        self.context.wrap(term, bits, signed)
    }

    pub fn binary(&mut self, op: BinaryOp, lhs: Value, rhs: Value, ty: Ty, nsw: bool) -> Value {
        if let Some(value) = self.pointer_arithmetic(op, lhs, rhs) {
            return value;
        }
        match ty {
            Ty::Int(1) => self.logical(op, lhs, rhs),
            Ty::Int(bits) => match (self.int(lhs), self.int(rhs)) {
                (Some(a), Some(b)) => self.integer(op, a, b, bits, nsw),
                _ => self.unknown(ty),
            },
            Ty::Float(_) => self.float(op, lhs, rhs),
            _ => Value::Unknown,
        }
    }

    fn logical(&mut self, op: BinaryOp, lhs: Value, rhs: Value) -> Value {
        let (a, b) = (self.truth(lhs), self.truth(rhs));
        let terms = &mut self.context.terms;
        Value::Bool(match op {
            BinaryOp::And | BinaryOp::Mul => terms.and(&[a, b]),
            BinaryOp::Or => terms.or(&[a, b]),
            _ => {
                let (not_a, not_b) = (terms.not(a), terms.not(b));
                let (left, right) = (terms.and(&[a, not_b]), terms.and(&[not_a, b]));
                terms.or(&[left, right])
            }
        })
    }

    fn integer(&mut self, op: BinaryOp, a: TermId, b: TermId, bits: u32, nsw: bool) -> Value {
        use BinaryOp::*;
        let signed = |arith: &mut Self, term| arith.wrap(term, bits, true);
        let unsigned = |arith: &mut Self, term| arith.wrap(term, bits, false);
        let term = match op {
            // What overflows is undefined: the operands count as they are read.
            Add | Sub | Mul if nsw => {
                let (a, b) = (signed(self, a), signed(self, b));
                match op {
                    Add => self.terms().add(a, b),
                    Sub => self.terms().sub(a, b),
                    _ => self.terms().mul(a, b),
                }
            }
            Add => self.terms().add(a, b),
            Sub => self.terms().sub(a, b),
            Mul => {
                let (a, b) = (unsigned(self, a), unsigned(self, b));
                self.terms().mul(a, b)
            }
            UnsignedDiv | UnsignedRem => {
                let (a, b) = (unsigned(self, a), unsigned(self, b));
                match op {
                    UnsignedDiv => self.terms().divide(Rounding::Floor, a, b),
                    _ => self.terms().remainder(Rounding::Floor, a, b),
                }
            }
            SignedDiv | SignedRem => {
                let (a, b) = (signed(self, a), signed(self, b));
                match op {
                    SignedDiv => self.terms().divide(Rounding::Zero, a, b),
                    _ => self.terms().remainder(Rounding::Zero, a, b),
                }
            }
            Shl => match self.shift_amount(b, bits) {
                Some(by) if nsw => {
                    let a = signed(self, a);
                    self.terms().shift_left(a, by)
                }
                Some(by) => self.terms().shift_left(a, by),
                None => return self.unknown_int(bits, true),
            },
            LogicalShr => match self.shift_amount(b, bits) {
                Some(by) => {
                    let a = unsigned(self, a);
                    self.terms().shift_right(a, by)
                }
                None => return self.unknown_int(bits, false),
            },
            ArithmeticShr => match self.shift_amount(b, bits) {
                Some(by) => {
                    let a = signed(self, a);
                    self.terms().shift_right(a, by)
                }
                None => return self.unknown_int(bits, true),
            },
            And | Or | Xor => {
                // Masks read best on non-negative numbers, all-ones (`~`) on signed ones.
                let all_ones = self.terms().as_constant(b) == Some(-1);
                let (a, b) = if all_ones {
                    (signed(self, a), b)
                } else {
                    (unsigned(self, a), unsigned(self, b))
                };
                let constant = |arith: &Self, term| arith.context.terms.as_constant(term).is_some();
                if !constant(self, a) && !constant(self, b) && a != b {
                    return self.mixed_bits(op, a, b);
                }
                match op {
                    And => self.terms().bit_and(a, b),
                    Or => self.terms().bit_or(a, b),
                    _ if all_ones => self.terms().bit_not(a),
                    _ => self.terms().bit_xor(a, b),
                }
            }
            _ => return self.unknown_int(bits, true),
        };
        Value::Int(term)
    }

    /// Bits of two unknown numbers mixed: some number of their size, as free as they are.
    fn mixed_bits(&mut self, op: BinaryOp, a: TermId, b: TermId) -> Value {
        let highs = (self.terms().range(a).high, self.terms().range(b).high);
        let (Some(x), Some(y)) = highs else { return self.unknown_int(64, false) };
        let high = match op {
            BinaryOp::And => x.min(y),
            _ => {
                let bits = 128 - x.max(y).max(1).leading_zeros();
                if bits >= 127 { i128::MAX } else { (1 << bits) - 1 }
            }
        };
        let sum = self.terms().add(a, b);
        let zero = self.terms().constant(0);
        let formula = self.terms().compare(Comparison::Eq, sum, zero);
        let symbols = self.context.symbols_in(formula);
        let is_chosen =
            |symbol: &logic::SymbolId| self.context.symbols.get(*symbol).kind == SymbolKind::Chosen;
        let chosen = !symbols.is_empty() && symbols.iter().all(is_chosen);
        let kind = if chosen { SymbolKind::Chosen } else { SymbolKind::Unknown };
        Value::Int(self.context.fresh(Interval::new(0, high.max(0)), kind, "", self.loc))
    }

    /// A shift by a constant within the width; other shifts are not followed.
    fn shift_amount(&mut self, by: TermId, bits: u32) -> Option<TermId> {
        let amount = self.terms().as_constant(by)?;
        (0..i128::from(bits)).contains(&amount).then_some(by)
    }

    fn pointer_arithmetic(&mut self, op: BinaryOp, lhs: Value, rhs: Value) -> Option<Value> {
        match (lhs, rhs, op) {
            (
                Value::Pointer { object: a, offset: x },
                Value::Pointer { object: b, offset: y },
                BinaryOp::Sub,
            ) => (a == b).then(|| Value::Int(self.terms().sub(x, y))),
            (Value::Pointer { object, offset }, Value::Int(by), BinaryOp::Add)
            | (Value::Int(by), Value::Pointer { object, offset }, BinaryOp::Add) => {
                Some(Value::Pointer { object, offset: self.terms().add(offset, by) })
            }
            (Value::Pointer { object, offset }, Value::Int(by), BinaryOp::Sub) => {
                Some(Value::Pointer { object, offset: self.terms().sub(offset, by) })
            }
            _ => None,
        }
    }

    fn float(&mut self, op: BinaryOp, lhs: Value, rhs: Value) -> Value {
        let (Value::Float(a), Value::Float(b)) = (lhs, rhs) else { return self.unknown_float() };
        if let (Some(x), Some(y)) = (a.known, b.known) {
            return self.known_float(match op {
                BinaryOp::FloatAdd => x + y,
                BinaryOp::FloatSub => x - y,
                BinaryOp::FloatMul => x * y,
                BinaryOp::FloatDiv => x / y,
                _ => x % y,
            });
        }
        match op {
            BinaryOp::FloatMul => {
                let is_zero = self.terms().or(&[a.is_zero, b.is_zero]);
                Value::Float(Float { known: None, is_zero, name: None })
            }
            BinaryOp::FloatDiv => {
                Value::Float(Float { known: None, is_zero: a.is_zero, name: None })
            }
            _ => self.unknown_float(),
        }
    }

    /// The value as a truth value: not zero, not null.
    pub fn truth(&mut self, value: Value) -> FormulaId {
        match value {
            Value::Bool(formula) => formula,
            Value::Int(term) => {
                let zero = self.terms().constant(0);
                self.terms().compare(Comparison::Ne, term, zero)
            }
            Value::Pointer { object, .. } => {
                let null = self.memory.get(object).null;
                self.terms().not(null)
            }
            Value::Function(_) => Terms::TRUE,
            Value::Float(float) => self.terms().not(float.is_zero),
            Value::Uninit(_) | Value::Unknown => {
                self.context.fresh_bool(SymbolKind::Unknown, "", self.loc)
            }
        }
    }

    pub fn compare(&mut self, predicate: Predicate, lhs: Value, rhs: Value, bits: u32) -> Value {
        match predicate {
            Predicate::FloatOrdered(p) | Predicate::FloatUnordered(p) => {
                return self.compare_floats(p, lhs, rhs);
            }
            _ => {}
        }
        let (comparison, signed) = match predicate {
            Predicate::Eq => (Comparison::Eq, None),
            Predicate::Ne => (Comparison::Ne, None),
            Predicate::SignedLt => (Comparison::Lt, Some(true)),
            Predicate::SignedLe => (Comparison::Le, Some(true)),
            Predicate::SignedGt => (Comparison::Gt, Some(true)),
            Predicate::SignedGe => (Comparison::Ge, Some(true)),
            Predicate::UnsignedLt => (Comparison::Lt, Some(false)),
            Predicate::UnsignedLe => (Comparison::Le, Some(false)),
            Predicate::UnsignedGt => (Comparison::Gt, Some(false)),
            _ => (Comparison::Ge, Some(false)),
        };
        if let Some(formula) = self.compare_pointers(comparison, lhs, rhs) {
            return Value::Bool(formula);
        }
        if let (Value::Bool(a), Value::Bool(b), None) = (lhs, rhs, signed) {
            let differ = self.logical(BinaryOp::Xor, Value::Bool(a), Value::Bool(b));
            let Value::Bool(differ) = differ else { return differ };
            let wanted =
                if comparison == Comparison::Ne { differ } else { self.terms().not(differ) };
            return Value::Bool(wanted);
        }
        let (Some(a), Some(b)) = (self.int(lhs), self.int(rhs)) else {
            return self.unknown(Ty::Int(1));
        };
        let signed = signed.unwrap_or_else(|| self.reads_better_signed(a, b, bits));
        let (a, b) = (self.wrap(a, bits, signed), self.wrap(b, bits, signed));
        Value::Bool(self.terms().compare(comparison, a, b))
    }

    /// Equality holds in either reading of the bits: take the one that needs no wrap.
    fn reads_better_signed(&mut self, a: TermId, b: TermId, bits: u32) -> bool {
        let signed = Interval::of_width(bits, true);
        let fits = |terms: &Terms, term| terms.range(term).is_within(signed);
        fits(&self.context.terms, a) && fits(&self.context.terms, b)
    }

    fn compare_pointers(
        &mut self,
        comparison: Comparison,
        lhs: Value,
        rhs: Value,
    ) -> Option<FormulaId> {
        let equal = match (lhs, rhs) {
            (Value::Pointer { object: a, offset: x }, Value::Pointer { object: b, offset: y }) => {
                if a == b {
                    return Some(self.terms().compare(comparison, x, y));
                }
                let (a, b) = (self.memory.get(a), self.memory.get(b));
                let foreign = |kind| matches!(kind, ObjectKind::Pointee);
                let (null_a, null_b) = (a.null, b.null);
                if foreign(a.kind) || foreign(b.kind) {
                    self.context.fresh_bool(SymbolKind::Unknown, "", self.loc)
                } else {
                    self.terms().and(&[null_a, null_b])
                }
            }
            (Value::Pointer { object, .. }, Value::Int(term))
                if self.terms().as_constant(term) == Some(0) && comparison.is_ordering() =>
            {
                let null = self.memory.get(object).null;
                return Some(self.above_null(comparison, null));
            }
            (Value::Int(term), Value::Pointer { object, .. })
                if self.terms().as_constant(term) == Some(0) && comparison.is_ordering() =>
            {
                let null = self.memory.get(object).null;
                return Some(self.above_null(comparison.mirrored(), null));
            }
            (Value::Pointer { object, .. }, Value::Int(term))
            | (Value::Int(term), Value::Pointer { object, .. }) => {
                if self.terms().as_constant(term) == Some(0) {
                    self.memory.get(object).null
                } else if self.terms().as_constant(term).is_some() {
                    Terms::FALSE
                } else {
                    self.context.fresh_bool(SymbolKind::Unknown, "", self.loc)
                }
            }
            (Value::Function(a), Value::Function(b)) if a == b => Terms::TRUE,
            (Value::Function(_), Value::Int(term)) | (Value::Int(term), Value::Function(_)) => {
                match self.terms().as_constant(term) {
                    Some(_) => Terms::FALSE,
                    None => self.context.fresh_bool(SymbolKind::Unknown, "", self.loc),
                }
            }
            (Value::Function(_), Value::Function(_) | Value::Pointer { .. })
            | (Value::Pointer { .. }, Value::Function(_)) => Terms::FALSE,
            _ => return None,
        };
        match comparison {
            Comparison::Eq => Some(equal),
            Comparison::Ne => Some(self.terms().not(equal)),
            _ => Some(self.context.fresh_bool(SymbolKind::Unknown, "", self.loc)),
        }
    }

    /// How a pointer that is null where `null` holds compares with null: nothing is below it.
    fn above_null(&mut self, comparison: Comparison, null: FormulaId) -> FormulaId {
        match comparison {
            Comparison::Ge => Terms::TRUE,
            Comparison::Lt => Terms::FALSE,
            Comparison::Gt => self.terms().not(null),
            _ => null,
        }
    }

    fn compare_floats(&mut self, predicate: FloatPredicate, lhs: Value, rhs: Value) -> Value {
        use FloatPredicate::*;
        let (Value::Float(a), Value::Float(b)) = (lhs, rhs) else {
            return self.unknown(Ty::Int(1));
        };
        if let (Some(x), Some(y)) = (a.known, b.known) {
            let holds = match predicate {
                Eq => x == y,
                Ne => x != y,
                Lt => x < y,
                Le => x <= y,
                Gt => x > y,
                Ge => x >= y,
                NumbersOnly | Always => true,
            };
            return Value::Bool(if holds { Terms::TRUE } else { Terms::FALSE });
        }
        let zero = |float: Float| float.known == Some(0.0);
        match predicate {
            Eq if zero(b) => return Value::Bool(a.is_zero),
            Eq if zero(a) => return Value::Bool(b.is_zero),
            Ne if zero(b) => return Value::Bool(self.terms().not(a.is_zero)),
            Ne if zero(a) => return Value::Bool(self.terms().not(b.is_zero)),
            _ => {}
        }
        // An integer that was converted compares as that integer.
        if let (Some(term), Some(bound)) = (a.name, b.known)
            && bound.abs() < 1e30
        {
            return Value::Bool(self.compare_converted(predicate, term, bound));
        }
        if let (Some(bound), Some(term)) = (a.known, b.name)
            && bound.abs() < 1e30
        {
            return Value::Bool(self.compare_converted(mirrored(predicate), term, bound));
        }
        // The outcome is anyone's guess, but which side zero falls on is known.
        let outcome = self.context.fresh_bool(SymbolKind::Unknown, "", self.loc);
        let (float, bound, predicate) = match (a.known, b.known) {
            (_, Some(bound)) => (a, bound, predicate),
            (Some(bound), _) => (b, bound, mirrored(predicate)),
            _ => return Value::Bool(outcome),
        };
        let zero_satisfies = match predicate {
            Eq => 0.0 == bound,
            Ne => 0.0 != bound,
            Lt => 0.0 < bound,
            Le => 0.0 <= bound,
            Gt => 0.0 > bound,
            Ge => 0.0 >= bound,
            NumbersOnly | Always => true,
        };
        let non_zero = self.terms().not(float.is_zero);
        Value::Bool(if zero_satisfies {
            self.terms().or(&[float.is_zero, outcome])
        } else {
            self.terms().and(&[non_zero, outcome])
        })
    }

    /// An integer against a bound that need not be one.
    fn compare_converted(
        &mut self,
        predicate: FloatPredicate,
        term: TermId,
        bound: f64,
    ) -> FormulaId {
        let (below, above) = (bound.floor() as i128, bound.ceil() as i128);
        let is_integer = below == above;
        let (comparison, bound) = match predicate {
            FloatPredicate::Eq if !is_integer => return Terms::FALSE,
            FloatPredicate::Ne if !is_integer => return Terms::TRUE,
            FloatPredicate::Eq => (Comparison::Eq, below),
            FloatPredicate::Ne => (Comparison::Ne, below),
            FloatPredicate::Lt => (Comparison::Lt, above),
            FloatPredicate::Le => (Comparison::Le, below),
            FloatPredicate::Gt => (Comparison::Gt, below),
            FloatPredicate::Ge => (Comparison::Ge, above),
            FloatPredicate::NumbersOnly | FloatPredicate::Always => return Terms::TRUE,
        };
        let bound = self.terms().constant(bound);
        self.terms().compare(comparison, term, bound)
    }

    pub fn convert(&mut self, kind: ConversionKind, value: Value, from: Ty, to: Ty) -> Value {
        use ConversionKind::*;
        match kind {
            SignChange | Bits | PointerToInt | IntToPointer | FloatExtend | FloatTruncate => value,
            Truncate if to == Ty::Int(1) => match value {
                Value::Bool(_) => value,
                _ => match self.int(value) {
                    Some(term) => {
                        let bit = self.wrap(term, 1, false);
                        Value::Bool(self.truth(Value::Int(bit)))
                    }
                    None => self.unknown(to),
                },
            },
            Truncate => match self.int(value) {
                Some(term) => Value::Int(term),
                None => self.unknown(to),
            },
            ZeroExtend | SignExtend => match (self.int(value), from) {
                (Some(term), Ty::Int(bits)) => {
                    let negative_bool = bits == 1 && kind == SignExtend;
                    let term = self.wrap(term, bits, kind == SignExtend && !negative_bool);
                    Value::Int(if negative_bool { self.terms().negate(term) } else { term })
                }
                _ => self.unknown(to),
            },
            FloatToUnsigned | FloatToSigned => match value {
                Value::Float(Float { known: Some(number), .. }) if number.abs() < 1e30 => {
                    Value::Int(self.terms().constant(number.trunc() as i128))
                }
                _ => self.unknown(to),
            },
            UnsignedToFloat | SignedToFloat => match (self.int(value), from) {
                (Some(term), Ty::Int(bits)) => {
                    let term = self.wrap(term, bits, kind == SignedToFloat);
                    if let Some(number) = self.terms().as_constant(term) {
                        return self.known_float(number as f64);
                    }
                    let zero = self.terms().constant(0);
                    let is_zero = self.terms().compare(Comparison::Eq, term, zero);
                    Value::Float(Float { known: None, is_zero, name: Some(term) })
                }
                _ => self.unknown(to),
            },
        }
    }
}

fn mirrored(predicate: FloatPredicate) -> FloatPredicate {
    match predicate {
        FloatPredicate::Lt => FloatPredicate::Gt,
        FloatPredicate::Le => FloatPredicate::Ge,
        FloatPredicate::Gt => FloatPredicate::Lt,
        FloatPredicate::Ge => FloatPredicate::Le,
        other => other,
    }
}
