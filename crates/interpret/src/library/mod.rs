//! Functions of the C library, as far as programs that are searched or replayed use them, and
//! the tester's own.

mod clock;
mod ctype;
mod decimal;
mod descriptors;
mod files;
mod folders;
mod format;
mod heap;
pub(crate) mod maths;
mod numbers;
pub(crate) mod numerals;
mod options;
mod process;
mod reader;
mod scan;
mod sorting;
mod stdio;
mod strings;
mod text;
mod tokens;
mod unknown;
mod users;
mod wide;

pub(crate) use clock::Clocks;
pub(crate) use options::Options;

use program::Function;

use crate::exec::{Arguments, Machine};
use crate::memory::Reach;
use crate::value::{Bits, Value, signed};
use crate::{FaultKind, Stop};

/// Numbers `errno` may have.
pub(crate) const EINVAL: u32 = 22;
pub(crate) const ERANGE: u32 = 34;

/// The arguments of a call, checked as they are asked for.
pub(crate) struct Given<'a> {
    name: &'a str,
    values: &'a [Value],
    /// The member array each argument points into, where that is known.
    members: &'a [Option<Reach>],
}

impl Given<'_> {
    /// The member array an argument points into, where the call names it.
    pub fn member(&self, index: usize) -> Option<Reach> {
        self.members.get(index).copied().flatten()
    }

    /// An argument, where it has been set.
    pub fn known(&self, index: usize) -> Option<Bits> {
        self.values.get(index).and_then(Value::bits).filter(|bits| bits.is_known())
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn bits(&self, index: usize) -> Result<Bits, Stop> {
        match self.values.get(index).and_then(Value::bits) {
            Some(bits) if bits.is_known() => Ok(bits),
            Some(_) => Err(Stop::Fault(FaultKind::Uninitialised)),
            None => Err(Stop::Unsupported(format!("arguments of {}", self.name))),
        }
    }
}

/// What a library function returns; `None` where it is not known here.
pub(crate) type Known = Result<Option<Option<Value>>, Stop>;

impl Machine<'_> {
    pub(crate) fn call_library(
        &mut self,
        function: &Function,
        passed: &Arguments,
    ) -> Result<Option<Value>, Stop> {
        let name = &*function.name;
        let given = Given { name, values: &passed.values, members: &passed.members };
        for part in [
            Self::call_choice,
            Self::call_tester,
            Self::call_heap,
            Self::call_string,
            Self::call_token,
            Self::call_character,
            Self::call_number,
            Self::call_decimal,
            Self::call_stdio,
            Self::call_file,
            Self::call_descriptor,
            Self::call_folder,
            Self::call_sorting,
            Self::call_option,
            Self::call_clock,
            Self::call_math,
            Self::call_process,
            Self::call_user,
            Self::call_wide,
        ] {
            let result = part(self, name, &given);
            self.memory.fence = None;
            if let Some(result) = result? {
                return Ok(result);
            }
        }
        self.call_unknown(function, passed)
    }

    fn call_tester(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "out_int" => {
                let value = given.bits(0)?;
                self.output.push((value.bits as i64).to_string());
            }
            "out_float" => {
                let value = given.bits(0)?;
                self.output.push(format!("{:016x}", value.bits));
            }
            "in_int" => {
                let value = self.input.pop_front().unwrap_or(0);
                return Ok(Some(Some(Value::known(u128::from(value as u32)))));
            }
            _ => return Ok(None),
        }
        Ok(Some(None))
    }

    /// An object of the library itself, all zero at first.
    pub(crate) fn library_object(&mut self, name: &'static str, size: u64) -> Result<u64, Stop> {
        if let Some(address) = self.library.get(name) {
            return Ok(*address);
        }
        let address = self.memory.allocate(size, false)?;
        self.memory.fill(address, size, Bits::known(0))?;
        self.library.insert(name, address);
        Ok(address)
    }

    /// A byte on which the run depends.
    pub(crate) fn byte(&mut self, address: u64) -> Result<Bits, Stop> {
        let byte = self.memory.load(address, 1)?;
        byte.is_known().then_some(byte).ok_or(Stop::Fault(FaultKind::Uninitialised))
    }

    /// One step of a library function, so that none runs for ever.
    pub(crate) fn spend(&mut self) -> Result<(), Stop> {
        self.steps = self.steps.checked_sub(1).ok_or(Stop::OutOfSteps)?;
        Ok(())
    }
}

pub(crate) fn pointer(address: u64) -> Known {
    Ok(Some(Some(Value::known(u128::from(address)))))
}

pub(crate) fn int(value: i32) -> Known {
    Ok(Some(Some(Value::known(u128::from(value as u32)))))
}

pub(crate) fn as_int(bits: Bits) -> i128 {
    signed(bits.bits, 32)
}
