//! Recognising the same record type in several units, and interning C types.
//!
//! Two records are one if they have the same tag and layout, and the records their members
//! lead to are one in turn. Types may be recursive, so this is found by refinement: records
//! are grouped by what can be seen of each alone, then groups are split until members of a
//! group agree on the groups they refer to. A record that a unit only declares belongs to
//! the definition of its name if there is one such group.

use std::hash::{DefaultHasher, Hash, Hasher};

use base::IdVec;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::UnitMap;
use super::tables::{Interner, intern};
use crate::{CType, LocId, Program, Record, RecordId, RecordKind, TypeId};

/// Identifies a group of records that look alike so far.
type Group = u64;
type Groups = Vec<IdVec<RecordId, Group>>;

/// Refinement ends when no group splits; in C it takes two or three rounds.
const MAX_ROUNDS: usize = 16;

/// Fills the units' maps for records and types and the program's types; says for each
/// record of the program where its definition is.
pub fn merge_types(
    units: &[Program],
    maps: &mut [UnitMap],
    program: &mut Program,
) -> Vec<(usize, RecordId)> {
    let groups = group_records(units);
    let mut ids: FxHashMap<Group, RecordId> = FxHashMap::default();
    let mut sources: Vec<(usize, RecordId)> = Vec::new();
    for (index, (unit, map)) in units.iter().zip(maps.iter_mut()).enumerate() {
        for (local, record) in unit.records.iter_enumerated() {
            let mut new_id = || {
                sources.push((index, local));
                RecordId(sources.len() as u32 - 1)
            };
            let id = *ids.entry(groups[index][local]).or_insert_with(&mut new_id);
            let (unit, representative) = sources[id.0 as usize];
            let current = &units[unit].records[representative];
            let id = if !current.complete && record.complete {
                sources[id.0 as usize] = (index, local);
                id
            } else if record.complete && record.members.len() != current.members.len() {
                // Not a group but a clash of hashes.
                sources.push((index, local));
                RecordId(sources.len() as u32 - 1)
            } else {
                id
            };
            map.records.push(id);
        }
    }
    let mut types: Interner<CType> = Interner::default();
    types.insert(CType::Unknown);
    for (unit, map) in units.iter().zip(maps.iter_mut()) {
        map.types = intern_types(unit, &map.records, &mut types);
    }
    program.types = types.into_iter().collect();
    sources
}

fn group_records(units: &[Program]) -> Groups {
    let mut groups: Groups = units.par_iter().map(|unit| hash_records(unit, None)).collect();
    let mut n_groups = join_declarations(units, &mut groups);
    for _ in 0..MAX_ROUNDS {
        let refined: Groups = units
            .par_iter()
            .zip(&groups)
            .map(|(unit, groups)| hash_records(unit, Some(groups)))
            .collect();
        let before = n_groups;
        groups = refined;
        n_groups = join_declarations(units, &mut groups);
        if n_groups <= before {
            break;
        }
    }
    groups
}

/// Puts declared records with the definition of the same name; counts the groups.
fn join_declarations(units: &[Program], groups: &mut Groups) -> usize {
    let mut defined: FxHashMap<(RecordKind, &str), Option<Group>> = FxHashMap::default();
    let mut distinct: FxHashSet<Group> = FxHashSet::default();
    for (unit, groups) in units.iter().zip(groups.iter()) {
        for (record, &group) in unit.records.iter().zip(groups) {
            if !record.complete || record.name.is_empty() {
                continue;
            }
            distinct.insert(group);
            defined
                .entry((record.kind, &record.name))
                .and_modify(|known| *known = known.filter(|known| *known == group))
                .or_insert(Some(group));
        }
    }
    for (unit, groups) in units.iter().zip(groups.iter_mut()) {
        for (record, group) in unit.records.iter().zip(groups.iter_mut()) {
            let definition = defined.get(&(record.kind, &*record.name)).copied().flatten();
            if let Some(definition) = definition.filter(|_| !record.complete) {
                *group = definition;
            }
        }
    }
    distinct.len()
}

/// Hashes what a unit says of each record. Records that members refer to count by their
/// group, or at first by kind and name.
fn hash_records(unit: &Program, groups: Option<&IdVec<RecordId, Group>>) -> IdVec<RecordId, Group> {
    let mut types = HashTypes { unit, groups, done: IdVec::filled(None, unit.types.len()) };
    unit.records
        .iter()
        .map(|record| {
            let mut hasher = DefaultHasher::new();
            hash_identity(unit, record, &mut hasher);
            (record.complete, record.size, record.members.len()).hash(&mut hasher);
            for member in &record.members {
                (&member.name, member.offset_bits, member.size_bits).hash(&mut hasher);
                (member.is_bit_field, types.hash(member.ctype, 0)).hash(&mut hasher);
            }
            hasher.finish()
        })
        .collect()
}

/// What names a record: its tag, or where it stands if it has none.
fn hash_identity(unit: &Program, record: &Record, hasher: &mut DefaultHasher) {
    (record.kind, &record.name).hash(hasher);
    if record.name.is_empty()
        && record.loc != LocId::UNKNOWN
        && let Some(loc) = unit.locs.get(record.loc)
    {
        (loc.line, loc.column).hash(hasher);
        unit.files.get(loc.file).map(|file| &file.path).hash(hasher);
    }
}

struct HashTypes<'a> {
    unit: &'a Program,
    groups: Option<&'a IdVec<RecordId, Group>>,
    done: IdVec<TypeId, Option<u64>>,
}

/// Deeper than this is no C, or a type that contains itself other than through a record.
const MAX_NESTING: u32 = 500;

impl HashTypes<'_> {
    fn hash(&mut self, id: TypeId, depth: u32) -> u64 {
        if let Some(done) = self.done[id] {
            return done;
        }
        if depth > MAX_NESTING {
            return 0;
        }
        let mut hasher = DefaultHasher::new();
        let ctype = &self.unit.types[id];
        std::mem::discriminant(ctype).hash(&mut hasher);
        match ctype {
            CType::Record(record) => match self.groups {
                Some(groups) => groups[*record].hash(&mut hasher),
                None => hash_identity(self.unit, &self.unit.records[*record], &mut hasher),
            },
            CType::Pointer(inner)
            | CType::Const(inner)
            | CType::Volatile(inner)
            | CType::Restrict(inner)
            | CType::Atomic(inner) => self.hash(*inner, depth + 1).hash(&mut hasher),
            CType::Array { element, count } => {
                (self.hash(*element, depth + 1), count).hash(&mut hasher);
            }
            CType::Vector { element, count } => {
                (self.hash(*element, depth + 1), count).hash(&mut hasher);
            }
            CType::Typedef { name, target } => {
                (name, self.hash(*target, depth + 1)).hash(&mut hasher);
            }
            CType::Function { result, params, variadic } => {
                (self.hash(*result, depth + 1), variadic, params.len()).hash(&mut hasher);
                for param in params {
                    self.hash(*param, depth + 1).hash(&mut hasher);
                }
            }
            leaf => leaf.hash(&mut hasher),
        }
        let hash = hasher.finish();
        self.done[id] = Some(hash);
        hash
    }
}

fn intern_types(
    unit: &Program,
    records: &IdVec<RecordId, RecordId>,
    types: &mut Interner<CType>,
) -> IdVec<TypeId, TypeId> {
    let mut interning =
        InternTypes { unit, records, types, done: IdVec::filled(None, unit.types.len()) };
    unit.types.ids().map(|id| interning.intern(id, 0)).collect()
}

struct InternTypes<'a> {
    unit: &'a Program,
    records: &'a IdVec<RecordId, RecordId>,
    types: &'a mut Interner<CType>,
    done: IdVec<TypeId, Option<TypeId>>,
}

impl InternTypes<'_> {
    fn intern(&mut self, id: TypeId, depth: u32) -> TypeId {
        if let Some(done) = self.done[id] {
            return done;
        }
        if depth > MAX_NESTING {
            return TypeId::UNKNOWN;
        }
        let (unit, records) = (self.unit, self.records);
        let mut inner = |inner: TypeId| self.intern(inner, depth + 1);
        let ctype = match &unit.types[id] {
            CType::Record(record) => CType::Record(records[*record]),
            CType::Pointer(target) => CType::Pointer(inner(*target)),
            CType::Const(target) => CType::Const(inner(*target)),
            CType::Volatile(target) => CType::Volatile(inner(*target)),
            CType::Restrict(target) => CType::Restrict(inner(*target)),
            CType::Atomic(target) => CType::Atomic(inner(*target)),
            CType::Array { element, count } => {
                CType::Array { element: inner(*element), count: *count }
            }
            CType::Vector { element, count } => {
                CType::Vector { element: inner(*element), count: *count }
            }
            CType::Typedef { name, target } => {
                CType::Typedef { name: name.clone(), target: inner(*target) }
            }
            CType::Function { result, params, variadic } => CType::Function {
                result: inner(*result),
                params: params.iter().map(|param| inner(*param)).collect(),
                variadic: *variadic,
            },
            leaf => leaf.clone(),
        };
        let new = intern(self.types, ctype);
        self.done[id] = Some(new);
        new
    }
}
