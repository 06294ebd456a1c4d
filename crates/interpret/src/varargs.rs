//! Arguments of `...`, as x86-64 passes those that no register has room for.

use crate::Stop;
use crate::arithmetic::width;
use crate::exec::{Arguments, Machine};
use crate::value::{Bits, Value};

/// Register offsets that say all registers are used up.
const GENERAL_USED_UP: u128 = 48;
const FLOAT_USED_UP: u128 = 176;
pub const LIST_BYTES: u64 = 24;

impl Machine<'_> {
    /// Puts the arguments from the one of this index on where `va_arg` will look for them.
    pub(crate) fn lay_out(&mut self, passed: &Arguments, first: usize) -> Result<u64, Stop> {
        let mut pieces = Vec::new();
        let mut end = 0u64;
        for (index, (value, ty)) in passed.values.iter().zip(passed.tys).enumerate().skip(first) {
            let copied = passed.by_value.iter().find(|(copied, _)| *copied as usize == index);
            let (size, align) = match copied {
                Some((_, size)) => (*size, 8),
                None if width(*ty)? > 64 => (16, 16),
                None => (8, 8),
            };
            let start = end.next_multiple_of(align);
            pieces.push((start, size, value, copied.is_some()));
            end = start + size.next_multiple_of(8);
        }
        let area = self.memory.allocate(end, false)?;
        for (start, size, value, is_copied) in pieces {
            match value {
                _ if is_copied => self.memory.copy(area + start, self.address(value)?, size)?,
                Value::Bits(bits) => self.memory.store(area + start, size, *bits)?,
                Value::Parts(_) => {
                    return Err(Stop::Unsupported("an aggregate among variable arguments".into()));
                }
            }
        }
        Ok(area)
    }

    /// `va_start`.
    pub(crate) fn start_list(&mut self, list: u64, area: u64) -> Result<(), Stop> {
        self.memory.store(list, 4, Bits::known(GENERAL_USED_UP))?;
        self.memory.store(list + 4, 4, Bits::known(FLOAT_USED_UP))?;
        self.memory.store(list + 8, 8, Bits::known(u128::from(area)))?;
        self.memory.store(list + 16, 8, Bits::known(0))
    }
}
