//! Places in memory as C lvalues: `p->hdr.len`, `a[i + 1]`.

use super::expr::{Level, Renderer, Text};
use crate::{
    Access, Address, CType, Const, GlobalId, Member, Op, Operand, PathStep, RecordId, TypeId, VarId,
};

/// A place, named by an lvalue or by a pointer to it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    text: Text,
    /// `text` is a pointer to the place rather than the place.
    is_pointer: bool,
    /// How to write the place's address where that is not `&text`: `p + i`, or an array's
    /// name for its first element.
    address: Option<Text>,
    /// The type of the object there.
    ctype: TypeId,
}

impl Place {
    fn object(text: String, ctype: TypeId) -> Self {
        Self { text: Text::primary(text), is_pointer: false, address: None, ctype }
    }

    fn behind(pointer: Text, ctype: TypeId) -> Self {
        Self { text: pointer, is_pointer: true, address: None, ctype }
    }
}

impl Renderer<'_> {
    /// What an access reads or writes.
    pub(super) fn accessed(&self, access: &Access, depth: u32) -> Text {
        let mut place = self.place(access.ptr, depth);
        for step in &access.path {
            place = self.step(place, step, None, depth);
        }
        self.lvalue(&place)
    }

    /// The place itself.
    pub(super) fn lvalue(&self, place: &Place) -> Text {
        match place.is_pointer {
            true => Text::unary(format!("*{}", place.text.at_least(Level::Unary))),
            false => place.text.clone(),
        }
    }

    /// The place's address.
    pub(super) fn address_of(&self, place: &Place) -> Text {
        if place.is_pointer {
            return place.text.clone();
        }
        let is_array = matches!(self.program.resolved_type(place.ctype), CType::Array { .. });
        match &place.address {
            Some(address) => address.clone(),
            // An array stands for its address.
            None if is_array || place.text.text.starts_with('"') => place.text.clone(),
            None => Text::unary(format!("&{}", place.text.at_least(Level::Unary))),
        }
    }

    /// What `pointer` points to.
    pub(super) fn place(&self, pointer: Operand, depth: u32) -> Place {
        match pointer {
            Operand::Inst(inst) => match &self.body_inst(inst).op {
                Op::Alloca { variable: Some(variable), count: None, .. } => {
                    self.variable_place(*variable)
                }
                // A variable bound to the address is the better name of it.
                Op::Address(address) if self.name(pointer).is_none() => {
                    self.address_place(address, depth)
                }
                _ => self.pointed_to(pointer, depth),
            },
            Operand::Const(id) => match &self.program.constants[id] {
                Const::Global { global, offset } => self.global_place(*global, *offset),
                _ => self.pointed_to(pointer, depth),
            },
            Operand::Param(index) => match self.by_value_variable(index) {
                Some(variable) => self.variable_place(variable),
                None => self.pointed_to(pointer, depth),
            },
        }
    }

    fn pointed_to(&self, pointer: Operand, depth: u32) -> Place {
        let ctype = self.program.pointee(self.ctype(pointer));
        Place::behind(self.value(pointer, depth), ctype)
    }

    fn variable_place(&self, variable: VarId) -> Place {
        let ctype = self.variable(variable).map_or(TypeId::UNKNOWN, |variable| variable.ctype);
        Place::object(self.variable_name(variable), ctype)
    }

    pub(super) fn global_place(&self, id: GlobalId, offset: i64) -> Place {
        let global = &self.program.globals[id];
        let name = match self.literal(id) {
            Some(literal) => literal,
            None if global.name.is_empty() => "<unnamed object>".to_owned(),
            None => global.name.rsplit('.').next().unwrap_or_default().to_owned(),
        };
        let whole = Place::object(name, global.ctype);
        match u64::try_from(offset) {
            Ok(0) => whole,
            Ok(offset) => self.part(whole, offset),
            Err(_) => self.moved(whole, offset, Vec::new()),
        }
    }

    /// The part of an object at a byte offset, by its type.
    fn part(&self, mut place: Place, offset: u64) -> Place {
        let mut left = offset;
        for _ in 0..32 {
            match self.program.resolved_type(place.ctype) {
                CType::Record(record) => {
                    let Some((member, found)) = self.program.member_at(*record, left) else {
                        break;
                    };
                    if found.is_bit_field {
                        return self.bit_fields(place, *record, left);
                    }
                    left -= found.offset_bits / 8;
                    place = self.field(place, *record, member);
                }
                CType::Array { element, .. } => {
                    let Some(size) = self.program.size_of(*element).filter(|size| *size > 0) else {
                        break;
                    };
                    let index = Text::primary((left / size).to_string());
                    left %= size;
                    place = self.index(place, index, false);
                }
                _ => break,
            }
            if left == 0 {
                return place;
            }
        }
        self.moved(place, left as i64, Vec::new())
    }

    /// The bit-fields that share the byte at `offset` of a record.
    fn bit_fields(&self, place: Place, record: RecordId, offset: u64) -> Place {
        let members = &self.program.records[record].members;
        let byte = 8 * offset..8 * offset + 8;
        let shares = |member: &&Member| {
            let end = member.offset_bits + member.size_bits;
            member.is_bit_field && member.offset_bits < byte.end && end > byte.start
        };
        let names: Vec<&str> = members.iter().filter(shares).map(|m| &*m.name).collect();
        self.member(place, &alternatives(&names), TypeId::UNKNOWN)
    }

    pub(super) fn address_place(&self, address: &Address, depth: u32) -> Place {
        // Unreachable code may compute an address from itself.
        let Some(deeper) = depth.checked_sub(1) else {
            return Place::behind(Text::primary("...".to_owned()), TypeId::UNKNOWN);
        };
        let base = self.place(address.base, deeper);
        if address.path.is_empty() {
            let size = self.program.size_of(base.ctype).unwrap_or(0);
            let is_record = self.program.record_of(base.ctype).is_some();
            if let Ok(offset) = u64::try_from(address.offset)
                && address.terms.is_empty()
                && is_record
                && offset < size
            {
                return self.part(base, offset);
            }
            let terms = address.terms.iter().map(|term| {
                let index = self.value(term.index, depth.saturating_sub(1));
                (term.stride, index)
            });
            return self.moved(base, address.offset, terms.collect());
        }
        let mut place = base;
        for step in &address.path {
            place = self.step(place, step, Some(address), depth);
        }
        place
    }

    /// A place found by counting bytes.
    fn moved(&self, place: Place, offset: i64, terms: Vec<(i64, Text)>) -> Place {
        let is_bytes = matches!(terms.as_slice(), [(1, _)] | [])
            && self.program.size_of(place.ctype) == Some(1);
        let pointer = self.address_of(&place);
        let mut text = match is_bytes {
            true => pointer.at_least(Level::Add),
            false => format!("(char *){}", pointer.at_least(Level::Unary)),
        };
        let mut has_moved = false;
        for (stride, index) in terms {
            has_moved = true;
            match stride {
                1 => text = format!("{text} + {}", index.at_least(Level::Multiply)),
                _ => text = format!("{text} + {stride} * {}", index.at_least(Level::Unary)),
            }
        }
        match offset {
            0 if !has_moved => return Place::behind(pointer, place.ctype),
            0 => {}
            1.. => text = format!("{text} + {offset}"),
            _ => text = format!("{text} - {}", offset.unsigned_abs()),
        }
        Place::behind(Text { text, level: Level::Add }, TypeId::UNKNOWN)
    }

    fn step(&self, place: Place, step: &PathStep, of: Option<&Address>, depth: u32) -> Place {
        match step {
            PathStep::Field { record, member } => self.field(place, *record, *member),
            PathStep::UnionMembers { record, members } => match &**members {
                [] => place,
                [member] => self.field(place, *record, *member),
                [first, ..] => {
                    let all = &self.program.records[*record].members;
                    let name = |member: &u32| all.get(*member as usize).map(|m| &*m.name);
                    let names: Vec<&str> = members.iter().filter_map(name).collect();
                    let ctype = all.get(*first as usize).map_or(TypeId::UNKNOWN, |m| m.ctype);
                    self.member(place, &alternatives(&names), ctype)
                }
            },
            PathStep::Index { term, constant } => {
                let term = term.and_then(|term| of.and_then(|of| of.terms.get(term as usize)));
                let index = match (term, *constant) {
                    (None, constant) => Text::number(constant),
                    (Some(term), 0) if term.stride < 0 => {
                        let index = self.value(term.index, depth.saturating_sub(1));
                        let text = format!("-{}", index.at_least(Level::Unary));
                        Text { text, level: Level::Unary }
                    }
                    (Some(term), 0) => self.value(term.index, depth.saturating_sub(1)),
                    (Some(term), constant) => {
                        let index = self.value(term.index, depth.saturating_sub(1));
                        let sign = if constant < 0 { '-' } else { '+' };
                        let constant = constant.unsigned_abs();
                        let text = format!("{} {sign} {constant}", index.at_least(Level::Add));
                        Text { text, level: Level::Add }
                    }
                };
                self.index(place, index, term.is_none() && *constant == 0)
            }
        }
    }

    fn field(&self, place: Place, record: RecordId, member: u32) -> Place {
        match self.program.records[record].members.get(member as usize) {
            Some(member) => self.member(place, &member.name, member.ctype),
            None => place,
        }
    }

    fn member(&self, place: Place, name: &str, ctype: TypeId) -> Place {
        // Members of an unnamed member are named as if they were the outer record's.
        if name.is_empty() {
            return Place { ctype, address: None, ..place };
        }
        let arrow = if place.is_pointer { "->" } else { "." };
        let text = format!("{}{arrow}{name}", place.text.at_least(Level::Primary));
        Place::object(text, ctype)
    }

    /// An element of the array at `place`, or where `place` is no array, the object so many
    /// objects further.
    fn index(&self, place: Place, index: Text, is_zero: bool) -> Place {
        let element = self.program.element(place.ctype);
        let is_array = matches!(self.program.resolved_type(place.ctype), CType::Array { .. });
        if is_array || (!place.is_pointer && !place.ctype.is_known()) {
            let array = match place.is_pointer {
                true => format!("({})", self.lvalue(&place).text),
                false => place.text.at_least(Level::Primary),
            };
            let text = Text::primary(format!("{array}[{}]", index.text));
            let address = is_zero.then(|| Text::primary(array));
            return Place { text, is_pointer: false, address, ctype: element };
        }
        if is_zero {
            return place;
        }
        let pointer = self.address_of(&place);
        let text = Text::primary(format!("{}[{}]", pointer.at_least(Level::Primary), index.text));
        let address = match index.text.strip_prefix('-') {
            Some(back) if index.level == Level::Unary => {
                format!("{} - {back}", pointer.at_least(Level::Add))
            }
            _ => format!("{} + {}", pointer.at_least(Level::Add), index.at_least(Level::Multiply)),
        };
        let address = Some(Text { text: address, level: Level::Add });
        Place { text, is_pointer: false, address, ctype: place.ctype }
    }
}

/// Members that an access may mean, such as `(a|b)`.
fn alternatives(names: &[&str]) -> String {
    match names {
        [name] => (*name).to_owned(),
        [] => "<padding>".to_owned(),
        _ => {
            let more = if names.len() > 3 { "|..." } else { "" };
            format!("({}{more})", names[..names.len().min(3)].join("|"))
        }
    }
}
