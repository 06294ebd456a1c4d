//! Inputs made from those that went far, without asking anybody: lines repeated, texts joined,
//! bytes stretched.
//!
//! A decision turned around changes a run by one step, and where only many lines of the right
//! kinds lead on, nothing tells which step was right. What earlier runs read holds such lines.
//! The choices follow from a fixed sequence of numbers, so that every search is the same.

use interpret::{Input, Inputs, Limits};

/// Changes of one input.
const MAX_CHANGES: u64 = 3;
/// Times that something is repeated.
const MAX_TIMES: u64 = 8;

pub struct Variations {
    state: u64,
}

impl Default for Variations {
    fn default() -> Self {
        Self { state: 0x9e37_79b9_7f4a_7c15 }
    }
}

/// A text that a run reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Stdin,
    Argument(u32),
}

impl Variations {
    /// An input like those that went far, the last of which went furthest.
    pub fn next(&mut self, far: &[Inputs], limits: &Limits) -> Option<Inputs> {
        let mut inputs = self.one_of(far)?.clone();
        let other = self.one_of(far)?;
        for _ in 0..1 + self.below(MAX_CHANGES) {
            let n_arguments = inputs.get(Input::ArgumentCount) as u64;
            // Most programs read more than they are told by arguments.
            let source = match self.below(2 + n_arguments) {
                0 | 1 => Source::Stdin,
                argument => Source::Argument((argument - 1) as u32),
            };
            let text = self.changed(text_of(&inputs, source, limits), other, source, limits);
            write(&mut inputs, source, limits, &text);
        }
        Some(inputs)
    }

    fn changed(
        &mut self,
        mut text: Vec<u8>,
        other: &Inputs,
        source: Source,
        limits: &Limits,
    ) -> Vec<u8> {
        let others = text_of(other, source, limits);
        match self.below(6) {
            0 => {
                if source == Source::Stdin && !matches!(text.last(), None | Some(b'\n')) {
                    text.push(b'\n');
                }
                text.extend(others);
            }
            1 | 2 => {
                let ends = line_ends(&text);
                let (a, b) = (self.below(ends.len() as u64), self.below(ends.len() as u64));
                let (start, end) = (ends[a.min(b) as usize], ends[a.max(b) as usize]);
                let lines = text[start..end].to_vec();
                let times = 1 + self.below(MAX_TIMES);
                text.splice(end..end, lines.repeat(times as usize));
            }
            3 if !text.is_empty() => {
                let at = self.below(text.len() as u64) as usize;
                let more = vec![text[at]; 1 << self.below(7)];
                text.splice(at..at, more);
            }
            4 if !text.is_empty() && !others.is_empty() => {
                let at = self.below(text.len() as u64) as usize;
                text[at] = others[self.below(others.len() as u64) as usize];
            }
            _ if !text.is_empty() => {
                let (start, from) =
                    (self.below(text.len() as u64), self.below(others.len() as u64));
                text.truncate(start as usize);
                text.extend(others.get(from as usize..).unwrap_or_default());
            }
            _ => text = others,
        }
        text
    }

    /// Later ones more often.
    fn one_of<'a>(&mut self, far: &'a [Inputs]) -> Option<&'a Inputs> {
        let n = far.len() as u64;
        let at = self.below(n).max(self.below(n));
        far.get(at as usize)
    }

    /// The next number of the sequence (splitmix64), below this one.
    fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % limit.max(1)
    }
}

pub fn text_of(inputs: &Inputs, source: Source, limits: &Limits) -> Vec<u8> {
    match source {
        Source::Stdin => {
            let length = (inputs.get(Input::StdinLength) as u32).min(limits.stdin_bytes);
            (0..length).map(|at| inputs.get(Input::Stdin(at)) as u8).collect()
        }
        Source::Argument(index) => {
            let bytes = (0..limits.argument_bytes)
                .map(|byte| inputs.get(Input::Argument { index, byte }) as u8);
            bytes.take_while(|byte| *byte != 0).collect()
        }
    }
}

pub fn write(inputs: &mut Inputs, source: Source, limits: &Limits, text: &[u8]) {
    match source {
        Source::Stdin => {
            let text = &text[..text.len().min(limits.stdin_bytes as usize)];
            inputs.set(Input::StdinLength, text.len() as u128);
            for (at, byte) in (0..).zip(text) {
                inputs.set(Input::Stdin(at), u128::from(*byte));
            }
        }
        Source::Argument(index) => {
            for at in 0..limits.argument_bytes {
                let byte = text.get(at as usize).copied().unwrap_or(0);
                inputs.set(Input::Argument { index, byte: at }, u128::from(byte));
            }
        }
    }
}

/// Where lines begin and end, the beginning and the end of the text among them.
fn line_ends(text: &[u8]) -> Vec<usize> {
    let behind = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let mut ends: Vec<usize> = std::iter::once(0).chain(behind).collect();
    if ends.last() != Some(&text.len()) {
        ends.push(text.len());
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::BOUNDS;

    fn input(text: &[u8]) -> Inputs {
        let mut inputs = Inputs::default();
        write(&mut inputs, Source::Stdin, &BOUNDS[1], text);
        inputs
    }

    #[test]
    fn lines_of_several_inputs_are_joined_and_repeated() {
        let far = [input(b"+\n"), input(b"-\n")];
        let mut variations = Variations::default();
        let made = (0..2000).filter_map(|_| variations.next(&far, &BOUNDS[1]));
        let texts: Vec<Vec<u8>> = made.map(|i| text_of(&i, Source::Stdin, &BOUNDS[1])).collect();
        assert!(texts.contains(&b"+\n-\n".to_vec()));
        assert!(texts.contains(&b"-\n-\n-\n".to_vec()));
        assert!(texts.iter().all(|text| text.len() <= BOUNDS[1].stdin_bytes as usize));
    }

    #[test]
    fn without_inputs_nothing_is_made() {
        assert!(Variations::default().next(&[], &BOUNDS[0]).is_none());
    }
}
