//! What a run asked the world outside for, besides arguments.

use std::collections::{BTreeMap, BTreeSet};

use program::{FunctionId, InstId};

use crate::exec::Machine;
use crate::inputs::Input;
use crate::streams::{Failure, Name, Stream};
use crate::world::Node;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Names of environment variables that were not set.
    pub unset: Vec<Vec<u8>>,
    /// Those that were set, by their names.
    pub set: Vec<(Vec<u8>, Stream)>,
    /// Standard input was read, if only to its end.
    pub has_read: bool,
    /// The functions outside whose results it got, one for each result.
    pub outside: Vec<String>,
    /// What clocks showed, by the number of the result.
    pub shown: BTreeMap<u32, u64>,
    /// What the parameters of the function are that the run started in, where it is not `main`.
    pub parameters: Vec<String>,
    /// The files of before the run that it looked for.
    pub files: Vec<AskedFile>,
    /// How many texts came over connections or from commands.
    pub n_connections: u32,
    /// The function the run started in takes arguments.
    pub takes_arguments: bool,
    /// Calls that failed, in words.
    pub failures: Vec<String>,
    /// Functions without a model whose results were made up, and objects of other code that
    /// were read.
    pub made_up: Vec<String>,
    /// Those functions of which more than numbers was made up.
    pub guessed: Vec<String>,
}

/// A file that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedFile {
    pub name: Vec<u8>,
    pub stream: Stream,
    pub exists: bool,
    /// What it holds are the names in it, line by line.
    pub is_folder: bool,
}

impl Machine<'_> {
    /// What the run asked for so far.
    pub fn asked(&self) -> Asked {
        let known = &self.inputs.environment;
        let names = |wanted: &dyn Fn(u64) -> bool| {
            let mut names: Vec<(u64, Vec<u8>)> = known
                .iter()
                .filter(|(_, address)| wanted(**address))
                .map(|(name, address)| (*address, name.clone()))
                .collect();
            // Addresses rise with every object that is made.
            names.sort();
            names.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        let from_outside =
            |name: &Vec<u8>| self.inputs.values.get(Input::IsSet(Name::of(name))) == 1;
        let set = names(&|address| address != 0).into_iter().filter(from_outside);
        let mut functions = self.program.functions.iter();
        let main = functions.find(|f| &*f.name == "main" && f.body.is_some());
        let named = |ids: &[FunctionId]| {
            let names: BTreeSet<&str> = ids.iter().map(|id| self.name_of(*id)).collect();
            names.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let mut made_up = named(&self.inputs.made_up);
        made_up.extend(self.memory.has_read_outside.then(|| "objects of other code".to_owned()));
        Asked {
            unset: names(&|address| address == 0),
            set: set.map(|name| (name.clone(), Stream::Environment(Name::of(&name)))).collect(),
            has_read: self.world.has_read,
            outside: self.inputs.outside.iter().map(|id| self.name_of(*id).to_owned()).collect(),
            shown: self.clocks.shown.clone(),
            parameters: self.told_parameters(),
            files: self.asked_files(),
            n_connections: self.world.n_connections,
            takes_arguments: main.is_some_and(|main| !main.params.is_empty()),
            failures: self.told_failures(),
            made_up,
            guessed: named(&self.inputs.guessed),
        }
    }

    /// The texts from outside that the run came to, whether or not they hold anything: what a
    /// search may vary.
    pub fn streams(&self) -> Vec<Stream> {
        let mut streams: Vec<Stream> =
            (1..self.inputs.arguments.len() as u32).map(Stream::Argument).collect();
        streams.extend(self.world.has_read.then_some(Stream::Stdin));
        streams.extend(self.world.seen.iter().map(|file| Stream::File(file.id)));
        let variables = self.inputs.environment.keys();
        streams.extend(variables.map(|name| Stream::Environment(Name::of(name))));
        streams.extend((0..self.world.n_connections).map(Stream::Connection));
        streams.sort();
        streams.dedup();
        streams
    }

    /// The calls of the run that could have failed, in their order: the input that lets each
    /// fail, what was called, and where.
    pub fn failures(&self) -> &[(Input, FunctionId, (FunctionId, InstId))] {
        &self.inputs.failures
    }

    fn asked_files(&self) -> Vec<AskedFile> {
        let seen = self.world.seen.iter();
        seen.map(|file| AskedFile {
            name: file.name.clone(),
            stream: Stream::File(file.id),
            exists: file.exists,
            is_folder: matches!(self.world.nodes[file.node], Node::Folder(_)),
        })
        .collect()
    }

    /// "the 2nd call of malloc fails", counted over the calls of the same function.
    fn told_failures(&self) -> Vec<String> {
        let mut counts: BTreeMap<(FunctionId, Failure), u32> = BTreeMap::new();
        let mut told = Vec::new();
        for (input, function, _) in &self.inputs.failures {
            let Input::Fails { what, .. } = *input else { continue };
            let count = counts.entry((*function, what)).or_default();
            *count += 1;
            let value = self.inputs.values.get(*input);
            if value == 0 {
                continue;
            }
            let call = format!("the {} call of {}", ordinal(*count), self.name_of(*function));
            told.push(match what {
                Failure::ShortRead => format!("{call} reads at most {}", bytes(value)),
                Failure::ShortWrite => format!("{call} writes at most {}", bytes(value)),
                Failure::Fork if value > 1 => format!("{call} is followed into the new process"),
                Failure::Time => format!("{call} gives NULL"),
                Failure::Lookup => format!("{call} finds nothing"),
                _ => format!("{call} fails"),
            });
        }
        told
    }
}

fn bytes(number: u128) -> String {
    if number == 1 { "1 byte".to_owned() } else { format!("{number} bytes") }
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_told_in_their_order() {
        let told = [1, 2, 3, 4, 11, 12, 13, 21, 102, 113].map(super::ordinal);
        let expected =
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "113th"];
        assert_eq!(told, expected);
    }
}
