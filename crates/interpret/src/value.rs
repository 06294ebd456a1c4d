//! Values: bits, which of them nobody has set, and how they follow from the inputs.

use logic::words::WordId;

/// What an instruction computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, pointer or small vector in its memory representation.
    Bits(Bits),
    /// An aggregate in registers, part by part.
    Parts(Vec<Value>),
}

/// Up to 128 bits. Those beyond the value's width are zero and set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    pub bits: u128,
    /// Ones where the value is indeterminate; `bits` is zero there.
    pub unset: u128,
    /// How the value follows from unknown inputs, where it does. Arithmetic on bits alone
    /// drops it; the [`Machine`](crate::Machine) computes it beside the bits.
    pub word: Option<WordId>,
}

impl Bits {
    pub fn known(bits: u128) -> Self {
        Self { bits, unset: 0, word: None }
    }

    /// Wholly indeterminate.
    pub fn unset(width: u32) -> Self {
        Self { bits: 0, unset: mask(width), word: None }
    }

    pub fn is_known(self) -> bool {
        self.unset == 0
    }

    pub fn with_word(self, word: Option<WordId>) -> Self {
        Self { word, ..self }
    }

    /// The lowest `width` bits.
    pub fn low(self, width: u32) -> Self {
        Self { bits: self.bits & mask(width), unset: self.unset & mask(width), word: None }
    }

    pub fn shifted_right(self, by: u32) -> Self {
        let shift = |bits: u128| bits.checked_shr(by).unwrap_or(0);
        Self { bits: shift(self.bits), unset: shift(self.unset), word: None }
    }

    pub fn shifted_left(self, by: u32, width: u32) -> Self {
        let shift = |bits: u128| bits.checked_shl(by).unwrap_or(0) & mask(width);
        Self { bits: shift(self.bits), unset: shift(self.unset), word: None }
    }

    /// Read as a number of `from` bits with a sign, as one of `to` bits.
    pub fn sign_extended(self, from: u32, to: u32) -> Self {
        let extend = |bits: u128| (signed(bits, from) as u128) & mask(to);
        Self { bits: extend(self.bits), unset: extend(self.unset), word: None }
    }
}

impl Value {
    pub fn known(bits: u128) -> Self {
        Value::Bits(Bits::known(bits))
    }

    /// The bits of a value that is no aggregate.
    pub fn bits(&self) -> Option<Bits> {
        match self {
            Value::Bits(bits) => Some(*bits),
            Value::Parts(_) => None,
        }
    }
}

impl From<Bits> for Value {
    fn from(bits: Bits) -> Self {
        Value::Bits(bits)
    }
}

/// Ones in the lowest `width` bits.
pub fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The lowest `width` bits as a number with a sign.
pub fn signed(bits: u128, width: u32) -> i128 {
    let unused = 128 - width.clamp(1, 128);
    ((bits << unused) as i128) >> unused
}
