//! Interning files, names, locations and constants over all units.

use base::IdVec;
use base::id::Id;
use base::source::Origin;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::UnitMap;
use super::symbols::Symbols;
use crate::{Const, ConstId, FunctionId, Loc, LocId, Program, SourceFile, Ty};

pub type Interner<T> = IndexSet<T, FxBuildHasher>;

pub fn intern<I: Id, T: std::hash::Hash + Eq>(interner: &mut Interner<T>, item: T) -> I {
    I::from_index(interner.insert_full(item).0)
}

pub fn merge_locs(units: &[Program], maps: &mut [UnitMap], program: &mut Program) {
    let mut files: Interner<&SourceFile> = Interner::default();
    let mut names: Interner<&str> = Interner::default();
    let mut locs: Interner<Loc> = Interner::default();
    for (unit, map) in units.iter().zip(maps) {
        map.files = unit.files.iter().map(|file| intern(&mut files, file)).collect();
        map.names = unit.names.iter().map(|name| intern(&mut names, &**name)).collect();
        map.locs = IdVec::from_vec(Vec::with_capacity(unit.locs.len()));
        for (id, loc) in unit.locs.iter_enumerated() {
            if !id.is_known() && !locs.is_empty() {
                map.locs.push(LocId::UNKNOWN);
                continue;
            }
            let origin = match loc.origin {
                Origin::Plain => Origin::Plain,
                Origin::Argument(name) => Origin::Argument(map.names[name]),
                Origin::Body(name) => Origin::Body(map.names[name]),
            };
            let file = map.files.get(loc.file).copied().unwrap_or(loc.file);
            map.locs.push(intern(&mut locs, Loc { file, origin, ..*loc }));
        }
    }
    program.files = files.into_iter().cloned().collect();
    program.names = names.into_iter().map(Box::from).collect();
    program.locs = locs.into_iter().collect();
}

pub fn merge_constants(
    units: &[Program],
    symbols: &Symbols,
    maps: &mut [UnitMap],
    program: &mut Program,
) {
    let mut constants: Interner<Const> = Interner::default();
    for (index, (unit, map)) in units.iter().zip(maps).enumerate() {
        let mut merge = Merge { index, unit, symbols, constants: &mut constants, map };
        merge.run();
    }
    program.constants = constants.into_iter().collect();
}

struct Merge<'a> {
    index: usize,
    unit: &'a Program,
    symbols: &'a Symbols,
    constants: &'a mut Interner<Const>,
    map: &'a mut UnitMap,
}

/// Aggregates nest as deep as C types do; deeper than this is no C.
const MAX_NESTING: u32 = 200;

impl Merge<'_> {
    fn run(&mut self) {
        let mut done: IdVec<ConstId, Option<ConstId>> =
            IdVec::filled(None, self.unit.constants.len());
        for id in self.unit.constants.ids() {
            self.constant(id, &mut done, 0);
        }
        self.map.constants = done.iter().map(|id| id.unwrap_or(ConstId(0))).collect();
    }

    fn constant(
        &mut self,
        id: ConstId,
        done: &mut IdVec<ConstId, Option<ConstId>>,
        depth: u32,
    ) -> ConstId {
        if let Some(done) = done[id] {
            return done;
        }
        let constant = match &self.unit.constants[id] {
            Const::Global { global, offset } => {
                Const::Global { global: self.map.globals[*global], offset: *offset }
            }
            Const::Function(function) => Const::Function(self.map.functions[*function]),
            Const::Label { function, block } if self.is_taken(*function) => {
                Const::Label { function: self.map.functions[*function], block: *block }
            }
            Const::Label { .. } => {
                Const::Opaque { ty: Ty::Ptr, text: "label of a definition not linked".into() }
            }
            Const::Aggregate { ty, .. } if depth > MAX_NESTING => {
                Const::Opaque { ty: *ty, text: "aggregate nested too deep".into() }
            }
            Const::Aggregate { ty, elements } => {
                let elements = elements
                    .iter()
                    .map(|element| self.constant(*element, done, depth + 1))
                    .collect();
                Const::Aggregate { ty: *ty, elements }
            }
            other => other.clone(),
        };
        let new = intern(self.constants, constant);
        done[id] = Some(new);
        new
    }

    /// Whether the unit's own body of the function is the one linked.
    fn is_taken(&self, function: FunctionId) -> bool {
        let id = self.symbols.units[self.index].functions[function];
        self.symbols.functions[id] == (self.index, function)
    }
}
