//! What is known of one number.

use program::Predicate;

/// A range of a signed number; pointers are 0 or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fact {
    lo: i64,
    hi: i64,
    not_zero: bool,
}

impl Fact {
    pub const ANY: Fact = Fact { lo: i64::MIN, hi: i64::MAX, not_zero: false };

    pub fn is_zero(self) -> bool {
        self.lo == 0 && self.hi == 0
    }

    pub fn is_negative(self) -> bool {
        self.hi < 0
    }

    pub fn is_not_zero(self) -> bool {
        self.not_zero || self.lo > 0 || self.hi < 0
    }

    pub fn number_is(number: i64) -> Self {
        Fact { lo: number, hi: number, not_zero: number != 0 }
    }

    pub fn zero_is(is_zero: bool) -> Self {
        if is_zero { Fact::number_is(0) } else { Fact { not_zero: true, ..Fact::ANY } }
    }

    pub fn number(self) -> Option<i64> {
        (self.lo == self.hi).then_some(self.lo)
    }
}

/// The fact, if the comparison holds too; `None` where it cannot.
pub fn narrow(fact: Fact, predicate: Predicate, number: i64) -> Option<Fact> {
    let mut new = fact;
    match predicate {
        Predicate::Eq => {
            (new.lo, new.hi) = (fact.lo.max(number), fact.hi.min(number));
            if number == 0 && fact.is_not_zero() {
                return None;
            }
        }
        Predicate::Ne => {
            if fact.number() == Some(number) {
                return None;
            }
            new.not_zero |= number == 0;
            if number == new.lo {
                new.lo = new.lo.saturating_add(1);
            }
            if number == new.hi {
                new.hi = new.hi.saturating_sub(1);
            }
        }
        Predicate::SignedLt => new.hi = new.hi.min(number.checked_sub(1)?),
        Predicate::SignedLe => new.hi = new.hi.min(number),
        Predicate::SignedGt => new.lo = new.lo.max(number.checked_add(1)?),
        Predicate::SignedGe => new.lo = new.lo.max(number),
        Predicate::UnsignedLt if number == 0 => return None,
        Predicate::UnsignedLt if fact.lo >= 0 && number > 0 => {
            new.hi = new.hi.min(number - 1);
        }
        Predicate::UnsignedLe if fact.lo >= 0 && number >= 0 => new.hi = new.hi.min(number),
        Predicate::UnsignedGt if fact.lo >= 0 && number >= 0 => {
            new.lo = new.lo.max(number.checked_add(1)?);
        }
        Predicate::UnsignedGe if fact.lo >= 0 && number >= 0 => new.lo = new.lo.max(number),
        _ => return Some(fact),
    }
    (new.lo <= new.hi && !(new.is_zero() && new.not_zero)).then_some(new)
}

pub fn mirrored(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::SignedLt => Predicate::SignedGt,
        Predicate::SignedLe => Predicate::SignedGe,
        Predicate::SignedGt => Predicate::SignedLt,
        Predicate::SignedGe => Predicate::SignedLe,
        Predicate::UnsignedLt => Predicate::UnsignedGt,
        Predicate::UnsignedLe => Predicate::UnsignedGe,
        Predicate::UnsignedGt => Predicate::UnsignedLt,
        Predicate::UnsignedGe => Predicate::UnsignedLe,
        other => other,
    }
}

pub fn negated(predicate: Predicate) -> Option<Predicate> {
    Some(match predicate {
        Predicate::Eq => Predicate::Ne,
        Predicate::Ne => Predicate::Eq,
        Predicate::SignedLt => Predicate::SignedGe,
        Predicate::SignedLe => Predicate::SignedGt,
        Predicate::SignedGt => Predicate::SignedLe,
        Predicate::SignedGe => Predicate::SignedLt,
        Predicate::UnsignedLt => Predicate::UnsignedGe,
        Predicate::UnsignedLe => Predicate::UnsignedGt,
        Predicate::UnsignedGt => Predicate::UnsignedLe,
        Predicate::UnsignedGe => Predicate::UnsignedLt,
        _ => return None,
    })
}
