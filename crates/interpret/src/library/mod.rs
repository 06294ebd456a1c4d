//! Functions of the C library, as far as programs that are searched or replayed use them, and
//! the tester's own.

mod format;
mod numbers;
mod numerals;
mod stdio;
mod strings;

use program::{Function, Ty};

use crate::exec::Machine;
use crate::value::{Bits, Value, signed};
use crate::{FaultKind, Stop};

/// The arguments of a call, checked as they are asked for.
pub(crate) struct Given<'a> {
    name: &'a str,
    values: &'a [Value],
}

impl Given<'_> {
    /// An argument, where it has been set.
    pub fn known(&self, index: usize) -> Option<Bits> {
        self.values.get(index).and_then(Value::bits).filter(|bits| bits.is_known())
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
        values: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let given = Given { name: &function.name, values };
        for part in [
            Self::call_choice,
            Self::call_tester,
            Self::call_heap,
            Self::call_string,
            Self::call_number,
            Self::call_stdio,
            Self::call_process,
        ] {
            if let Some(result) = part(self, &function.name, &given)? {
                return Ok(result);
            }
        }
        let takes_pointers = function.params.iter().any(|param| param.ty == Ty::Ptr);
        let is_number = matches!(function.result, Ty::Int(_) | Ty::Void);
        if takes_pointers || !is_number || function.is_variadic {
            return Err(Stop::Unsupported(format!("a call of {}", function.name)));
        }
        self.outside(function.result)
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

    fn call_heap(&mut self, name: &str, given: &Given) -> Known {
        let address = match name {
            "malloc" => {
                let size = given.bits(0)?;
                let size = self.pinned(size) as u64;
                self.memory.allocate(size, true)?
            }
            "calloc" => {
                let (count, size) = (given.bits(0)?, given.bits(1)?);
                let (count, size) = (self.pinned(count) as u64, self.pinned(size) as u64);
                let size = count.checked_mul(size).ok_or(Stop::OutOfSteps)?;
                let address = self.memory.allocate(size, true)?;
                self.memory.fill(address, size, Bits::known(0))?;
                address
            }
            "realloc" => {
                let (old, size) = (given.bits(0)?, given.bits(1)?);
                let (old, size) = (self.pinned(old) as u64, self.pinned(size) as u64);
                let new = self.memory.allocate(size, true)?;
                let kept = self.memory.size(old).unwrap_or(0).min(size);
                self.memory.copy(new, old, kept)?;
                self.memory.release(old)?;
                new
            }
            "free" => {
                let pointer = given.bits(0)?;
                let address = self.pinned(pointer) as u64;
                self.memory.release(address)?;
                return Ok(Some(None));
            }
            _ => return Ok(None),
        };
        Ok(Some(Some(Value::known(u128::from(address)))))
    }

    fn call_process(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "exit" | "_exit" | "_Exit" => Err(Stop::Exit(given.bits(0)?.bits as i32)),
            "abort" | "__assert_fail" => Err(Stop::Abort),
            "longjmp" | "_longjmp" | "siglongjmp" => {
                let value = (given.bits(1)?.bits as u32).max(1);
                Err(Stop::LongJump(given.bits(0)?.bits as u64, value))
            }
            "getenv" => {
                let name = self.place(given, 0)?;
                let name = self.text_at(name, None)?;
                let name: Vec<u8> = name.into_iter().map(|byte| self.pinned(byte) as u8).collect();
                let address = self.environment(&name)?;
                pointer(address)
            }
            "srand" | "srandom" => Ok(Some(None)),
            "__errno_location" => {
                let address = self.library_object("errno", 4)?;
                Ok(Some(Some(Value::known(u128::from(address)))))
            }
            "time" | "clock" => Ok(Some(self.outside(Ty::Int(64))?)),
            _ => Ok(None),
        }
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
