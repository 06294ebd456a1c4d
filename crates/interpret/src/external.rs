//! Functions of the C library that small programs use, and the tester's own.

use program::Function;

use crate::exec::Machine;
use crate::value::{Bits, Value, signed};
use crate::{FaultKind, Stop};

impl Machine<'_> {
    pub(crate) fn call_outside(
        &mut self,
        function: &Function,
        arguments: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let number = |index: usize| match arguments.get(index).and_then(Value::bits) {
            Some(bits) if bits.is_known() => Ok(bits.bits as u64),
            Some(_) => Err(Stop::Fault(FaultKind::Uninitialised)),
            None => Err(Stop::Unsupported(format!("arguments of {}", function.name))),
        };
        let pointer = |address: u64| Ok(Some(Value::known(u128::from(address))));
        match &*function.name {
            "out_int" => self.output.push((number(0)? as i64).to_string()),
            "out_float" => self.output.push(format!("{:016x}", number(0)?)),
            "in_int" => {
                let value = self.input.pop_front().unwrap_or(0);
                return Ok(Some(Value::known(u128::from(value as u32))));
            }
            "malloc" => return pointer(self.memory.allocate(number(0)?, true)?),
            "calloc" => {
                let size = number(0)?.checked_mul(number(1)?).ok_or(Stop::OutOfSteps)?;
                let address = self.memory.allocate(size, true)?;
                self.memory.fill(address, size, 0)?;
                return pointer(address);
            }
            "realloc" => {
                let (old, size) = (number(0)?, number(1)?);
                let new = self.memory.allocate(size, true)?;
                let kept = self.memory.size(old).unwrap_or(0).min(size);
                self.memory.copy(new, old, kept)?;
                self.memory.release(old)?;
                return pointer(new);
            }
            "free" => self.memory.release(number(0)?)?,
            "memcpy" | "memmove" => {
                self.memory.copy(number(0)?, number(1)?, number(2)?)?;
                return pointer(number(0)?);
            }
            "memset" => {
                self.memory.fill(number(0)?, number(2)?, number(1)? as u8)?;
                return pointer(number(0)?);
            }
            "strlen" => {
                let mut length = 0;
                while self.byte(number(0)? + length)? != 0 {
                    length += 1;
                }
                return pointer(length);
            }
            "memcmp" => return self.compare_bytes(number(0)?, number(1)?, number(2)?, false),
            "strcmp" => return self.compare_bytes(number(0)?, number(1)?, u64::MAX, true),
            "abs" => {
                let number = signed(number(0)?.into(), 32).unsigned_abs();
                return Ok(Some(Value::known(number)));
            }
            "exit" => return Err(Stop::Exit(number(0)? as i32)),
            "abort" | "__assert_fail" => return Err(Stop::Abort),
            "longjmp" | "_longjmp" | "siglongjmp" => {
                return Err(Stop::LongJump(number(0)?, (number(1)? as u32).max(1)));
            }
            name => return Err(Stop::Unsupported(format!("a call of {name}"))),
        }
        Ok(None)
    }

    fn byte(&self, address: u64) -> Result<u8, Stop> {
        let byte = self.memory.load(address, 1)?;
        byte.is_known().then_some(byte.bits as u8).ok_or(Stop::Fault(FaultKind::Uninitialised))
    }

    fn compare_bytes(
        &self,
        left: u64,
        right: u64,
        size: u64,
        ends_at_zero: bool,
    ) -> Result<Option<Value>, Stop> {
        let mut order = 0i32;
        for at in 0..size {
            let (a, b) = (self.byte(left + at)?, self.byte(right + at)?);
            order = i32::from(a) - i32::from(b);
            if order != 0 || ends_at_zero && a == 0 {
                break;
            }
        }
        Ok(Some(Bits::known(u128::from(order as u32)).into()))
    }
}
