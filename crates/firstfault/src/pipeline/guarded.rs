//! A panic in one unit or function costs that unit or function, not the run.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work`; a panic in it becomes the sentence it said, with its place.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    let was_guarded = IS_GUARDED.replace(true);
    // What `work` leaves half done is dropped with its result.
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    result.map_err(|_| {
        let message = MESSAGE.take().unwrap_or_else(|| "no message".to_owned());
        format!("internal error, please report it: {message}")
    })
}

/// Keeps the message of a guarded panic instead of printing it.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if IS_GUARDED.get() {
                let what = info.payload_as_str().unwrap_or("panic");
                let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line()));
                MESSAGE.set(Some(format!("{what}{}", place.unwrap_or_default())));
            } else {
                usual(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_becomes_a_sentence() {
        assert_eq!(guarded(|| 7), Ok(7));
        let message = guarded(|| panic!("index {} is odd", 3)).unwrap_err();
        assert!(message.contains("index 3 is odd"), "{message}");
        assert!(message.contains("guarded.rs"), "{message}");
    }
}
