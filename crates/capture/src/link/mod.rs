//! Which objects a link is made of.
//!
//! Objects on the command line are always linked; members of archives only if they
//! define a symbol that is still undefined when the linker gets there. The choice is
//! made here by the linker's own rule from the symbol tables, so that the user's link
//! neither changes nor runs twice.

pub mod object;
pub mod options;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cache::Key;
use object::{LinkerInput, ObjectFile, Symbols, read_input};
use options::{Link, LinkItem, find_library};

/// A linker script may name linker scripts; deeper nesting is a loop.
const MAX_NESTING: usize = 8;

/// Something that was linked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Linked {
    /// The object of a source compiled by the same command.
    Source(usize),
    Object {
        name: String,
        hash: Key,
    },
    /// A shared library: its code is part of the running program.
    Shared {
        path: PathBuf,
        hash: Key,
    },
}

/// The outcome of a link.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    pub linked: Vec<Linked>,
    /// Some archive hides its symbols (link-time optimisation): all of it was taken.
    pub inexact: bool,
}

/// Decides what is linked. `source_symbols` gives the symbols of sources compiled by
/// the same command; it is asked only if some archive's members depend on them.
pub fn resolve(link: &Link, source_symbols: &mut dyn FnMut(usize) -> Symbols) -> Resolved {
    let mut inputs = Vec::new();
    for item in &link.items {
        match item {
            LinkItem::Source(index) => inputs.push(Input::Source(*index)),
            LinkItem::File { path, whole } => add_file(path, *whole, MAX_NESTING, &mut inputs),
            LinkItem::GroupStart => inputs.push(Input::GroupStart),
            LinkItem::GroupEnd => inputs.push(Input::GroupEnd),
        }
    }
    let has_choice =
        inputs.iter().any(|input| matches!(input, Input::Archive { whole: false, .. }));
    let mut linker = Linker::new(link);
    for input in &mut inputs {
        // Without archives to choose from, nobody asks for the symbols.
        if let Input::Source(index) = input
            && has_choice
        {
            let symbols = source_symbols(*index);
            *input = Input::CompiledSource(*index, symbols);
        }
    }
    if link.any_order {
        linker.group(&mut inputs);
    } else {
        linker.in_order(&mut inputs);
    }
    Resolved { linked: linker.linked, inexact: linker.inexact }
}

fn add_file(path: &Path, whole: bool, nesting: usize, inputs: &mut Vec<Input>) {
    match read_input(path) {
        Some(LinkerInput::Object(object)) => inputs.push(Input::Object(object)),
        Some(LinkerInput::Archive(members)) => {
            let members = members.into_iter().map(Some).collect();
            inputs.push(Input::Archive { members, whole });
        }
        Some(LinkerInput::Shared { path, hash, defined }) => {
            inputs.push(Input::Shared { path, hash, defined });
        }
        Some(LinkerInput::Script(files)) if nesting > 0 => {
            inputs.push(Input::GroupStart);
            for file in files {
                let path = match file.strip_prefix("-l") {
                    Some(name) => find_library(name, &[], true),
                    None => Some(path.parent().unwrap_or(path).join(file)),
                };
                if let Some(path) = path {
                    add_file(&path, whole, nesting - 1, inputs);
                }
            }
            inputs.push(Input::GroupEnd);
        }
        Some(LinkerInput::Script(_)) | None => {}
    }
}

/// An input file with what the linker knows of it.
enum Input {
    Source(usize),
    CompiledSource(usize, Symbols),
    Object(ObjectFile),
    /// Members already linked are taken out.
    Archive {
        members: Vec<Option<ObjectFile>>,
        whole: bool,
    },
    Shared {
        path: PathBuf,
        hash: Key,
        defined: Vec<String>,
    },
    GroupStart,
    GroupEnd,
}

/// The linker's symbol table while it goes over its inputs.
struct Linker<'a> {
    link: &'a Link,
    defined: HashSet<String>,
    common: HashSet<String>,
    undefined: HashSet<String>,
    linked: Vec<Linked>,
    /// Something linked hides its references: any archive member may be wanted.
    opaque: bool,
    inexact: bool,
}

impl<'a> Linker<'a> {
    fn new(link: &'a Link) -> Self {
        Self {
            link,
            defined: HashSet::new(),
            common: HashSet::new(),
            undefined: link.wanted.iter().cloned().collect(),
            linked: Vec::new(),
            opaque: false,
            inexact: false,
        }
    }

    fn in_order(&mut self, inputs: &mut [Input]) {
        let mut at = 0;
        while at < inputs.len() {
            if matches!(inputs[at], Input::GroupStart) {
                let end = inputs[at..].iter().position(|input| matches!(input, Input::GroupEnd));
                let end = end.map_or(inputs.len(), |length| at + length);
                self.group(&mut inputs[at..end]);
                at = end;
            } else {
                self.visit(&mut inputs[at]);
            }
            at += 1;
        }
    }

    /// Visits all inputs again and again until the archives give nothing more.
    fn group(&mut self, inputs: &mut [Input]) {
        for input in &mut *inputs {
            self.visit(input);
        }
        loop {
            let before = self.linked.len();
            for input in &mut *inputs {
                if let Input::Archive { members, .. } = input {
                    self.choose(members);
                }
            }
            if self.linked.len() == before {
                return;
            }
        }
    }

    fn visit(&mut self, input: &mut Input) {
        match input {
            Input::Source(index) => self.linked.push(Linked::Source(*index)),
            Input::CompiledSource(index, symbols) => {
                self.linked.push(Linked::Source(*index));
                self.add_symbols(symbols);
            }
            Input::Object(object) => self.add_object(object),
            Input::Archive { members, whole } => {
                let hidden = members.iter().flatten().any(|member| member.symbols.hidden);
                let hidden = hidden || self.opaque;
                self.inexact |= hidden && !*whole;
                if *whole || hidden {
                    for member in members.iter_mut().filter_map(Option::take) {
                        self.add_object(&member);
                    }
                } else {
                    self.choose(members);
                }
            }
            Input::Shared { path, hash, defined } => {
                for name in defined.drain(..) {
                    self.undefined.remove(&name);
                    self.defined.insert(name);
                }
                self.linked.push(Linked::Shared { path: path.clone(), hash: *hash });
            }
            Input::GroupStart | Input::GroupEnd => {}
        }
    }

    /// Takes members while some member defines what is wanted.
    fn choose(&mut self, members: &mut [Option<ObjectFile>]) {
        loop {
            let before = self.linked.len();
            for slot in &mut *members {
                if let Some(member) = slot.take_if(|member| self.wants(&member.symbols)) {
                    self.add_object(&member);
                }
            }
            if self.linked.len() == before {
                return;
            }
        }
    }

    /// A member is fetched for a definition or tentative definition of something
    /// undefined, and for a real definition of something defined only tentatively.
    fn wants(&self, symbols: &Symbols) -> bool {
        let Symbols { defined, common, .. } = symbols;
        defined.iter().chain(common).any(|name| self.undefined.contains(name))
            || defined.iter().any(|name| self.common.contains(name))
    }

    fn add_object(&mut self, object: &ObjectFile) {
        self.linked.push(Linked::Object { name: object.name.clone(), hash: object.hash });
        self.add_symbols(&object.symbols);
    }

    fn add_symbols(&mut self, symbols: &Symbols) {
        self.opaque |= symbols.hidden;
        for name in &symbols.defined {
            self.undefined.remove(name);
            self.common.remove(name);
            self.defined.insert(name.clone());
        }
        for name in &symbols.common {
            self.undefined.remove(name);
            if !self.defined.contains(name) {
                self.common.insert(name.clone());
            }
        }
        for name in &symbols.undefined {
            let name = self.wrap(name);
            if !self.defined.contains(&name) && !self.common.contains(&name) {
                self.undefined.insert(name);
            }
        }
    }

    fn wrap(&self, name: &str) -> String {
        let is_wrapped = |name: &str| self.link.wrapped.iter().any(|wrapped| wrapped == name);
        match name.strip_prefix("__real_") {
            Some(real) if is_wrapped(real) => real.to_owned(),
            _ if is_wrapped(name) => format!("__wrap_{name}"),
            _ => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
