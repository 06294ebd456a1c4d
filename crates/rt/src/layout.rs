//! The control file, field for field as `c/rt.h` has it.

/// First word of a control file.
pub const MAGIC: u64 = 0x0066_6972_7374_6661;

/// What the program is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    Plain = 0,
    Profile = 1,
    Replace = 2,
    Search = 3,
}

/// How a search proceeds.
pub mod flags {
    /// A process per replacement instead of snapshots.
    pub const FORK: u32 = 1;
    /// A statement is done at its first IVMP.
    pub const FIRST: u32 = 2;
    /// Only the four spanning values of each list.
    pub const SPANNING: u32 = 4;
    /// Run equivalent alternates too.
    pub const BRUTE_FORCE: u32 = 8;
    /// Only log what would be tried.
    pub const LIST: u32 = 16;
    /// Replace at every later execution with the same operands too.
    pub const SAME: u32 = 32;
    /// With [`SAME`]: operands of a comparison are the same if they relate alike.
    pub const RELATION: u32 = 128;
    /// Try the given mappings only, and log those that fail.
    pub const CHECK: u32 = 64;
    /// With [`SAME`]: replace at every later execution, whatever the operands.
    pub const ALWAYS: u32 = 256;
}

/// What the table of active statements says of one.
pub mod activity {
    pub const PASSIVE: u8 = 0;
    pub const ACTIVE: u8 = 1;
    /// Only its conditions are searched.
    pub const CONDITIONS: u8 = 3;
}

/// Why the runtime stopped.
pub mod status {
    pub const RUNNING: u32 = 0;
    pub const EXITED: u32 = 1;
    pub const OUT_OF_BUDGET: u32 = 2;
    pub const UNSAFE: u32 = 3;
    pub const TOO_LARGE: u32 = 4;
    pub const LOST: u32 = 5;
    pub const SEARCHED: u32 = 6;
}

/// The size that says that a stream is not compared.
pub const NOT_COMPARED: u64 = u64::MAX;

/// The page in front of the coverage bytes: countdown and leaves.
pub const SHARED_PAGE: u64 = 4096;

/// Places for leaves.
pub const MAX_LEAVES: usize = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Control {
    pub magic: u64,
    pub mode: u32,
    pub flags: u32,
    pub budget: u64,
    pub replaced_budget: u64,
    pub target_event: u64,
    pub target_value: u64,
    pub target_site: u32,
    pub n_sites: u32,
    pub memory_limit: u64,
    pub expected_exit: i32,
    pub seconds: u32,
    pub coverage_at: u64,
    pub sites_at: u64,
    pub lists_at: u64,
    pub values_at: u64,
    pub active_at: u64,
    pub stdout_at: u64,
    pub stdout_size: u64,
    pub stderr_at: u64,
    pub stderr_size: u64,
    pub files_at: u64,
    pub n_files: u64,
    pub mappings_at: u64,
    pub n_mappings: u64,
    pub log_at: u64,
    pub log_size: u64,
    pub file_size: u64,
    pub events: u64,
    pub status: u32,
    pub exit_code: i32,
    pub log_used: u64,
    pub log_lost: u64,
    pub replacements: u64,
    pub equivalents: u64,
    pub crashes: u64,
    pub hangs: u64,
    pub cut_short_at: u64,
    pub attached: u32,
    pub pad: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_block_is_as_rt_h_asserts() {
        assert_eq!(size_of::<Control>(), 280);
        assert_eq!(std::mem::offset_of!(Control, events), 200);
    }
}
