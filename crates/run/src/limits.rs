//! What a run of the program may use.

use std::time::Duration;

use crate::sandbox::Bounds;

/// What a run of the program may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Events (value sites passed) of one run: the deterministic deadline.
    pub steps: u64,
    /// Wall clock, only as a backstop.
    pub time: Duration,
    /// Bytes of any file it writes.
    pub output: u64,
    /// Bytes of heap.
    pub memory: u64,
    /// Runs are in the sandbox, as strong as the system has it. Only a user who asks for it on
    /// the command line gets less.
    pub is_confined: bool,
}

impl Default for Limits {
    /// 200 million events, 20 seconds, 64 MiB of output, 1 GiB of memory, in the sandbox.
    fn default() -> Self {
        Self {
            steps: 200_000_000,
            time: Duration::from_secs(20),
            output: 64 << 20,
            memory: 1 << 30,
            is_confined: true,
        }
    }
}

impl Limits {
    pub(crate) fn bounds(&self) -> Bounds {
        // The runtime reserves address space it never touches: see crates/rt/c/heap.c.
        const RESERVED: u64 = 4 << 30;
        let address_space = Some(self.memory.saturating_add(RESERVED));
        Bounds { time: self.time, file_size: self.output, address_space }
    }
}
