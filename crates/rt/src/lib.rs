//! The runtime that is linked into instrumented programs: objects compiled from `c/`, and
//! the layout of the control file through which it talks with firstfault.

pub mod layout;

mod objects {
    include!(concat!(env!("OUT_DIR"), "/objects.rs"));
}

/// Object files every instrumented program needs: names and contents.
pub const OBJECTS: &[(&str, &[u8])] = objects::ALWAYS;

/// Further object files of static programs, whose runs can be snapshot.
pub const SNAPSHOT_OBJECTS: &[(&str, &[u8])] = objects::SNAPSHOT;

/// Functions the linker must lead through the runtime (`--wrap`) with [`SNAPSHOT_OBJECTS`].
pub const WRAPPED: &[&str] = &["fopen", "fclose", "open", "close"];

/// The environment variable that names the control file.
pub const CONTROL_VARIABLE: &str = "FIRSTFAULT_CONTROL";
