//! Which definition each symbol means.

use base::IdVec;
use rustc_hash::FxHashMap;

use crate::{Function, FunctionId, Global, GlobalId, Linkage, LocId, Program};

#[derive(Default)]
pub struct Symbols {
    /// For each unit where its symbols lead; a second name leads to what it stands for.
    pub units: Vec<UnitSymbols>,
    /// For each symbol of the program the unit and symbol whose record is taken.
    pub functions: IdVec<FunctionId, (usize, FunctionId)>,
    pub globals: IdVec<GlobalId, (usize, GlobalId)>,
    /// Declared as never returning by some unit.
    pub noreturn: IdVec<FunctionId, bool>,
    pub notices: Vec<String>,
}

#[derive(Clone, Default)]
pub struct UnitSymbols {
    pub functions: IdVec<FunctionId, FunctionId>,
    pub globals: IdVec<GlobalId, GlobalId>,
}

/// How strongly a record claims its symbol; of equals, the first counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Declared,
    /// Declared with a type.
    Prototype,
    Inline,
    Common,
    Weak,
    Strong,
}

pub fn resolve(units: &[Program]) -> Symbols {
    let mut symbols = Symbols::default();
    let mut functions: FxHashMap<&str, FunctionId> = FxHashMap::default();
    let mut globals: FxHashMap<&str, GlobalId> = FxHashMap::default();
    for (index, unit) in units.iter().enumerate() {
        let mut mapped = UnitSymbols::default();
        for (local, function) in unit.functions.iter_enumerated() {
            let id = symbols.function(units, &mut functions, (index, local), function);
            mapped.functions.push(id);
        }
        for (local, global) in unit.globals.iter_enumerated() {
            let id = symbols.global(units, &mut globals, (index, local), global);
            mapped.globals.push(id);
        }
        symbols.units.push(mapped);
    }
    symbols.follow_second_names(units);
    symbols
}

impl Symbols {
    fn function<'a>(
        &mut self,
        units: &[Program],
        by_name: &mut FxHashMap<&'a str, FunctionId>,
        source: (usize, FunctionId),
        function: &'a Function,
    ) -> FunctionId {
        let known = match function.linkage {
            Linkage::Internal => None,
            _ => by_name.get(&*function.name).copied(),
        };
        let Some(id) = known else {
            let id = self.functions.push(source);
            self.noreturn.push(function.is_noreturn);
            if function.linkage != Linkage::Internal {
                by_name.insert(&function.name, id);
            }
            return id;
        };
        self.noreturn[id] |= function.is_noreturn;
        let (unit, local) = self.functions[id];
        let current = &units[unit].functions[local];
        let (old, new) = (function_claim(current), function_claim(function));
        if old == Claim::Strong && new == Claim::Strong {
            let places = [(&units[unit], current.loc), (&units[source.0], function.loc)];
            self.defined_twice(&function.name, places);
        } else if new > old {
            self.functions[id] = source;
        }
        id
    }

    fn global<'a>(
        &mut self,
        units: &[Program],
        by_name: &mut FxHashMap<&'a str, GlobalId>,
        source: (usize, GlobalId),
        global: &'a Global,
    ) -> GlobalId {
        let is_own = global.linkage == Linkage::Internal || global.name.is_empty();
        let Some(id) = (if is_own { None } else { by_name.get(&*global.name).copied() }) else {
            let id = self.globals.push(source);
            if !is_own {
                by_name.insert(&global.name, id);
            }
            return id;
        };
        let (unit, local) = self.globals[id];
        let current = &units[unit].globals[local];
        let (old, new) = (global_claim(current), global_claim(global));
        if old == Claim::Strong && new == Claim::Strong {
            let places = [(&units[unit], current.loc), (&units[source.0], global.loc)];
            self.defined_twice(&global.name, places);
        } else if new > old || (new == old && new != Claim::Weak && global.size > current.size) {
            // Of tentative definitions and of declarations the largest is meant.
            self.globals[id] = source;
        }
        id
    }

    fn defined_twice(&mut self, name: &str, [first, second]: [(&Program, LocId); 2]) {
        let (first, second) = (place(first.0, first.1), place(second.0, second.1));
        let notice =
            format!("`{name}` is defined at {first} and again at {second}; the first counts");
        self.notices.push(notice);
    }

    /// Lets references to a second name (an alias) lead to what it stands for.
    fn follow_second_names(&mut self, units: &[Program]) {
        let functions = follow(&self.functions, |(unit, local)| {
            let target = units[unit].functions[local].alias_of.as_deref()?;
            let same = units[unit].functions.iter().position(|f| &*f.name == target)?;
            Some(self.units[unit].functions[FunctionId(same as u32)])
        });
        let globals = follow(&self.globals, |(unit, local)| {
            let target = units[unit].globals[local].alias_of.as_deref()?;
            let same = units[unit].globals.iter().position(|g| &*g.name == target)?;
            Some(self.units[unit].globals[GlobalId(same as u32)])
        });
        for unit in &mut self.units {
            unit.functions.iter_mut().for_each(|id| *id = functions[*id]);
            unit.globals.iter_mut().for_each(|id| *id = globals[*id]);
        }
    }
}

/// The end of each symbol's chain of second names.
fn follow<I: base::id::Id, S: Copy>(
    sources: &IdVec<I, S>,
    target: impl Fn(S) -> Option<I>,
) -> IdVec<I, I> {
    const MAX_CHAIN: usize = 16;
    let end_of = |start: I| {
        let mut end = start;
        for _ in 0..MAX_CHAIN {
            match target(sources[end]) {
                Some(next) if next != end => end = next,
                _ => return end,
            }
        }
        start
    };
    sources.ids().map(end_of).collect()
}

fn function_claim(function: &Function) -> Claim {
    if function.body.is_none() && function.alias_of.is_none() {
        return if function.ctype.is_known() { Claim::Prototype } else { Claim::Declared };
    }
    match function.linkage {
        Linkage::Weak => Claim::Weak,
        Linkage::Inline => Claim::Inline,
        _ => Claim::Strong,
    }
}

fn global_claim(global: &Global) -> Claim {
    match global.linkage {
        _ if global.init.is_none() && global.alias_of.is_none() => Claim::Declared,
        Linkage::Weak => Claim::Weak,
        Linkage::Common => Claim::Common,
        Linkage::Inline => Claim::Inline,
        _ => Claim::Strong,
    }
}

/// Whether other units can use the definition.
pub fn defines(function: &Function) -> bool {
    function.linkage != Linkage::Internal && function_claim(function) > Claim::Inline
}

pub fn defines_object(global: &Global) -> bool {
    global.linkage != Linkage::Internal
        && !global.name.is_empty()
        && global_claim(global) > Claim::Inline
}

pub fn has_second_names(unit: &Program) -> bool {
    unit.functions.iter().any(|function| function.alias_of.is_some())
        || unit.globals.iter().any(|global| global.alias_of.is_some())
}

pub fn main_of(program: &Program) -> Option<FunctionId> {
    let is_main = |function: &Function| &*function.name == "main" && defines(function);
    program.functions.iter().position(is_main).map(|index| FunctionId(index as u32))
}

fn place(program: &Program, loc: LocId) -> String {
    match program.locs.get(loc).filter(|_| loc.is_known()) {
        Some(loc) => format!("{}:{}", program.files[loc.file].path, loc.line),
        None => program.units.iter().next().map_or_else(String::new, |unit| unit.path.clone()),
    }
}
