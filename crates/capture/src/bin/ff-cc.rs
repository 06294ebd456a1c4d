//! The small program that stands between a build and its compiler, and that guards
//! the children of firstfault.

use std::process::ExitCode;

use base::child::guard;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(flag) if flag == guard::FLAG => {
            let error = guard::become_command(args);
            eprintln!("ff-cc: {error}");
            ExitCode::from(127)
        }
        _ => {
            eprintln!("ff-cc: runs inside 'firstfault capture'; not for direct use");
            ExitCode::from(2)
        }
    }
}
