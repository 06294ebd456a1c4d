//! Allocation. It succeeds where the inputs do not say otherwise.

use super::{Given, Known, int, pointer};
use crate::Stop;
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, Value};
use crate::world::errno;

impl Machine<'_> {
    pub(crate) fn call_heap(&mut self, name: &str, given: &Given) -> Known {
        let allocates = matches!(
            name,
            "malloc"
                | "valloc"
                | "pvalloc"
                | "aligned_alloc"
                | "memalign"
                | "posix_memalign"
                | "calloc"
                | "realloc"
                | "reallocarray"
        );
        if allocates && self.fails(Failure::Allocation) {
            if name == "posix_memalign" {
                return int(errno::ENOMEM as i32);
            }
            self.set_errno(errno::ENOMEM)?;
            return pointer(0);
        }
        let address = match name {
            "malloc" | "valloc" | "pvalloc" => {
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
            "malloc_usable_size" => {
                let address = self.place(given, 0)?;
                return pointer(self.memory.size(address).unwrap_or(0));
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
