//! Lengths of strings: where the first zero unit at or after an address lies.
//!
//! A length is never stored: it follows from the writes to the object, so that a byte
//! written into the middle of a string shortens it and a copied prefix leaves it open.

use logic::{Comparison, Interval, TermId, Terms};
use program::{Const, GlobalId, LocId};

use super::access::{Overlap, overlap};
use super::context::Context;
use super::memory::{Content, Data, Memory, Object, ObjectId, Write};
use super::path::Path;
use super::symbols::SymbolKind;
use super::value::Value;

/// The length of a string in units, without its terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Known(TermId),
    /// No terminator among so many units; what follows is not initialised or not part of
    /// the object.
    Unterminated(TermId),
}

/// Looks for terminators on a path.
pub struct Scanner<'c, 'p> {
    pub context: &'c mut Context<'p>,
    pub path: &'c mut Path,
    pub memory: &'c mut Memory,
    pub loc: LocId,
    /// Bytes per unit: 1, or 4 for `wchar_t`.
    pub width: u64,
}

/// What a scan found, in bytes from the start of the object scanned.
enum Scan {
    /// A terminator.
    Zero(TermId),
    /// No terminator before here, and none known after.
    Open(TermId),
    /// The string goes on here, into something nobody knows.
    Foreign(TermId, SymbolKind),
}

/// Units looked at one by one before a scan gives up.
const MAX_UNITS: usize = 512;

impl Scanner<'_, '_> {
    pub fn length(&mut self, object: ObjectId, offset: TermId) -> Length {
        let snapshot = self.memory.snapshot(object);
        let width = i128::from(self.width);
        match self.scan(&snapshot, offset, 0) {
            Scan::Zero(at) => Length::Known(self.units(offset, at)),
            Scan::Open(at) => Length::Unterminated(self.units(offset, at)),
            Scan::Foreign(at, kind) => {
                let name = format!("the length of {}", snapshot.name);
                let name = name.replace("of *", "of ");
                let rest = self.context.fresh(Interval::new(0, 1 << 40), kind, name, self.loc);
                let bytes = self.context.terms.scale(width, rest);
                for end in self.ends_after(&snapshot, at) {
                    let reached = self.context.terms.add(at, bytes);
                    let ends = self.context.terms.compare(Comparison::Le, reached, end);
                    self.path.assume(ends, LocId::UNKNOWN, None);
                }
                let len = self.context.terms.add_constant(bytes, width);
                let data = Data::String {
                    units: rest,
                    width: self.width,
                    input: kind == SymbolKind::Chosen,
                };
                let end = self.context.terms.add(at, bytes);
                self.memory.get_mut(object).write(at, len, data, self.loc);
                Length::Known(self.units(offset, end))
            }
        }
    }

    /// Where zeros stand at or after a place: a text that goes through something unknown ends
    /// there at the latest.
    fn ends_after(&mut self, object: &Object, at: TermId) -> Vec<TermId> {
        const MAX_WRITES: usize = 16;
        let mut ends = Vec::new();
        for write in object.writes().take(MAX_WRITES).filter(|write| !write.is_read) {
            let end = match write.data {
                Data::Value(value) if self.is_zero(value) == Some(true) => write.offset,
                Data::Fill { unit, .. } if self.is_zero(unit) == Some(true) => write.offset,
                Data::String { units, width, .. } if width == self.width => {
                    let bytes = self.context.terms.scale(i128::from(width), units);
                    self.context.terms.add(write.offset, bytes)
                }
                _ => continue,
            };
            let follows = self.context.terms.compare(Comparison::Ge, end, at);
            let is_overwritten = object
                .writes()
                .take_while(|newer| !std::ptr::eq(*newer, write))
                .any(|newer| !newer.is_read && newer.offset == end);
            if !is_overwritten && self.context.prove(self.path, follows) {
                ends.push(end);
            }
        }
        ends
    }

    fn units(&mut self, from: TermId, to: TermId) -> TermId {
        let bytes = self.context.terms.sub(to, from);
        match self.width {
            1 => bytes,
            width => {
                let width = self.context.constant(i128::from(width));
                self.context.terms.divide(logic::Rounding::Floor, bytes, width)
            }
        }
    }

    fn scan(&mut self, object: &Object, offset: TermId, depth: u32) -> Scan {
        if let Some(terminator) = self.only_read_since(object, offset) {
            return Scan::Zero(terminator);
        }
        let mut cursor = offset;
        let unit = self.context.constant(i128::from(self.width));
        for _ in 0..MAX_UNITS {
            let mut newer: Vec<(TermId, TermId)> = Vec::new();
            let mut covering = None;
            for write in object.writes().take(MAX_UNITS) {
                match overlap(self.context, self.path, (cursor, unit), (write.offset, write.len)) {
                    Overlap::Disjoint => newer.push((write.offset, write.len)),
                    // What a read looked at says no more than what was there, unless the
                    // path tested it.
                    Overlap::Inside(_) if write.is_read && !self.is_tested(write) => {}
                    Overlap::Inside(_) => {
                        covering = Some(write);
                        break;
                    }
                    Overlap::Unclear if write.is_read => {}
                    Overlap::Unclear => return Scan::Foreign(cursor, kind_of(&write.data)),
                }
            }
            let next = match covering {
                Some(write) => self.scan_write(write, cursor, &newer, depth),
                None => self.scan_content(object, cursor, &newer),
            };
            match next {
                Ok(further) => cursor = further,
                Err(scan) => return scan,
            }
        }
        Scan::Foreign(cursor, SymbolKind::Unknown)
    }

    /// The end of a string that was written as a whole and only looked at since: what the path
    /// knows of its units it knows of its length.
    fn only_read_since(&mut self, object: &Object, offset: TermId) -> Option<TermId> {
        let write = object.writes().take(MAX_UNITS).find(|write| !write.is_read)?;
        let Data::String { units, width, .. } = write.data else { return None };
        if width != self.width {
            return None;
        }
        let bytes = self.context.terms.scale(i128::from(width), units);
        let terminator = self.context.terms.add(write.offset, bytes);
        let starts = self.context.terms.compare(Comparison::Le, write.offset, offset);
        let ends = self.context.terms.compare(Comparison::Le, offset, terminator);
        let is_inside =
            self.context.prove(self.path, starts) && self.context.prove(self.path, ends);
        is_inside.then_some(terminator)
    }

    fn is_tested(&mut self, write: &Write) -> bool {
        match write.data {
            Data::Value(value) => self.is_zero(value).is_some(),
            _ => false,
        }
    }

    /// Where the scan goes on after `write`, or how it ends in it.
    fn scan_write(
        &mut self,
        write: &Write,
        cursor: TermId,
        newer: &[(TermId, TermId)],
        depth: u32,
    ) -> Result<TermId, Scan> {
        let end = self.context.terms.add(write.offset, write.len);
        match &write.data {
            Data::Value(value) => self.scan_unit(*value, write, cursor),
            Data::Fill { unit, width } if *width > self.width => {
                let into = self.context.terms.sub(cursor, write.offset);
                self.scan_wide_fill(*unit, *width, into, cursor, end, newer)
            }
            Data::Fill { unit, .. } => match self.is_zero(*unit) {
                Some(true) => Err(Scan::Zero(cursor)),
                Some(false) => Ok(self.up_to(cursor, end, newer)),
                None => Err(Scan::Foreign(cursor, SymbolKind::Unknown)),
            },
            Data::String { units, width, .. } if *width == self.width => {
                let bytes = self.context.terms.scale(i128::from(*width), *units);
                let terminator = self.context.terms.add(write.offset, bytes);
                let further = self.up_to(cursor, terminator, newer);
                if further == terminator { Err(Scan::Zero(terminator)) } else { Ok(further) }
            }
            Data::Copy { from, offset } if depth < 8 => {
                let into = self.context.terms.sub(cursor, write.offset);
                let start = self.context.terms.add(*offset, into);
                let (from, offset) = (from.clone(), *offset);
                let shift = self.context.terms.sub(write.offset, offset);
                let scanned = self.scan(&from, start, depth + 1);
                self.scanned_copy(scanned, shift, cursor, end, newer)
            }
            Data::NonZero { .. } => Ok(self.up_to(cursor, end, newer)),
            Data::Uninit => Err(Scan::Open(cursor)),
            data => Err(Scan::Foreign(cursor, kind_of(data))),
        }
    }

    /// A unit of several of the scan's own, over and over: a wide character read as bytes
    /// has zeros of its own.
    fn scan_wide_fill(
        &mut self,
        unit: Value,
        width: u64,
        into: TermId,
        cursor: TermId,
        end: TermId,
        newer: &[(TermId, TermId)],
    ) -> Result<TermId, Scan> {
        let Value::Int(term) = unit else {
            return Err(Scan::Foreign(cursor, SymbolKind::Unknown));
        };
        let terms = &self.context.terms;
        let (Some(value), Some(into)) = (terms.as_constant(term), terms.as_constant(into)) else {
            return Err(Scan::Foreign(cursor, SymbolKind::Unknown));
        };
        let (step, width) = (self.width as usize, width as usize);
        let bytes = &value.to_le_bytes()[..width.min(16)];
        let start = into.rem_euclid(width as i128) as usize;
        let is_zero = |at: usize| {
            bytes
                .get(at % width..at % width + step)
                .is_some_and(|part| part.iter().all(|b| *b == 0))
        };
        match (start..start + width).step_by(step).find(|at| is_zero(*at)) {
            None => Ok(self.up_to(cursor, end, newer)),
            Some(at) => {
                let zero = self.context.terms.add_constant(cursor, (at - start) as i128);
                let further = self.up_to(cursor, zero, newer);
                if further == zero { Err(Scan::Zero(zero)) } else { Ok(further) }
            }
        }
    }

    fn scanned_copy(
        &mut self,
        scanned: Scan,
        shift: TermId,
        cursor: TermId,
        end: TermId,
        newer: &[(TermId, TermId)],
    ) -> Result<TermId, Scan> {
        let terms = &mut self.context.terms;
        match scanned {
            Scan::Zero(at) => {
                let at = terms.add(at, shift);
                let inside = terms.compare(Comparison::Lt, at, end);
                let outside = terms.not(inside);
                if self.context.prove(self.path, inside) {
                    let further = self.up_to(cursor, at, newer);
                    if further == at { Err(Scan::Zero(at)) } else { Ok(further) }
                } else if self.context.prove(self.path, outside) {
                    Ok(self.up_to(cursor, end, newer))
                } else {
                    Err(Scan::Foreign(cursor, SymbolKind::Unknown))
                }
            }
            Scan::Open(at) => Err(Scan::Open(terms.add(at, shift))),
            Scan::Foreign(at, kind) => Err(Scan::Foreign(terms.add(at, shift), kind)),
        }
    }

    fn scan_unit(&mut self, value: Value, write: &Write, cursor: TermId) -> Result<TermId, Scan> {
        let width = i128::from(self.width);
        if let Value::Uninit(_) = value {
            return Err(Scan::Open(cursor));
        }
        let Value::Int(term) = value else {
            return Err(Scan::Foreign(cursor, SymbolKind::Unknown));
        };
        let into = self.context.terms.sub(cursor, write.offset);
        if let (Some(value), Some(into)) =
            (self.context.terms.as_constant(term), self.context.terms.as_constant(into))
        {
            let bits = 8 * self.width as u32;
            let unit = (value >> (8 * into.clamp(0, 15))) & ((1 << bits) - 1);
            return if unit == 0 {
                Err(Scan::Zero(cursor))
            } else {
                Ok(self.context.terms.add_constant(cursor, width))
            };
        }
        match self.is_zero(value) {
            Some(true) => Err(Scan::Zero(cursor)),
            Some(false) => Ok(self.context.terms.add_constant(cursor, width)),
            None => Err(Scan::Foreign(cursor, self.kind_of_term(term))),
        }
    }

    /// What is made of nothing but outside input is up to the outside.
    fn kind_of_term(&mut self, term: TermId) -> SymbolKind {
        if let Some(symbol) = self.context.terms.as_symbol(term) {
            return self.context.symbols.get(symbol).kind;
        }
        let zero = self.context.constant(0);
        let formula = self.context.terms.compare(Comparison::Eq, term, zero);
        let symbols = self.context.symbols_in(formula);
        let is_chosen =
            |symbol: &logic::SymbolId| self.context.symbols.get(*symbol).kind == SymbolKind::Chosen;
        let chosen = !symbols.is_empty() && symbols.iter().all(is_chosen);
        if chosen { SymbolKind::Chosen } else { SymbolKind::Unknown }
    }

    /// Whether a unit is zero, where the path decides it.
    fn is_zero(&mut self, value: Value) -> Option<bool> {
        let Value::Int(term) = value else { return None };
        let zero = self.context.constant(0);
        let equal = self.context.terms.compare(Comparison::Eq, term, zero);
        let differs = self.context.terms.not(equal);
        if self.context.prove(self.path, equal) {
            Some(true)
        } else {
            self.context.prove(self.path, differs).then_some(false)
        }
    }

    fn scan_content(
        &mut self,
        object: &Object,
        cursor: TermId,
        newer: &[(TermId, TermId)],
    ) -> Result<TermId, Scan> {
        if let Some(size) = object.size
            && object.has_start
        {
            let past = self.context.terms.compare(Comparison::Ge, cursor, size);
            if self.context.prove(self.path, past) {
                return Err(Scan::Open(cursor));
            }
        }
        match object.content {
            Content::Uninit(_) => Err(Scan::Open(cursor)),
            Content::Zero => Err(Scan::Zero(cursor)),
            Content::Initializer(global) => match self.initial_terminator(global, cursor) {
                Some(at) => {
                    let further = self.up_to(cursor, at, newer);
                    if further == at { Err(Scan::Zero(at)) } else { Ok(further) }
                }
                None => Err(Scan::Foreign(cursor, SymbolKind::Unknown)),
            },
            Content::Entry => Err(Scan::Foreign(cursor, SymbolKind::Entry)),
            Content::Unknown => Err(Scan::Foreign(cursor, SymbolKind::Unknown)),
            Content::Made => Err(Scan::Foreign(cursor, SymbolKind::Lost)),
            Content::Input | Content::Arguments { .. } => {
                Err(Scan::Foreign(cursor, SymbolKind::Chosen))
            }
        }
    }

    /// The terminator in a global's initialiser at or after a constant offset.
    fn initial_terminator(&mut self, global: GlobalId, cursor: TermId) -> Option<TermId> {
        let from = usize::try_from(self.context.terms.as_constant(cursor)?).ok()?;
        let global = &self.context.program.globals[global];
        let mut bytes = vec![0u8; usize::try_from(global.size).ok()?.min(1 << 20)];
        for piece in global.init.as_ref()? {
            let start = usize::try_from(piece.offset).ok()?;
            write_constant(&mut bytes, start, &self.context.program.constants[piece.value])?;
        }
        let width = self.width as usize;
        let at = (from..bytes.len()).step_by(width).find(|at| {
            bytes.get(*at..*at + width).is_some_and(|unit| unit.iter().all(|b| *b == 0))
        })?;
        Some(self.context.constant(at as i128))
    }

    /// `end`, or the start of the first newer write between `cursor` and `end`.
    fn up_to(&mut self, cursor: TermId, end: TermId, newer: &[(TermId, TermId)]) -> TermId {
        let mut nearest = end;
        for (start, len) in newer {
            if self.context.terms.as_constant(*len) == Some(0) {
                continue;
            }
            let after = self.context.terms.compare(Comparison::Gt, *start, cursor);
            let nearer = self.context.terms.compare(Comparison::Lt, *start, nearest);
            let inside = self.context.terms.and(&[after, nearer]);
            let decided = inside == Terms::TRUE
                || (inside != Terms::FALSE && self.context.prove(self.path, inside));
            if decided {
                nearest = *start;
            }
        }
        nearest
    }
}

fn write_constant(bytes: &mut [u8], start: usize, constant: &Const) -> Option<()> {
    match constant {
        Const::Bytes(part) => bytes.get_mut(start..start + part.len())?.copy_from_slice(part),
        Const::Int { bits, value } => {
            let size = (*bits as usize).div_ceil(8).min(16);
            bytes.get_mut(start..start + size)?.copy_from_slice(&value.to_le_bytes()[..size]);
        }
        Const::Zero(_) | Const::Null => {}
        _ => return None,
    }
    Some(())
}

fn kind_of(data: &Data) -> SymbolKind {
    match data {
        Data::Unknown { input: true } | Data::String { input: true, .. } => SymbolKind::Chosen,
        _ => SymbolKind::Unknown,
    }
}
