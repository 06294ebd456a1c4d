//! The file shared with a program run for execution suppression, field for field as
//! `c/suppress/suppress.h` has it.

pub const MAGIC: u64 = 0x6372_6173_6866_6631;
pub const MAX_POINTS: usize = 256;
pub const MAX_SITES: usize = 32;
pub const MAX_CULPRITS: usize = 20;
pub const MAX_STACK: usize = 64;
pub const MAX_GLOBALS: usize = 8192;
pub const MAX_THREADS: usize = 256;
pub const MAX_RACES: usize = 8;
pub const MAX_WAITS: usize = 16;
pub const ACCESS_STACK: usize = 24;
/// The bit of a label that says corrupt.
pub const CORRUPT: u32 = 1 << 31;
/// The output is not compared.
pub const NOT_COMPARED: u64 = u64::MAX;

/// How a run failed.
pub mod failure {
    pub const NONE: u32 = 0;
    pub const SIGNAL: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const DOUBLE_FREE: u32 = 3;
    pub const INVALID_FREE: u32 = 4;
    pub const HEAP_OVERRUN: u32 = 5;
    pub const RETURN: u32 = 6;
    pub const OUTPUT: u32 = 7;
    pub const STACK: u32 = 8;
    pub const MEMORY: u32 = 9;
    pub const TOO_LONG: u32 = 10;
    pub const FORKED: u32 = 11;
    pub const THREADS: u32 = 12;
    pub const DEADLOCK: u32 = 13;
}

/// Which thread runs next.
pub mod policy {
    /// Each until it waits or has had its share.
    pub const IN_TURN: u32 = 0;
    /// By random priorities that change at random steps.
    pub const PRIORITIES: u32 = 1;
    /// Random ones for random numbers of steps.
    pub const RANDOM: u32 = 2;
    /// As recorded.
    pub const REPLAY: u32 = 3;
}

/// What a thread waits for.
pub mod wait {
    pub const MUTEX: u32 = 0;
    pub const RWLOCK: u32 = 1;
    pub const CONDITION: u32 = 2;
    pub const SEMAPHORE: u32 = 3;
    pub const JOIN: u32 = 4;
    pub const BARRIER: u32 = 5;
    pub const ONCE: u32 = 6;
}

/// What a value was used for where the run failed.
pub mod role {
    pub const BASE: u32 = 0;
    pub const INDEX: u32 = 1;
    pub const PREDICATE: u32 = 2;
    pub const CONTENT: u32 = 3;
    /// And the argument's number.
    pub const ARGUMENT: u32 = 16;
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Culprit {
    pub label: u32,
    pub role: u32,
    pub value: u64,
}

/// A definition: definitions are numbered in each thread for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Event {
    pub thread: u32,
    pub event: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Definition {
    pub event: Event,
    /// Who put the value where it was found, if it was only handed on.
    pub store: Event,
    pub site: u32,
    pub store_site: u32,
    /// Among the events of all threads.
    pub order: u32,
    pub pad: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Point {
    pub thread: u32,
    pub event: u32,
    pub site: u32,
    pub pad: u32,
    pub address: u64,
    pub object: [u8; 112],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct WholeSite {
    pub site: u32,
    pub thread: u32,
    pub from: u32,
    pub pad: u32,
}

/// Thread `from` runs until it has done so many synchronisations, and so many accesses to
/// shared memory since the last one; then `to` runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Switch {
    pub from: u32,
    pub to: u32,
    pub syncs: u32,
    pub steps: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Access {
    pub thread: u32,
    pub site: u32,
    pub is_write: u32,
    pub instance: u32,
    pub syncs: u32,
    pub steps: u32,
    pub depth: u32,
    pub is_atomic: u32,
    pub ready: [u64; MAX_THREADS / 64],
    pub stack: [u32; ACCESS_STACK],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Race {
    pub first: Access,
    pub second: Access,
    pub value: u64,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Wait {
    pub thread: u32,
    pub site: u32,
    pub kind: u32,
    pub holder: u32,
    pub holder_site: u32,
    pub pad: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CrashFile {
    pub magic: u64,
    pub file_size: u64,
    pub memory_limit: u64,
    pub output_differs_at: u64,
    pub layouts_at: u64,
    pub n_points: u32,
    pub n_sites: u32,
    pub check_heap_at_exit: u32,
    pub pad: u32,
    pub points: [Event; MAX_POINTS],
    pub sites: [WholeSite; MAX_SITES],
    pub schedule_at: u64,
    pub recorded_at: u64,
    pub seed: u64,
    pub horizon: u64,
    pub policy: u32,
    pub n_changes: u32,
    pub n_schedule: u32,
    pub recorded_room: u32,
    pub watched: Event,
    pub watched_at: u64,
    pub watched_size: u32,
    pub is_altered: u32,
    pub held: u32,
    pub held_syncs: u32,
    pub held_steps: u32,
    pub instead: u32,
    pub second: u32,
    pub second_site: u32,
    pub second_instance: u32,
    pub pad2: u32,
    pub failure: u32,
    pub signal: i32,
    pub site: u32,
    pub n_culprits: u32,
    pub fault_address: u64,
    pub events: u64,
    pub culprits: [Culprit; MAX_CULPRITS],
    pub definitions: [Definition; MAX_CULPRITS],
    pub n_reached: u32,
    pub depth: u32,
    pub stack: [u32; MAX_STACK],
    pub object: [u8; 112],
    pub reached: [Point; MAX_POINTS],
    pub finished: u32,
    pub attached: u32,
    pub touched: [u8; MAX_GLOBALS / 8],
    pub thread: u32,
    pub n_threads: u32,
    pub steps: u64,
    pub n_recorded: u32,
    pub n_races: u32,
    pub location: u64,
    pub location_size: u32,
    pub n_waits: u32,
    pub second_seen: u32,
    pub pad3: u32,
    pub second_value: u64,
    pub races: [Race; MAX_RACES],
    pub waits: [Wait; MAX_WAITS],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crash_file_is_as_suppress_h_asserts() {
        assert_eq!(std::mem::offset_of!(CrashFile, failure), 2720);
        assert_eq!(size_of::<CrashFile>(), 43000);
    }
}
