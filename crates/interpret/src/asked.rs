//! What a run asked the world outside for, besides arguments.

use std::collections::BTreeMap;

use crate::exec::Machine;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Names of environment variables that were not set.
    pub unset: Vec<Vec<u8>>,
    /// Names of those that were, in the order in which they were asked for.
    pub set: Vec<Vec<u8>>,
    /// Standard input or a file was read, if only to its end.
    pub has_read: bool,
    /// The functions outside whose results it got, one for each result.
    pub outside: Vec<String>,
    /// What clocks showed, by the number of the result.
    pub shown: BTreeMap<u32, u64>,
    /// What the parameters of the function are that the run started in, where it is not `main`.
    pub parameters: Vec<String>,
    /// The names of the files that were opened to be read.
    pub files: Vec<Vec<u8>>,
    /// The function the run started in takes arguments.
    pub takes_arguments: bool,
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
            names.into_iter().map(|(_, name)| name).collect()
        };
        let mut functions = self.program.functions.iter();
        let main = functions.find(|f| &*f.name == "main" && f.body.is_some());
        Asked {
            unset: names(&|address| address == 0),
            set: names(&|address| address != 0),
            has_read: self.streams.was_asked() || self.inputs.stdin_at > 0,
            outside: self.inputs.outside.iter().map(|id| self.name_of(*id).to_owned()).collect(),
            shown: self.clocks.shown.clone(),
            parameters: self.told_parameters(),
            files: self.inputs.files.clone(),
            takes_arguments: main.is_some_and(|main| !main.params.is_empty()),
        }
    }
}
