//! Ctrl-C, `kill` and a closed terminal: everything stops soon, nothing stays behind.

use std::process::ExitCode;
use std::time::Duration;

use base::Cancel;

/// What shells report for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Work looks at the flag often; whoever does not within this time is cut off.
const PATIENCE: Duration = Duration::from_secs(5);

/// A flag that is set by the first such signal. A second one ends the process at once.
pub fn watch() -> Cancel {
    let cancel = Cancel::new();
    let set = cancel.clone();
    let watching = ctrlc::set_handler(move || {
        if set.is_cancelled() {
            std::process::exit(i32::from(INTERRUPTED));
        }
        set.cancel();
        // Children are killed by those who wait for them, and die with us in any case.
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            std::process::exit(i32::from(INTERRUPTED));
        });
    });
    if let Err(error) = watching {
        crate::log::warning(&format!("interrupting will not clean up: {error}"));
    }
    cancel
}

pub fn exit_code() -> ExitCode {
    crate::log::error("interrupted");
    ExitCode::from(INTERRUPTED)
}
