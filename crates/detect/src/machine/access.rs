//! Reading and writing objects at symbolic offsets.

use logic::{Comparison, Interval, SymbolId, TermId, Terms};
use program::{Const, ConstId, GlobalId, LocId, Ty};

use super::aliases::Shape;
use super::context::{Context, Left};
use super::memory::{Content, Data, Memory, Object, ObjectId, ObjectKind, Write};
use super::origins::is_known_object;
use super::path::Path;
use super::symbols::SymbolKind;
use super::value::{Float, Value};
use crate::outside::reach::MAX_LENGTH;
use crate::outside::{Member, Reach};
use crate::suspects::Suspicion;

/// Writes looked at before a read gives up; loops over big tables need a bound.
const MAX_WRITES: usize = 400;

/// How a read lies to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    Disjoint,
    /// The read lies inside the write, so many bytes after its start where that is constant.
    Inside(Option<i128>),
    /// Only in part, or nobody can tell.
    Unclear,
}

/// What a cell is read as.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub ty: Ty,
    pub signed: bool,
    /// In C terms, for messages.
    pub name: &'a str,
    pub loc: LocId,
    /// The member of a record that is read, where it is one.
    pub member: Option<Member>,
}

/// A read on a path.
pub struct Reader<'c, 'p> {
    pub context: &'c mut Context<'p>,
    pub path: &'c mut Path,
    pub memory: &'c mut Memory,
}

impl Reader<'_, '_> {
    /// The value at `offset`. What had to be made up is written down, so that the next
    /// read finds the same.
    pub fn read(&mut self, object: ObjectId, offset: TermId, wanted: Wanted) -> Value {
        let size = i128::from(wanted.ty.size());
        let snapshot = self.memory.snapshot(object);
        let found = match self.is_doubtful(object, (offset, size), wanted) {
            true => Found::MadeUp(self.make_up(wanted, SymbolKind::Lost)),
            false => self.find(&snapshot, offset, size, wanted, 0),
        };
        match found {
            Found::Value(value) => value,
            Found::Either(term) => {
                let (len, value) = (self.context.constant(size), Value::Int(term));
                self.memory.get_mut(object).remember(offset, len, value, wanted.loc);
                value
            }
            Found::MadeUp(value) => {
                let len = self.context.constant(size);
                self.memory.get_mut(object).remember(offset, len, value, wanted.loc);
                value
            }
        }
    }

    /// Whether what was known of the bytes may have been changed through another pointer. A
    /// pointer is taken to lead where it did: what it leads to would be torn in two.
    fn is_doubtful(
        &mut self,
        object: ObjectId,
        (offset, size): (TermId, i128),
        wanted: Wanted,
    ) -> bool {
        let shape = Shape { ty: wanted.ty, member: wanted.member };
        let Some(changed) = self.memory.changed_elsewhere(object, shape) else { return false };
        let terms = &self.context.terms;
        // The newest write over all of the bytes: what an older one left does not count.
        let known = self.memory.get(object).writes().take(MAX_WRITES).find(|write| {
            let between = terms.range_of_difference(offset, write.offset);
            let len = terms.as_constant(write.len);
            let known = len.and_then(|len| overlap_of_lengths(between, size, len));
            matches!(known, Some(Overlap::Inside(_)))
        });
        known.is_some_and(|write| {
            write.clock < changed && !matches!(write.data, Data::Value(Value::Pointer { .. }))
        })
    }

    fn find(
        &mut self,
        object: &Object,
        offset: TermId,
        size: i128,
        wanted: Wanted,
        depth: u32,
    ) -> Found {
        self.find_after(object, 0, (offset, size), wanted, depth)
    }

    /// The bytes at an offset, as they were before the newest `skipped` writes.
    pub(super) fn find_after(
        &mut self,
        object: &Object,
        skipped: usize,
        (offset, size): (TermId, i128),
        wanted: Wanted,
        depth: u32,
    ) -> Found {
        /// Of these, writes that may or may not be the one that is read.
        const MAX_UNCLEAR: u32 = 3;
        let len = self.context.constant(size);
        // Below all writes to what others made lies nothing that is known.
        let is_own = !matches!(
            object.content,
            Content::Entry | Content::Unknown | Content::Made | Content::Input
        );
        let n_unclear = if is_own { depth } else { MAX_UNCLEAR };
        for (n, write) in object.writes().enumerate().skip(skipped) {
            if n == MAX_WRITES {
                return Found::MadeUp(self.make_up(wanted, SymbolKind::Unknown));
            }
            match self.lies(write, (offset, len)) {
                Overlap::Disjoint => {}
                Overlap::Unclear if write.is_read => {}
                Overlap::Inside(delta) => {
                    let made = self.made_so_far();
                    let found = self.read_write(write, offset, delta, size, wanted, depth);
                    self.date(made, write.frame, write.loc);
                    return found;
                }
                Overlap::Unclear => {
                    let read = (offset, size);
                    let either = (n_unclear < MAX_UNCLEAR)
                        .then(|| self.read_either(object, n, write, read, wanted, n_unclear))
                        .flatten();
                    if let Some(found) = either {
                        return found;
                    }
                    let made = self.made_so_far();
                    let value = self.made_up_of_pieces(object, write, wanted);
                    self.date(made, write.frame, write.loc);
                    self.note_gap(object, (offset, len), value);
                    return Found::MadeUp(value);
                }
            }
        }
        let made = self.made_so_far();
        let found = self.read_content(object, offset, wanted);
        self.date(made, object.left_by, object.left_at);
        found
    }

    /// How a read lies to a write. What only a read left changes nothing, so that it is worth
    /// no proof where it may or may not be the same place.
    fn lies(&mut self, write: &Write, read: (TermId, TermId)) -> Overlap {
        let written = (write.offset, write.len);
        if !write.is_read {
            return overlap(self.context, self.path, read, written);
        }
        let terms = &self.context.terms;
        let between = terms.range_of_difference(read.0, written.0);
        match (terms.as_constant(read.1), terms.as_constant(written.1)) {
            (Some(read), Some(written)) => {
                overlap_of_lengths(between, read, written).unwrap_or(Overlap::Unclear)
            }
            _ => Overlap::Unclear,
        }
    }

    fn made_so_far(&self) -> (usize, usize) {
        (self.context.symbols.count(), self.memory.n_objects())
    }

    /// What was made up since then stands for something that this call left, there.
    fn date(&mut self, (symbols, objects): (usize, usize), frame: u32, loc: LocId) {
        for symbol in symbols..self.context.symbols.count() {
            let from = Left { frame, loc };
            self.context.left.entry(SymbolId(symbol as u32)).or_insert(from);
        }
        for object in objects..self.memory.n_objects() {
            let object = self.memory.get_mut(ObjectId(object as u32));
            object.left_by = object.left_by.min(frame);
        }
    }

    /// The value read may fall between what was written: then it was never set.
    fn note_gap(&mut self, object: &Object, read: (TermId, TermId), value: Value) {
        const MAX_PIECES: usize = 32;
        let Some(name) = self.context.name_of(value) else { return };
        let mut was_empty = matches!(object.content, Content::Uninit(_));
        let mut outside = Vec::new();
        for (n, write) in object.writes().enumerate() {
            match write.data {
                Data::Uninit => {
                    was_empty = true;
                    break;
                }
                _ if n == MAX_PIECES => return,
                _ => {}
            }
            let read_end = self.context.terms.add(read.0, read.1);
            let write_end = self.context.terms.add(write.offset, write.len);
            let before = self.context.terms.compare(Comparison::Le, read_end, write.offset);
            let after = self.context.terms.compare(Comparison::Ge, read.0, write_end);
            outside.push(self.context.terms.or(&[before, after]));
        }
        if !was_empty {
            return;
        }
        let zero = self.context.constant(0);
        outside.push(self.context.terms.compare(Comparison::Ge, read.0, zero));
        if let Some(size) = object.size {
            let end = self.context.terms.add(read.0, read.1);
            outside.push(self.context.terms.compare(Comparison::Le, end, size));
        }
        let gap = self.context.terms.and(&outside);
        self.context.uninit_where.insert(name, gap);
    }

    fn made_up_of_pieces(&mut self, object: &Object, write: &Write, wanted: Wanted) -> Value {
        let from_input =
            matches!(write.data, Data::Unknown { input: true } | Data::String { input: true, .. });
        let kind = match write.data {
            _ if from_input => SymbolKind::Chosen,
            _ if is_known_object(self.context, object, 0) => SymbolKind::Lost,
            _ => SymbolKind::Unknown,
        };
        self.make_up(wanted, kind)
    }

    fn read_write(
        &mut self,
        write: &Write,
        offset: TermId,
        delta: Option<i128>,
        size: i128,
        wanted: Wanted,
        depth: u32,
    ) -> Found {
        match &write.data {
            Data::Value(value) => {
                let written = self.context.terms.as_constant(write.len).unwrap_or(0);
                match delta {
                    // What lies inside of something its own size lies at its start.
                    Some(0) | None if written == size => Found::Value(self.retype(*value, wanted)),
                    Some(delta) => self.part_of_constant(*value, written, delta, size, wanted),
                    None => Found::MadeUp(self.make_up(wanted, SymbolKind::Unknown)),
                }
            }
            Data::Fill { unit, width } => self.read_fill(*unit, *width, size, wanted),
            Data::Copy { from, offset: start } if depth < 8 => {
                let into = self.context.terms.sub(offset, write.offset);
                let source = self.context.terms.add(*start, into);
                let from = from.clone();
                // A made-up value belongs to the copy: the source may change.
                self.find(&from, source, size, wanted, depth + 1)
            }
            Data::Copy { .. } => Found::MadeUp(self.make_up(wanted, SymbolKind::Unknown)),
            Data::String { units, width, input } => {
                let (units, width, input) = (*units, i128::from(*width), *input);
                self.read_string(write, offset, units, width, input, wanted)
            }
            Data::Unknown { input } | Data::NonZero { input } => {
                let kind = if *input { SymbolKind::Chosen } else { SymbolKind::Unknown };
                Found::MadeUp(self.make_up(wanted, kind))
            }
            Data::Lost => Found::MadeUp(self.make_up(wanted, SymbolKind::Lost)),
            Data::Uninit => Found::Value(Value::Uninit(write.loc)),
        }
    }

    fn read_fill(&mut self, unit: Value, width: u64, size: i128, wanted: Wanted) -> Found {
        if i128::from(width) == size {
            return Found::Value(self.retype(unit, wanted));
        }
        let constant = match unit {
            Value::Int(term) => self.context.terms.as_constant(term),
            _ => None,
        };
        match constant {
            Some(0) => Found::Value(self.zero(wanted)),
            Some(byte) if width == 1 && size <= 8 => {
                let repeated = (0..size).fold(0i128, |all, _| all << 8 | (byte & 0xff));
                let term = self.context.constant(repeated);
                Found::Value(self.retype(Value::Int(term), wanted))
            }
            _ => Found::MadeUp(self.make_up(wanted, SymbolKind::Unknown)),
        }
    }

    /// A unit of a string: zero at its end, something else before.
    fn read_string(
        &mut self,
        write: &Write,
        offset: TermId,
        units: TermId,
        width: i128,
        input: bool,
        wanted: Wanted,
    ) -> Found {
        let kind = if input { SymbolKind::Chosen } else { SymbolKind::Unknown };
        if i128::from(wanted.ty.size()) != width {
            return Found::MadeUp(self.make_up(wanted, kind));
        }
        let into = self.context.terms.sub(offset, write.offset);
        let end = self.context.terms.scale(width, units);
        let at_end = self.context.terms.compare(Comparison::Eq, into, end);
        if self.context.prove(self.path, at_end) {
            return Found::Value(self.zero(wanted));
        }
        let before = self.context.terms.compare(Comparison::Lt, into, end);
        if self.context.prove(self.path, before) {
            let bits = width as u32 * 8;
            let symbol = self.context.fresh(
                Interval::new(1, (1 << bits) - 1),
                kind,
                wanted.name,
                wanted.loc,
            );
            return Found::MadeUp(Value::Int(symbol));
        }
        // Zero exactly where the string ends.
        let bits = width as u32 * 8;
        let unit =
            self.context.fresh(Interval::new(1, (1 << bits) - 1), kind, wanted.name, wanted.loc);
        let zero = self.context.constant(0);
        Found::MadeUp(Value::Int(self.context.terms.choice(at_end, zero, unit)))
    }

    fn part_of_constant(
        &mut self,
        value: Value,
        written: i128,
        delta: i128,
        size: i128,
        wanted: Wanted,
    ) -> Found {
        if let Value::Int(term) = value
            && let Some(constant) = self.context.terms.as_constant(term)
            && delta >= 0
            && delta + size <= written
            && written <= 16
        {
            let bits = 8 * size as u32;
            let part = (constant >> (8 * delta)) & if bits >= 127 { -1 } else { (1 << bits) - 1 };
            let term = self.context.constant(part);
            return Found::Value(self.retype(Value::Int(term), wanted));
        }
        if let Value::Uninit(loc) = value {
            return Found::Value(Value::Uninit(loc));
        }
        Found::MadeUp(self.make_up(wanted, SymbolKind::Unknown))
    }

    fn read_content(&mut self, object: &Object, offset: TermId, wanted: Wanted) -> Found {
        if let Some(value) = self.read_outside(object, offset, wanted) {
            return Found::MadeUp(value);
        }
        match object.content {
            Content::Uninit(loc) => Found::Value(Value::Uninit(loc)),
            Content::Zero => Found::Value(self.zero(wanted)),
            Content::Initializer(global) => match self.context.terms.as_constant(offset) {
                Some(offset) => match self.read_initializer(global, offset, wanted) {
                    Some(value) => Found::Value(value),
                    None => Found::MadeUp(self.make_up(wanted, SymbolKind::Unknown)),
                },
                None => match self.read_table(global, offset, wanted) {
                    Some(value) => Found::Value(value),
                    None => Found::MadeUp(self.one_of_table(global, offset, wanted)),
                },
            },
            Content::Entry => {
                let value = self.make_up(wanted, SymbolKind::Entry);
                if let ObjectKind::Global(global) = object.kind {
                    let suspicion = self.context.suspects.of_global(global);
                    suspect(self.context, self.memory, value, suspicion);
                }
                Found::MadeUp(value)
            }
            Content::Unknown => Found::MadeUp(self.make_up(wanted, SymbolKind::Unknown)),
            Content::Made => Found::MadeUp(self.make_up(wanted, SymbolKind::Lost)),
            Content::Input => Found::MadeUp(self.make_up(wanted, SymbolKind::Chosen)),
            Content::Arguments { count } if wanted.ty == Ty::Ptr => {
                let name = object.name.strip_prefix('*').unwrap_or("argv");
                Found::MadeUp(self.read_argument(count, name, offset, wanted.loc))
            }
            Content::Arguments { .. } => Found::MadeUp(self.make_up(wanted, SymbolKind::Chosen)),
        }
    }

    /// A string of the command line, or the null pointer behind the last one.
    fn read_argument(&mut self, count: TermId, argv: &str, offset: TermId, loc: LocId) -> Value {
        let name = match self.context.terms.as_constant(offset) {
            Some(offset) => format!("{argv}[{}]", offset / 8),
            None => format!("a string of {argv}"),
        };
        let length = self.context.fresh(
            Interval::new(0, MAX_LENGTH - 1),
            SymbolKind::Chosen,
            format!("the length of {name}"),
            loc,
        );
        let (start, size) = (self.context.constant(0), self.context.terms.add_constant(length, 1));
        let mut string = Object::new(ObjectKind::Pointee, &name, Some(size), Content::Input);
        string.write(start, size, Data::String { units: length, width: 1, input: true }, loc);
        let end = self.context.terms.scale(8, count);
        string.null = self.context.terms.compare(Comparison::Eq, offset, end);
        string.escaped = true;
        string.loc = loc;
        Value::Pointer { object: self.memory.add(string), offset: start }
    }

    /// What memory handed to the interface holds: members what the program's own stores can
    /// put there, buffers any byte.
    fn read_outside(&mut self, object: &Object, offset: TermId, wanted: Wanted) -> Option<Value> {
        let is_byte = wanted.ty == Ty::Int(8) && wanted.member.is_none();
        if object.is_outside && is_byte {
            // A buffer is only so large, however much the outside has to say.
            let end = self.context.constant(MAX_LENGTH);
            let exists = self.context.terms.compare(Comparison::Le, offset, end);
            self.path.assume(exists, LocId::UNKNOWN, None);
            return Some(self.make_up(wanted, SymbolKind::Chosen));
        }
        let member = wanted.member?;
        let was_found = matches!(object.content, Content::Entry | Content::Input);
        if !was_found || !self.context.outside.outside.holds(member.0) {
            return None;
        }
        let reach = self.context.outside.reach(member).cloned();
        match (wanted.ty, reach) {
            (Ty::Int(1) | Ty::Float(_), Some(Reach::Anything)) => {
                Some(self.make_up(wanted, SymbolKind::Chosen))
            }
            (Ty::Int(bits), Some(reach)) => Some(self.reached(bits, &reach, wanted)),
            (Ty::Ptr, reach) => {
                let is_filled = reach == Some(Reach::Anything) && object.content == Content::Input;
                let kind = if is_filled { SymbolKind::Chosen } else { SymbolKind::Entry };
                let value = self.make_up(wanted, kind);
                if let Value::Pointer { object: target, .. } = value {
                    let target = self.memory.get_mut(target);
                    target.content = object.content;
                    target.is_outside = true;
                }
                Some(value)
            }
            _ => Some(self.make_up(wanted, SymbolKind::Entry)),
        }
    }

    /// One of the values that occur, as the outside chooses.
    fn reached(&mut self, bits: u32, reach: &Reach, wanted: Wanted) -> Value {
        let all = Interval::of_width(bits, wanted.signed);
        let domain = match reach {
            Reach::Anything => all,
            Reach::Range(low, high) => Interval::new(*low, *high),
            Reach::OneOf(numbers) => match (numbers.first(), numbers.last()) {
                (Some(low), Some(high)) => Interval::new(*low, *high),
                _ => all,
            },
        };
        let domain = if domain.is_within(all) { domain } else { all };
        let term = self.context.fresh(domain, SymbolKind::Chosen, wanted.name, wanted.loc);
        if let Reach::OneOf(numbers) = reach {
            let mut equal = Vec::new();
            for number in numbers {
                let number = self.context.constant(*number);
                equal.push(self.context.terms.compare(Comparison::Eq, term, number));
            }
            let one_of = self.context.terms.or(&equal);
            self.path.assume(one_of, LocId::UNKNOWN, None);
        }
        Value::Int(term)
    }

    pub(super) fn read_initializer(
        &mut self,
        global: GlobalId,
        offset: i128,
        wanted: Wanted,
    ) -> Option<Value> {
        let pieces = self.context.program.globals[global].init.as_ref()?;
        let size = i128::from(wanted.ty.size());
        for piece in pieces {
            let constant = &self.context.program.constants[piece.value];
            let start = i128::from(piece.offset);
            let end = start + i128::from(constant.ty().size());
            if offset + size <= start || end <= offset {
                continue;
            }
            if let Const::Bytes(bytes) = constant {
                let from = usize::try_from(offset - start).ok()?;
                let part = bytes.get(from..from + size as usize)?;
                let number =
                    part.iter().rev().fold(0i128, |all, byte| all << 8 | i128::from(*byte));
                let term = self.context.constant(number);
                return Some(self.retype(Value::Int(term), wanted));
            }
            if start == offset && end - start == size {
                return Some(constant_value(self.context, self.memory, piece.value));
            }
            if let Const::Int { value, .. } = constant {
                if offset < start || offset + size > end {
                    return None;
                }
                let number = value >> (8 * (offset - start));
                let mask = if size >= 16 { -1 } else { (1i128 << (8 * size)) - 1 };
                let term = self.context.constant(number & mask);
                return Some(self.retype(Value::Int(term), wanted));
            }
            return matches!(constant, Const::Zero(_) | Const::Null).then(|| self.zero(wanted));
        }
        Some(self.zero(wanted))
    }

    fn zero(&mut self, wanted: Wanted) -> Value {
        match wanted.ty {
            Ty::Float(_) => {
                Value::Float(Float { known: Some(0.0), is_zero: Terms::TRUE, name: None })
            }
            Ty::Int(1) => Value::Bool(Terms::FALSE),
            Ty::Int(_) | Ty::Ptr => Value::Int(self.context.constant(0)),
            _ => Value::Unknown,
        }
    }

    /// A written value as the reader sees it.
    fn retype(&mut self, value: Value, wanted: Wanted) -> Value {
        match (value, wanted.ty) {
            (Value::Int(term), Ty::Float(_)) if self.context.terms.as_constant(term) == Some(0) => {
                self.zero(wanted)
            }
            (Value::Int(_), Ty::Float(_)) | (Value::Float(_), Ty::Int(_) | Ty::Ptr) => {
                self.make_up(wanted, SymbolKind::Unknown)
            }
            (Value::Int(term), Ty::Int(1)) => {
                let zero = self.context.constant(0);
                Value::Bool(self.context.terms.compare(Comparison::Ne, term, zero))
            }
            (Value::Int(term), Ty::Ptr) if self.context.terms.as_constant(term).is_none() => {
                Value::Int(term)
            }
            (Value::Unknown, _) => self.make_up(wanted, SymbolKind::Unknown),
            _ => value,
        }
    }

    /// A value nothing is known of, of the wanted type.
    pub fn make_up(&mut self, wanted: Wanted, kind: SymbolKind) -> Value {
        make_up(self.context, self.memory, wanted, kind)
    }
}

pub(super) enum Found {
    Value(Value),
    /// A number that follows from what was written, by where that went.
    Either(TermId),
    /// Nobody knew: the value was invented for this read.
    MadeUp(Value),
}

/// A value nothing is known of; a pointer leads to an object of its own.
pub fn make_up(
    context: &mut Context,
    memory: &mut Memory,
    wanted: Wanted,
    kind: SymbolKind,
) -> Value {
    match wanted.ty {
        Ty::Int(1) => Value::Bool(context.fresh_bool(kind, wanted.name, wanted.loc)),
        Ty::Int(bits) => {
            let domain = Interval::of_width(bits, wanted.signed);
            Value::Int(context.fresh(domain, kind, wanted.name, wanted.loc))
        }
        Ty::Ptr => {
            let object = foreign_object(context, memory, wanted, kind);
            Value::Pointer { object, offset: context.constant(0) }
        }
        Ty::Float(_) => {
            let is_zero = context.fresh_bool(kind, wanted.name, wanted.loc);
            Value::Float(Float { known: None, is_zero, name: None })
        }
        _ => Value::Unknown,
    }
}

fn foreign_object(
    context: &mut Context,
    memory: &mut Memory,
    wanted: Wanted,
    kind: SymbolKind,
) -> ObjectId {
    let content = match kind {
        SymbolKind::Chosen => Content::Input,
        SymbolKind::Entry => Content::Entry,
        _ => Content::Unknown,
    };
    let name = format!("*{}", wanted.name);
    let size_name = format!("the size of {name}");
    let size_kind = if kind == SymbolKind::Entry { kind } else { SymbolKind::Unknown };
    let size = context.fresh(Interval::new(0, 1 << 62), size_kind, size_name, wanted.loc);
    let mut object = Object::new(ObjectKind::Pointee, &name, Some(size), content);
    object.has_start = false;
    let before_name = format!("the bytes before {}", object.name);
    let before = context.fresh(Interval::new(0, 1 << 62), size_kind, before_name, wanted.loc);
    object.before = Some(before);
    object.escaped = true;
    object.loc = wanted.loc;
    make_nullable(context, &mut object, kind, wanted.name);
    memory.add(object)
}

/// What callers may have done to a pointer before they hand it over is theirs to say.
pub fn suspect(context: &mut Context, memory: &mut Memory, value: Value, suspicion: Suspicion) {
    let Value::Pointer { object, .. } = value else { return };
    let loc = memory.get(object).loc;
    if suspicion.moved_back {
        let name = format!("the bytes before {}", memory.get(object).name);
        let anywhere = Interval::new(-(1 << 62), 1 << 62);
        let before = context.fresh(anywhere, SymbolKind::Entry, name, loc);
        memory.get_mut(object).before = Some(before);
    }
    if suspicion.released {
        let state = context.fresh(Interval::ALL, SymbolKind::Entry, "", loc);
        memory.get_mut(object).attributes.insert("State".into(), Value::Int(state));
    }
}

/// From now on pointers to the object may be null instead.
pub fn make_nullable(context: &mut Context, object: &mut Object, kind: SymbolKind, name: &str) {
    let bit = context.fresh(Interval::new(0, 1), kind, name, object.loc);
    let one = context.constant(1);
    object.null = context.terms.compare(Comparison::Eq, bit, one);
    object.null_bit = context.terms.as_symbol(bit);
}

/// The value of a constant.
pub fn constant_value(context: &mut Context, memory: &mut Memory, id: ConstId) -> Value {
    match &context.program.constants[id] {
        Const::Int { bits: 1, value } => {
            Value::Bool(if *value != 0 { Terms::TRUE } else { Terms::FALSE })
        }
        Const::Int { value, .. } => Value::Int(context.constant(*value)),
        Const::Float { as_f64_bits, .. } => {
            let known = f64::from_bits(*as_f64_bits);
            let is_zero = if known == 0.0 { Terms::TRUE } else { Terms::FALSE };
            Value::Float(Float { known: Some(known), is_zero, name: None })
        }
        Const::Null => Value::Int(context.constant(0)),
        Const::Zero(Ty::Int(1)) => Value::Bool(Terms::FALSE),
        Const::Zero(Ty::Int(_) | Ty::Ptr) => Value::Int(context.constant(0)),
        Const::Zero(Ty::Float(_)) => {
            Value::Float(Float { known: Some(0.0), is_zero: Terms::TRUE, name: None })
        }
        Const::Global { global, offset } => {
            let object = global_object(context, memory, *global);
            Value::Pointer { object, offset: context.constant(i128::from(*offset)) }
        }
        Const::Function(function) => Value::Function(*function),
        _ => Value::Unknown,
    }
}

/// The object of a global, made on first sight.
pub fn global_object(context: &mut Context, memory: &mut Memory, global: GlobalId) -> ObjectId {
    if let Some(object) = memory.global(global) {
        return object;
    }
    let info = &context.program.globals[global];
    let content = match info.init {
        Some(_) if context.keeps_initializer(global) => Content::Initializer(global),
        Some(_) => Content::Entry,
        None => Content::Entry,
    };
    let is_defined = info.init.is_some();
    let size = is_defined.then(|| context.constant(i128::from(info.size)));
    let name = if info.is_string_literal { "a string literal" } else { &info.name };
    let mut object = Object::new(ObjectKind::Global(global), name, size, content);
    object.loc = info.loc;
    object.escaped = true;
    memory.add_global(global, object)
}

/// How the bytes `a` (offset, length) lie to the bytes `b`.
pub fn overlap(
    context: &mut Context,
    path: &Path,
    a: (TermId, TermId),
    b: (TermId, TermId),
) -> Overlap {
    let between = context.terms.range_of_difference(a.0, b.0);
    let lengths = (context.terms.as_constant(a.1), context.terms.as_constant(b.1));
    if let (Some(a_len), Some(b_len)) = lengths {
        let known = overlap_of_lengths(between, a_len, b_len);
        if known.is_some() || between.fixed().is_some() {
            return known.unwrap_or(Overlap::Unclear);
        }
    }
    prove_overlap(context, path, a, b, between.fixed())
}

/// The same where the lengths are constant and the distance between the offsets says enough.
fn overlap_of_lengths(between: Interval, a_len: i128, b_len: i128) -> Option<Overlap> {
    let (low, high) = (between.low, between.high);
    let starts_inside = low.is_some_and(|low| low >= 0);
    if starts_inside && high.is_some_and(|high| high <= b_len - a_len) {
        return Some(Overlap::Inside(between.fixed()));
    }
    let is_before = high.is_some_and(|high| high <= -a_len);
    let is_after = low.is_some_and(|low| low >= b_len);
    (is_before || is_after).then_some(Overlap::Disjoint)
}

/// The same from the conditions of the path.
fn prove_overlap(
    context: &mut Context,
    path: &Path,
    a: (TermId, TermId),
    b: (TermId, TermId),
    delta: Option<i128>,
) -> Overlap {
    let a_end = context.terms.add(a.0, a.1);
    let b_end = context.terms.add(b.0, b.1);
    let starts_inside = context.terms.compare(Comparison::Ge, a.0, b.0);
    let ends_inside = context.terms.compare(Comparison::Le, a_end, b_end);
    let before = context.terms.compare(Comparison::Le, a_end, b.0);
    let after = context.terms.compare(Comparison::Ge, a.0, b_end);
    if starts_inside == Terms::TRUE && ends_inside == Terms::TRUE {
        return Overlap::Inside(delta);
    }
    let premises = context.premises(path, &[before, after, starts_inside, ends_inside]);
    let premises = &premises;
    let mut prove = |formula| context.follows(path, premises, formula);
    if prove(before) || prove(after) {
        Overlap::Disjoint
    } else if prove(starts_inside) && prove(ends_inside) {
        Overlap::Inside(delta)
    } else {
        Overlap::Unclear
    }
}
