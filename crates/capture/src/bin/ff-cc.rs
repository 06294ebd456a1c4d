//! The small program that stands between a build and its compiler, and that guards
//! the children of firstfault.

use base::child::guard;
use capture::wrapper;

fn main() {
    std::process::exit(run());
}

fn run() -> i32 {
    let argv: Vec<_> = std::env::args_os().collect();
    let mut args = argv.iter().skip(1).cloned();
    match args.next().as_deref().and_then(|flag| flag.to_str()) {
        Some(guard::FLAG) => {
            let error = guard::become_command(args);
            eprintln!("ff-cc: {error}");
            127
        }
        Some(wrapper::RUN_FLAG) => wrapper::become_compiler(args),
        Some(capture::BUILD_FLAG) => capture::guard_build(args),
        _ => wrapper::main(argv).unwrap_or_else(|| {
            eprintln!("ff-cc: runs inside 'firstfault capture'; not for direct use");
            2
        }),
    }
}
