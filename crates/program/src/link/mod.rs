//! Joining translation units into the program a linker would have made.
//!
//! First symbols, types and tables are matched, which gives each unit a table of new ids;
//! then the bodies are rewritten, in parallel. The result depends on the order of the
//! units alone.

mod bodies;
mod records;
mod split;
mod symbols;
mod tables;
#[cfg(test)]
mod tests;

use base::IdVec;
use rayon::prelude::*;

use crate::{
    ConstId, FileId, Function, FunctionId, Global, GlobalId, LocId, NameId, Program, RecordId,
    TypeId,
};

pub use split::{Split, split};

/// A linked program and what was odd about linking it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linked {
    pub program: Program,
    /// One line each, such as a symbol defined twice.
    pub notices: Vec<String>,
}

/// Where the ids of one unit lead in the linked program.
#[derive(Default)]
struct UnitMap {
    unit: u32,
    files: IdVec<FileId, FileId>,
    names: IdVec<NameId, NameId>,
    locs: IdVec<LocId, LocId>,
    types: IdVec<TypeId, TypeId>,
    records: IdVec<RecordId, RecordId>,
    constants: IdVec<ConstId, ConstId>,
    globals: IdVec<GlobalId, GlobalId>,
    functions: IdVec<FunctionId, FunctionId>,
}

/// Links units in the order given: where several define a symbol, the first counts.
pub fn link(mut units: Vec<Program>) -> Linked {
    if units.len() == 1 && !symbols::has_second_names(&units[0]) {
        return Linked { program: units.remove(0), notices: Vec::new() };
    }
    let symbols = symbols::resolve(&units);
    let mut maps: Vec<UnitMap> = Vec::with_capacity(units.len());
    let mut n_units = 0;
    for (unit, symbols) in units.iter().zip(&symbols.units) {
        maps.push(UnitMap {
            unit: n_units,
            globals: symbols.globals.clone(),
            functions: symbols.functions.clone(),
            ..UnitMap::default()
        });
        n_units += unit.units.len() as u32;
    }
    let mut program = Program::default();
    tables::merge_locs(&units, &mut maps, &mut program);
    let records = records::merge_types(&units, &mut maps, &mut program);
    tables::merge_constants(&units, &symbols, &mut maps, &mut program);
    program.records = records
        .iter()
        .map(|&(unit, record)| bodies::record(&units[unit].records[record], &maps[unit]))
        .collect();
    let globals = symbols.globals.iter().map(|&(unit, global)| {
        let (unit, map) = (&units[unit], &maps[unit]);
        bodies::global(unit.globals[global].clone(), map)
    });
    program.globals = globals.collect::<IdVec<GlobalId, Global>>();
    for (unit, map) in units.iter_mut().zip(&maps) {
        program.units.extend(std::mem::take(&mut unit.units).into_vec());
        let unknown = unit.unknown_code.drain(..).map(|mut unknown| {
            unknown.loc = map.locs[unknown.loc];
            unknown
        });
        program.unknown_code.extend(unknown);
    }
    program.functions = link_functions(units, &maps, &symbols);
    Linked { program, notices: symbols.notices }
}

/// Rewrites the chosen functions of every unit, in parallel.
fn link_functions(
    units: Vec<Program>,
    maps: &[UnitMap],
    symbols: &symbols::Symbols,
) -> IdVec<FunctionId, Function> {
    let mut wanted: Vec<Vec<FunctionId>> = vec![Vec::new(); units.len()];
    for (id, &(unit, _)) in symbols.functions.iter_enumerated() {
        wanted[unit].push(id);
    }
    let rewritten: Vec<Vec<(FunctionId, Function)>> = units
        .into_par_iter()
        .zip(maps)
        .zip(wanted)
        .map(|((unit, map), wanted)| {
            let mut functions: Vec<Option<Function>> =
                unit.functions.into_vec().into_iter().map(Some).collect();
            let taken: Vec<(FunctionId, Function)> = wanted
                .into_iter()
                .filter_map(|id| {
                    let (_, local) = symbols.functions[id];
                    functions[local.0 as usize].take().map(|function| (id, function))
                })
                .collect();
            taken
                .into_par_iter()
                .map(|(id, function)| (id, bodies::function(function, map)))
                .collect()
        })
        .collect();
    let mut all: Vec<(FunctionId, Function)> = rewritten.into_iter().flatten().collect();
    all.sort_by_key(|(id, _)| *id);
    let mut functions: IdVec<FunctionId, Function> =
        all.into_iter().map(|(_, function)| function).collect();
    for (id, function) in functions.iter_enumerated_mut() {
        function.is_noreturn |= symbols.noreturn[id];
    }
    functions
}

impl Program {
    /// The function the program starts with.
    pub fn main(&self) -> Option<FunctionId> {
        symbols::main_of(self)
    }
}
