//! The texts of inputs within the limits of a search.

use interpret::{Input, Inputs, Limits, Stream};

fn limit(stream: Stream, limits: &Limits) -> usize {
    match stream {
        Stream::Argument(_) | Stream::Environment(_) => limits.argument_bytes as usize,
        _ => limits.stdin_bytes as usize,
    }
}

/// What a text holds, as far as a run gets it.
pub fn text(inputs: &Inputs, stream: Stream, limits: &Limits) -> Vec<u8> {
    let mut bytes = inputs.bytes_of(stream);
    bytes.truncate(limit(stream, limits));
    bytes
}

/// Makes this a text, as far as there is room.
pub fn write(inputs: &mut Inputs, stream: Stream, limits: &Limits, text: &[u8]) {
    inputs.set_bytes(stream, &text[..text.len().min(limit(stream, limits))]);
}

/// The texts that inputs say something about, the arguments that are there and standard input
/// among them.
pub fn streams(inputs: &Inputs, limits: &Limits) -> Vec<Stream> {
    let n_arguments = n_arguments(inputs, limits);
    let mut all = inputs.streams();
    all.retain(|stream| match stream {
        Stream::Argument(index) => *index <= n_arguments,
        Stream::Environment(variable) => inputs.get(Input::IsSet(*variable)) == 1,
        Stream::File(file) => inputs.get(Input::Absent(*file)) == 0,
        _ => true,
    });
    all.push(Stream::Stdin);
    all.extend((1..=n_arguments).map(Stream::Argument));
    all.sort();
    all.dedup();
    all
}

/// How many arguments a run gets, the program's name not counted.
pub fn n_arguments(inputs: &Inputs, limits: &Limits) -> u32 {
    (inputs.get(Input::ArgumentCount) as u32).min(limits.arguments)
}

/// Whether an input is part of a text, or says that there is one.
pub fn is_of_text(input: Input) -> bool {
    input.stream().is_some()
}
