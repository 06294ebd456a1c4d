//! Inputs as people give them.

use interpret::Inputs;

use crate::explore::BOUNDS;
use crate::judge::Given;

/// Empty where there are none.
pub fn describe(given: &Given) -> String {
    match given {
        Given::Test(test) => format!("test {}", test.name),
        Given::Found(inputs, limits) => describe_inputs(inputs, limits.argument_bytes),
    }
}

fn describe_inputs(inputs: &Inputs, bytes: u32) -> String {
    use interpret::Input;
    let mut parts = Vec::new();
    let n_arguments = inputs.get(Input::ArgumentCount) as u32;
    for index in 1..=n_arguments.min(BOUNDS[2].arguments) {
        let text = (0..bytes).map(|byte| inputs.get(Input::Argument { index, byte }) as u8);
        let text: Vec<u8> = text.take_while(|byte| *byte != 0).collect();
        parts.push(format!("argument {index} {:?}", String::from_utf8_lossy(&text)));
    }
    let length = inputs.get(Input::StdinLength) as u32;
    if length > 0 {
        let text: Vec<u8> =
            (0..length.min(256)).map(|at| inputs.get(Input::Stdin(at)) as u8).collect();
        let has_file = inputs.0.iter().any(|(i, n)| matches!(i, Input::IsOpened(_)) && *n == 1);
        let text = String::from_utf8_lossy(&text);
        parts.push(match has_file {
            true => format!("{text:?} read from files"),
            false => format!("standard input {text:?}"),
        });
    }
    for (input, value) in &inputs.0 {
        match input {
            Input::Parameter(index) => {
                parts.push(format!("parameter {} is {}", index + 1, *value as u32 as i32))
            }
            Input::IsSet(variable) if *value == 1 => {
                let text = (0..bytes)
                    .map(|byte| inputs.get(Input::Environment { variable: *variable, byte }) as u8);
                let text: Vec<u8> = text.take_while(|byte| *byte != 0).collect();
                let text = String::from_utf8_lossy(&text).into_owned();
                parts.push(format!("environment variable {} {text:?}", variable + 1));
            }
            Input::Outside(index) => {
                parts.push(format!("call {} outside gives {value}", index + 1))
            }
            _ => {}
        }
    }
    parts.join(", ")
}
