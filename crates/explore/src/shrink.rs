//! Failing inputs made shorter, as long as the same fails: what variations repeat is seldom all
//! needed, and every line of it makes the error trace longer.

use interpret::{Input, Inputs, Limits, Stream};

use crate::streams::{is_of_text, n_arguments, streams, text as text_of, write};

/// Runs for one input.
const MAX_RUNS: u32 = 300;

/// Leaves out parts of standard input and of arguments while `is_same`.
pub fn shrink(inputs: &Inputs, limits: &Limits, is_same: &dyn Fn(&Inputs) -> bool) -> Inputs {
    let mut best = inputs.clone();
    let mut n_runs = 0;
    // Calls that failed, files that are not there: seldom all of them are needed.
    for input in inputs.0.iter().filter(|(input, value)| !is_of_text(**input) && **value != 0) {
        let mut fewer = best.clone();
        fewer.0.remove(input.0);
        n_runs += 1;
        if n_runs <= MAX_RUNS / 4 && is_same(&fewer) {
            best = fewer;
        }
    }
    let mut n = n_arguments(&best, limits);
    while n > 0 && n_runs <= MAX_RUNS / 2 {
        n_runs += 1;
        let fewer = without_argument(&best, n, limits);
        if is_same(&fewer) {
            best = fewer;
        }
        n -= 1;
    }
    let mut attempt = |best: &mut Inputs, stream: Stream, text: &[u8]| {
        n_runs += 1;
        let mut shorter = best.clone();
        write(&mut shorter, stream, limits, text);
        let is_kept = n_runs <= MAX_RUNS && is_same(&shorter);
        if is_kept {
            *best = shorter;
        }
        is_kept
    };
    for stream in streams(&best, limits) {
        attempt(&mut best, stream, b"");
    }
    for stream in streams(&best, limits) {
        let mut text = text_of(&best, stream, limits);
        let mut size = text.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < text.len() {
                let mut shorter = text.clone();
                shorter.drain(at..(at + size).min(text.len()));
                if attempt(&mut best, stream, &shorter) {
                    text = shorter;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        for at in 0..text.len() {
            if matches!(text[at], b' '..=b'~' | b'\n') {
                continue;
            }
            let mut plainer = text.clone();
            plainer[at] = b'0';
            if attempt(&mut best, stream, &plainer) {
                text = plainer;
            }
        }
    }
    best
}

/// The same arguments but one.
fn without_argument(inputs: &Inputs, left_out: u32, limits: &Limits) -> Inputs {
    let mut fewer = inputs.clone();
    let n = n_arguments(inputs, limits);
    for index in left_out..n {
        let text = text_of(inputs, Stream::Argument(index + 1), limits);
        write(&mut fewer, Stream::Argument(index), limits, &text);
    }
    write(&mut fewer, Stream::Argument(n), limits, b"");
    fewer.set(Input::ArgumentCount, u128::from(n - 1));
    fewer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::BOUNDS;

    #[test]
    fn arguments_that_are_not_needed_go() {
        let limits = &BOUNDS[1];
        let mut inputs = Inputs::default();
        inputs.set(Input::ArgumentCount, 3);
        for (index, text) in [(1, b"aa"), (2, b"-x"), (3, b"bb")] {
            write(&mut inputs, Stream::Argument(index), limits, text);
        }
        let short = shrink(&inputs, limits, &|shorter| {
            let all = 1..=n_arguments(shorter, limits);
            all.into_iter().any(|i| text_of(shorter, Stream::Argument(i), limits) == b"-x")
        });
        assert_eq!(n_arguments(&short, limits), 1);
        assert_eq!(text_of(&short, Stream::Argument(1), limits), b"-x");
    }

    #[test]
    fn only_what_is_needed_is_left() {
        let limits = &BOUNDS[1];
        let mut inputs = Inputs::default();
        write(&mut inputs, Stream::Stdin, limits, b"+\n-\n\x01+\n-\n+\n-\nxx");
        let n_of = |inputs: &Inputs, wanted: u8| {
            text_of(inputs, Stream::Stdin, limits).iter().filter(|byte| **byte == wanted).count()
        };
        let short = shrink(&inputs, limits, &|shorter| {
            n_of(shorter, b'+') >= 2 && n_of(shorter, 1) + n_of(shorter, b'0') >= 1
        });
        assert_eq!(text_of(&short, Stream::Stdin, limits), b"+0+");
    }
}
