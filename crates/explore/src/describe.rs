//! Inputs as people give them: a command that can be typed, and its parts.

use findings::{EnvironmentVariable, RunInput};
use interpret::{Asked, Input, Inputs, Limits};

use crate::judge::Given;
use crate::search::BOUNDS;
use crate::shell;

/// Values never set that are told.
const MAX_UNSET: usize = 8;
/// Results of a function outside that are told.
const MAX_RESULTS: usize = 12;

/// What a run from `entry` got, of which it asked for some.
pub fn describe(given: &Given, entry: &str, asked: &Asked) -> RunInput {
    let (mut input, bytes) = match given {
        Given::Test(test) => {
            let arguments: Vec<Vec<u8>> =
                test.arguments.iter().map(|text| text.clone().into_bytes()).collect();
            let stdin = asked.has_read.then(|| test.stdin.clone());
            let others = vec![format!("test {}", test.name)];
            (RunInput { others, ..RunInput::default() }, Bytes { arguments, stdin, files: false })
        }
        Given::Found(inputs, limits) => found(inputs, limits, asked),
    };
    if entry == "main" {
        input.command = command(&input, &bytes, asked);
    }
    input.arguments = bytes.arguments.iter().map(|text| told(text)).collect();
    input.stdin = bytes.stdin.as_deref().map(told);
    input
}

/// What a run reads, byte by byte.
struct Bytes {
    arguments: Vec<Vec<u8>>,
    stdin: Option<Vec<u8>>,
    /// Files were opened, and are what was read.
    files: bool,
}

fn found(inputs: &Inputs, limits: &Limits, asked: &Asked) -> (RunInput, Bytes) {
    let n_arguments = (inputs.get(Input::ArgumentCount) as u32).min(BOUNDS[2].arguments);
    let arguments = (1..=n_arguments)
        .map(|index| text(inputs, limits, |byte| Input::Argument { index, byte }))
        .collect();
    let length = inputs.get(Input::StdinLength) as u32;
    let stdin = (0..length.min(limits.stdin_bytes)).map(|at| inputs.get(Input::Stdin(at)) as u8);
    let stdin = asked.has_read.then(|| stdin.collect());
    let files = inputs.0.iter().any(|(i, n)| matches!(i, Input::IsOpened(_)) && *n == 1);
    let unset = asked.unset.iter().map(|name| (told(name), None));
    let set = inputs.0.iter().filter_map(|(input, value)| match input {
        Input::IsSet(variable) if *value == 1 => Some(*variable),
        _ => None,
    });
    let set = asked.set.iter().zip(set).map(|(name, variable)| {
        let value = text(inputs, limits, |byte| Input::Environment { variable, byte });
        (told(name), Some(told(&value)))
    });
    let environment =
        unset.chain(set).map(|(name, value)| EnvironmentVariable { name, value }).collect();
    let others = others(inputs, asked);
    let input = RunInput { environment, others, ..RunInput::default() };
    (input, Bytes { arguments, stdin, files })
}

/// What no command line gives.
fn others(inputs: &Inputs, asked: &Asked) -> Vec<String> {
    let mut others = asked.parameters.clone();
    others.extend(outside(inputs, asked));
    let mut unset: Vec<i128> = Vec::new();
    for (input, value) in &inputs.0 {
        match input {
            Input::UnsetVariable(_) if *value != 0 => unset.push(*value as i32 as i128),
            Input::Unset { .. } if *value != 0 => unset.push(*value as i128),
            _ => {}
        }
    }
    if !unset.is_empty() {
        let more = if unset.len() > MAX_UNSET { ", ..." } else { "" };
        let values: Vec<String> = unset.iter().take(MAX_UNSET).map(i128::to_string).collect();
        others.push(format!("what was never set holds {}{more}", values.join(", ")));
    }
    others
}

/// What each function outside the program gives, call by call.
fn outside(inputs: &Inputs, asked: &Asked) -> Vec<String> {
    let mut functions: Vec<(&str, Vec<String>)> = Vec::new();
    for (index, name) in (0..).zip(&asked.outside) {
        let value = inputs.get(Input::Outside(index));
        let number = u32::try_from(value).map_or(value as i64, |value| i64::from(value as i32));
        let value = asked.shown.get(&index).map_or(number, |shown| *shown as i64);
        match functions.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value.to_string()),
            None => functions.push((name, vec![value.to_string()])),
        }
    }
    let told = |(name, mut values): (&str, Vec<String>)| {
        let more = if values.len() > MAX_RESULTS { ", ..." } else { "" };
        values.truncate(MAX_RESULTS);
        format!("{name} gives {}{more}", values.join(", "))
    };
    functions.into_iter().map(told).collect()
}

/// A text up to its zero.
fn text(inputs: &Inputs, limits: &Limits, input: impl Fn(u32) -> Input) -> Vec<u8> {
    let bytes = (0..limits.argument_bytes).map(|byte| inputs.get(input(byte)) as u8);
    bytes.take_while(|byte| *byte != 0).collect()
}

/// One character for each byte.
fn told(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// A name that a file in the folder of the program can have.
fn is_plain_name(name: &[u8]) -> bool {
    !name.contains(&b'/') && name != b"." && name != b".."
}

fn command(input: &RunInput, bytes: &Bytes, asked: &Asked) -> String {
    let mut words = Vec::new();
    let mut remarks = input.others.clone();
    let stdin = bytes.stdin.as_deref().unwrap_or_default();
    if bytes.files {
        match &asked.files[..] {
            // A file of that name is written first; another folder may not be there.
            [name] if is_plain_name(name) => {
                words.push(format!("{} > {};", shell::printed(stdin), shell::word(name)));
            }
            _ => remarks
                .push(format!("the files it opens hold what {} writes", shell::printed(stdin))),
        }
    } else if !stdin.is_empty() {
        words.extend([shell::printed(stdin), "|".to_owned()]);
    }
    if !input.environment.is_empty() {
        words.push("env".to_owned());
        let bytes = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
        for variable in input.environment.iter().filter(|v| v.value.is_none()) {
            words.extend(["-u".to_owned(), shell::word(&bytes(&variable.name))]);
        }
        for variable in &input.environment {
            let Some(value) = &variable.value else { continue };
            words.push(shell::assignment(&bytes(&variable.name), &bytes(value)));
        }
    }
    words.push("./program".to_owned());
    words.extend(bytes.arguments.iter().map(|text| shell::word(text)));
    let is_empty = bytes.stdin.is_some() && stdin.is_empty() && !bytes.files;
    if is_empty {
        words.push("< /dev/null".to_owned());
    }
    if bytes.arguments.is_empty() && asked.takes_arguments {
        remarks.insert(0, "without arguments".to_owned());
    }
    let command = words.join(" ");
    if remarks.is_empty() { command } else { format!("{command}  # {}", remarks.join("; ")) }
}
