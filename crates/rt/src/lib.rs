//! The runtime that is linked into instrumented programs: objects compiled from `c/`, and
//! the layout of the control file through which it talks with firstfault.

pub mod crash;
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

/// Object files of programs whose definitions are tracked while they are suppressed.
pub const TRACKING_OBJECTS: &[(&str, &[u8])] = objects::TRACKING;

/// Object files of programs that only suppress.
pub const SUPPRESSING_OBJECTS: &[(&str, &[u8])] = objects::SUPPRESSING;

/// Library functions the runtime of suppression stands in for.
pub const MODELLED: &[&str] = &[
    "__isoc23_fscanf",
    "__isoc23_scanf",
    "__isoc23_sscanf",
    "__isoc99_fscanf",
    "__isoc99_scanf",
    "__isoc99_sscanf",
    "bcopy",
    "bzero",
    "calloc",
    "fgets",
    "fork",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "free",
    "fscanf",
    "fwrite",
    "getdelim",
    "getline",
    "gets",
    "malloc",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "printf",
    "pthread_create",
    "putc",
    "putchar",
    "puts",
    "read",
    "realloc",
    "reallocarray",
    "scanf",
    "snprintf",
    "sprintf",
    "sscanf",
    "stpcpy",
    "strcat",
    "strcpy",
    "strdup",
    "strncat",
    "strncpy",
    "strndup",
    "system",
    "thrd_create",
    "vfork",
    "vfprintf",
    "vprintf",
    "vsnprintf",
    "vsprintf",
    "write",
];
