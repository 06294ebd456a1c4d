//! The file shared with a program run for execution suppression, field for field as
//! `c/suppress/suppress.h` has it.

pub const MAGIC: u64 = 0x6372_6173_6866_6631;
pub const MAX_POINTS: usize = 256;
pub const MAX_SITES: usize = 32;
pub const MAX_CULPRITS: usize = 20;
pub const MAX_STACK: usize = 64;
pub const MAX_GLOBALS: usize = 8192;
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

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Definition {
    pub site: u32,
    pub origin: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Point {
    pub event: u32,
    pub site: u32,
    pub address: u64,
    pub object: [u8; 112],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct WholeSite {
    pub site: u32,
    pub from: u32,
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
    pub points: [u32; MAX_POINTS],
    pub sites: [WholeSite; MAX_SITES],
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crash_file_is_as_suppress_h_asserts() {
        assert_eq!(std::mem::offset_of!(CrashFile, failure), 1336);
        assert_eq!(size_of::<CrashFile>(), 36024);
    }
}
