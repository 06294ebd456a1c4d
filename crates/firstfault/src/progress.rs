//! A progress bar for people who wait: only on a terminal, and only once a second has passed.

use std::io::IsTerminal;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter waits need no bar.
const DELAY: Duration = Duration::from_secs(1);

/// Counts the steps of one phase. Removes itself when dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Dropping it ends the thread that shows the bar after a while.
    _finished: Option<Sender<()>>,
}

impl Progress {
    pub fn new(what: &'static str, total: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {elapsed}");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        let finished = std::io::stderr().is_terminal().then(|| show_later(bar.clone()));
        Self { bar, _finished: finished }
    }

    pub fn advance(&self) {
        self.bar.inc(1);
    }

    /// For phases that count themselves.
    pub fn set(&self, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn show_later(bar: ProgressBar) -> Sender<()> {
    let (finished, is_finished) = channel();
    std::thread::spawn(move || {
        use std::sync::mpsc::RecvTimeoutError;
        if is_finished.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(200));
        }
    });
    finished
}
