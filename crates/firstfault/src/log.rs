//! What goes to standard error: one line each, safe to print whatever it quotes.

use std::io::Write;

use report::sources::one_line;

pub fn error(message: &str) {
    line(&format!("firstfault: {}", one_line(message)));
}

pub fn warning(message: &str) {
    line(&format!("firstfault: {}", one_line(message)));
}

/// Part of the input is missing: why, and the first lines the compiler said.
pub fn incomplete(missing: &findings::Incomplete) {
    warning(&format!("{}: {}", missing.what, missing.reason));
    // The reason may quote one of them already.
    let is_new = |detail: &&String| !missing.reason.contains(detail.trim());
    for detail in missing.details.iter().filter(is_new) {
        line(&format!("  {}", one_line(detail)));
    }
}

fn line(text: &str) {
    // A log nobody can read is no reason to stop.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
