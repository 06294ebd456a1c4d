//! Streams: inputs that are bytes one after the other, be it standard input, an argument or an
//! environment variable. What varies and shrinks inputs works on streams alone.

use std::collections::BTreeSet;

use interpret::{Input, Inputs, Limits};

/// Bytes that a run reads one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    Stdin,
    Argument(u32),
    Environment(u32),
}

impl Stream {
    /// The stream an input is a byte of.
    pub fn of(input: Input) -> Option<Stream> {
        match input {
            Input::Stdin(_) | Input::StdinLength => Some(Stream::Stdin),
            Input::Argument { index, .. } => Some(Stream::Argument(index)),
            Input::Environment { variable, .. } => Some(Stream::Environment(variable)),
            _ => None,
        }
    }

    fn byte(self, at: u32) -> Input {
        match self {
            Stream::Stdin => Input::Stdin(at),
            Stream::Argument(index) => Input::Argument { index, byte: at },
            Stream::Environment(variable) => Input::Environment { variable, byte: at },
        }
    }

    /// Where its length stands; those without one end at their first zero.
    pub fn length(self) -> Option<Input> {
        match self {
            Stream::Stdin => Some(Input::StdinLength),
            Stream::Argument(_) | Stream::Environment(_) => None,
        }
    }

    fn limit(self, limits: &Limits) -> u32 {
        match self {
            Stream::Stdin => limits.stdin_bytes,
            Stream::Argument(_) | Stream::Environment(_) => limits.argument_bytes,
        }
    }

    pub fn text(self, inputs: &Inputs, limits: &Limits) -> Vec<u8> {
        let limit = self.limit(limits);
        let byte = |at| inputs.get(self.byte(at)) as u8;
        match self.length() {
            Some(length) => (0..(inputs.get(length) as u32).min(limit)).map(byte).collect(),
            None => (0..limit).map(byte).take_while(|byte| *byte != 0).collect(),
        }
    }

    /// Makes this the text of the stream, as far as there is room.
    pub fn write(self, inputs: &mut Inputs, limits: &Limits, text: &[u8]) {
        let text = &text[..text.len().min(self.limit(limits) as usize)];
        inputs.0.retain(|input, _| Stream::of(*input) != Some(self));
        if let Some(length) = self.length() {
            inputs.set(length, text.len() as u128);
        }
        for (at, byte) in (0..).zip(text) {
            inputs.set(self.byte(at), u128::from(*byte));
        }
    }
}

/// The streams that inputs have something of, the arguments that are there among them.
pub fn streams(inputs: &Inputs, limits: &Limits) -> Vec<Stream> {
    let n_arguments = n_arguments(inputs, limits);
    let set = inputs.0.keys().filter_map(|input| Stream::of(*input));
    let mut all: BTreeSet<Stream> = set.collect();
    all.retain(|stream| match stream {
        Stream::Stdin => true,
        Stream::Argument(index) => *index <= n_arguments,
        Stream::Environment(variable) => inputs.get(Input::IsSet(*variable)) == 1,
    });
    all.insert(Stream::Stdin);
    all.extend((1..=n_arguments).map(Stream::Argument));
    all.into_iter().collect()
}

/// How many arguments a run gets, the program's name not counted.
pub fn n_arguments(inputs: &Inputs, limits: &Limits) -> u32 {
    (inputs.get(Input::ArgumentCount) as u32).min(limits.arguments)
}
