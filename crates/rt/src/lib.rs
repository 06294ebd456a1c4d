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
    "printf",
    "putc",
    "putchar",
    "puts",
    "read",
    "realloc",
    "reallocarray",
    "recv",
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
    "vfprintf",
    "vprintf",
    "vsnprintf",
    "vsprintf",
    "write",
];

/// Likewise, for what concerns other threads and processes.
pub const SYNCHRONISING: &[&str] = &[
    "__kmpc_fork_call",
    "accept",
    "call_once",
    "clock_nanosleep",
    "clone",
    "cnd_broadcast",
    "cnd_signal",
    "cnd_timedwait",
    "cnd_wait",
    "daemon",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "fork",
    "mtx_lock",
    "mtx_timedlock",
    "mtx_trylock",
    "mtx_unlock",
    "nanosleep",
    "poll",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "pthread_barrier_init",
    "pthread_barrier_wait",
    "pthread_cancel",
    "pthread_cond_broadcast",
    "pthread_cond_signal",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_create",
    "pthread_exit",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_once",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock",
    "pthread_spin_lock",
    "pthread_spin_unlock",
    "pthread_yield",
    "sched_yield",
    "select",
    "sem_post",
    "sem_timedwait",
    "sem_trywait",
    "sem_wait",
    "sleep",
    "system",
    "thrd_create",
    "thrd_exit",
    "thrd_join",
    "thrd_sleep",
    "thrd_yield",
    "usleep",
    "vfork",
];
