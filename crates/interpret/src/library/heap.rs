//! Allocation. It always succeeds.

use super::{Given, Known, int};
use crate::Stop;
use crate::exec::Machine;
use crate::value::{Bits, Value};

impl Machine<'_> {
    pub(crate) fn call_heap(&mut self, name: &str, given: &Given) -> Known {
        let address = match name {
            "malloc" | "valloc" => {
                let size = self.place(given, 0)?;
                self.memory.allocate(size, true)?
            }
            "aligned_alloc" | "memalign" => {
                let size = self.place(given, 1)?;
                self.memory.allocate(size, true)?
            }
            "posix_memalign" => {
                let (to, size) = (self.place(given, 0)?, self.place(given, 2)?);
                let address = self.memory.allocate(size, true)?;
                self.memory.store(to, 8, Bits::known(u128::from(address)))?;
                return int(0);
            }
            "calloc" => {
                let (count, size) = (self.place(given, 0)?, self.place(given, 1)?);
                let size = count.checked_mul(size).ok_or(Stop::OutOfSteps)?;
                let address = self.memory.allocate(size, true)?;
                self.memory.fill(address, size, Bits::known(0))?;
                address
            }
            "realloc" => {
                let (old, size) = (self.place(given, 0)?, self.place(given, 1)?);
                self.reallocate(old, size)?
            }
            "reallocarray" => {
                let (old, count) = (self.place(given, 0)?, self.place(given, 1)?);
                let size = self.place(given, 2)?.checked_mul(count).ok_or(Stop::OutOfSteps)?;
                self.reallocate(old, size)?
            }
            "free" | "cfree" => {
                let address = self.place(given, 0)?;
                self.memory.release(address)?;
                return Ok(Some(None));
            }
            _ => return Ok(None),
        };
        Ok(Some(Some(Value::known(u128::from(address)))))
    }

    fn reallocate(&mut self, old: u64, size: u64) -> Result<u64, Stop> {
        let new = self.memory.allocate(size, true)?;
        let kept = self.memory.size(old).unwrap_or(0).min(size);
        self.memory.copy(new, old, kept)?;
        self.memory.release(old)?;
        Ok(new)
    }
}
