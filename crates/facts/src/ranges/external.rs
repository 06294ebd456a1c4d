//! Results of well-known functions whose range the standard fixes.

use super::domain::Domain;
use super::interval::Interval;
use super::solver::not_null;

/// The range of what an external function returns, where known.
pub(super) fn result_of(name: &str, bits: u32) -> Option<Interval> {
    let signed = |low: i128, high: i128| Some(Interval::signed(bits, low, high));
    match name {
        "getc" | "fgetc" | "getchar" | "getc_unlocked" | "getchar_unlocked" | "fputc" | "putc"
        | "putchar" | "ungetc" => signed(-1, 255),
        "strlen" | "wcslen" | "strnlen" | "strspn" | "strcspn" | "malloc_usable_size" => {
            signed(0, i128::from(i64::MAX) - 1)
        }
        "read" | "write" | "recv" | "send" | "pread" | "pwrite" | "pread64" | "pwrite64"
        | "readlink" | "recvfrom" | "sendto" | "getline" | "getdelim" | "lseek" | "lseek64"
        | "ftell" | "ftello" => {
            let top = Interval::all(bits);
            signed(-1, top.signed_max.into())
        }
        "open" | "open64" | "creat" | "socket" | "accept" | "dup" | "dup2" | "fileno" | "fork"
        | "epoll_wait" | "poll" | "select" => signed(-1, i128::from(i32::MAX)),
        "close" | "unlink" | "stat" | "fstat" | "lstat" | "mkdir" | "rename" | "fclose"
        | "fflush" | "remove" | "chdir" | "pipe" | "setvbuf" | "bind" | "listen" | "connect" => {
            signed(-1, 0)
        }
        "rand" | "random" | "lrand48" => signed(0, i128::from(i32::MAX)),
        "toupper" | "tolower" => None,
        "__errno_location" | "__ctype_b_loc" | "__ctype_tolower_loc" | "__ctype_toupper_loc" => {
            Some(not_null::<Interval>())
        }
        "memcpy" | "memmove" | "memset" | "strcpy" | "strncpy" | "strcat" | "strncat"
        | "stpcpy" => Some(not_null::<Interval>()),
        "strerror" => Some(not_null::<Interval>()),
        _ => None,
    }
    .filter(|range| !range.is_bottom())
}
