//! Functions of an interface that code outside the program calls, and what it hands them.

use std::collections::BTreeMap;
use std::str::FromStr;

use program::{Body, FunctionId};

/// A function and those of its parameters that come from outside, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub function: String,
    pub parameters: Vec<Parameter>,
}

/// `data`, or `data[len]`: a pointer to as many elements as another parameter says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub length: Option<String>,
}

/// The same found in a program: positions among the C function's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    pub position: usize,
    /// The parameter that counts the elements it points to.
    pub length: Option<usize>,
}

/// What comes from outside, by function of the interface.
pub type Inputs = BTreeMap<FunctionId, Vec<Input>>;

impl Entry {
    pub fn inputs(&self, body: &Body) -> Vec<Input> {
        let position = |name: &str| {
            let variable =
                body.variables.iter().find(|v| v.parameter.is_some() && *v.name == *name);
            variable.and_then(|variable| variable.parameter).map(|position| position as usize)
        };
        let found = self.parameters.iter().filter_map(|parameter| {
            let length = parameter.length.as_deref().and_then(position);
            Some(Input { position: position(&parameter.name)?, length })
        });
        found.collect()
    }

    /// Every name of a parameter that the entry says.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().flat_map(|p| [Some(p.name.as_str()), p.length.as_deref()]).flatten()
    }
}

/// `function:parameter,parameter[length]`.
impl FromStr for Entry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((function, parameters)) = text.split_once(':') else {
            return Err("names no parameters (write function:parameter,parameter)".to_owned());
        };
        let parameters: Result<_, String> = parameters.split(',').map(str::parse).collect();
        Ok(Self { function: function.to_owned(), parameters: parameters? })
    }
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, length) = match text.split_once('[') {
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(']') {
                Some(length) => (name, Some(length.to_owned())),
                None => return Err(format!("`{text}` has no `]` (write parameter[length])")),
            },
        };
        if name.is_empty() || length.as_deref() == Some("") {
            return Err(format!("`{text}` lacks a name (write parameter or parameter[length])"));
        }
        Ok(Self { name: name.to_owned(), length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_parameters_and_their_lengths() {
        let entry: Entry = "parse:data[len],flags".parse().unwrap();
        assert_eq!(entry.function, "parse");
        assert_eq!(entry.names().collect::<Vec<_>>(), ["data", "len", "flags"]);
        for wrong in ["parse", "parse:", "parse:data[len", "parse:[len]", "parse:data[]"] {
            assert!(wrong.parse::<Entry>().is_err(), "{wrong}");
        }
    }
}
