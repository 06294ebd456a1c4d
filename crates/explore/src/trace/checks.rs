//! What the check that fails says, with the values it failed with.

use interpret::{FaultKind, Touch, TouchKind};
use program::{Access, BinaryOp, CType, Callee, Op, Operand, PathStep};

use super::notes::Notes;
use super::words::{outer_name, readable};
use crate::ending::Property;
use crate::objects::{Object, Objects, bytes, touches};
use crate::slice::used;

/// How many operations back a value that was never set is looked for.
const MAX_OPERATIONS: usize = 64;

pub struct Check<'a> {
    pub notes: &'a Notes<'a>,
    pub objects: &'a Objects<'a>,
    /// The step that fails.
    pub failing: usize,
}

/// What an object is called, with its size as well, and a place in it.
type Room = (String, String, i128);

/// How long the string at an address is.
pub type LengthOf<'l> = &'l mut dyn FnMut(u64) -> Option<u64>;

impl Check<'_> {
    /// What happens, as a sentence without a full stop.
    pub fn told(&self, property: Property, length_of: LengthOf) -> String {
        let message = property.message();
        match self.detail(property, length_of) {
            Some(detail) => format!("{message}: {detail}"),
            None => message.to_owned(),
        }
    }

    fn detail(&self, property: Property, length_of: LengthOf) -> Option<String> {
        let Property::Fault(kind) = property else { return None };
        match kind {
            FaultKind::OutOfBounds => self.outside(length_of),
            FaultKind::UseAfterEnd => self.after_life(),
            FaultKind::Null => self.null(),
            FaultKind::DoubleFree | FaultKind::InvalidFree => self.freed(),
            FaultKind::Uninitialised => Some(format!("{} was never set", self.never_set()?)),
            FaultKind::DivideByZero | FaultKind::SignedOverflow | FaultKind::Shift => {
                self.computed()
            }
            FaultKind::WriteToConstant => Some(format!("{} is written", self.access()?.1?)),
            FaultKind::Wrap => self.computed(),
            FaultKind::Unreachable
            | FaultKind::Leak
            | FaultKind::Truncation
            | FaultKind::SignChange
            | FaultKind::Endless
            | FaultKind::Rule(_) => None,
        }
    }

    pub(super) fn op(&self) -> Option<&Op> {
        let step = &self.notes.values.record.steps[self.failing];
        let body = self.notes.values.program.functions[step.function].body.as_ref()?;
        Some(&body.insts[step.at.inst()?].op)
    }

    /// What the program's own instruction reads or writes, in the user's words, and how.
    pub(super) fn access(&self) -> Option<(&Access, Option<String>, &'static str)> {
        let (access, verb) = match self.op()? {
            Op::Load(access) => (access, "reads"),
            Op::Store { access, .. } => (access, "writes"),
            Op::AtomicUpdate { access, .. } | Op::CompareExchange { access, .. } => {
                (access, "changes")
            }
            _ => return None,
        };
        let step = &self.notes.values.record.steps[self.failing];
        Some((access, self.notes.accessed(step.function, step.at), verb))
    }

    /// How an access leaves its object, in words that follow others.
    pub(super) fn told_bounds(&self, length_of: LengthOf) -> Option<String> {
        self.outside(length_of)
    }

    fn outside(&self, length_of: LengthOf) -> Option<String> {
        let Some((access, place, verb)) = self.access() else { return self.call(length_of) };
        let place = place.map(|place| format!("{place} ")).unwrap_or_default();
        let what = match self.bytes_of(access) {
            Some((address, size)) if !self.objects.has(address, size) => {
                self.part(self.pointed_to(access, address)?, address, size)
            }
            _ => self.element(access),
        };
        match what {
            Some(what) => Some(format!("{place}{verb} {what}")),
            None => Some(place.trim_end().to_owned()).filter(|place| !place.is_empty()),
        }
    }

    pub(super) fn bytes_of(&self, access: &Access) -> Option<(u64, u64)> {
        let address = self.notes.values.bits(self.failing, access.ptr)?;
        Some((u64::try_from(address).ok()?, access.size))
    }

    /// The object an access is about: what its pointer starts from lies in, and else the nearest.
    pub(super) fn pointed_to(&self, access: &Access, address: u64) -> Option<&Object> {
        let step = &self.notes.values.record.steps[self.failing];
        let body = self.notes.values.program.functions[step.function].body.as_ref()?;
        let mut pointer = access.ptr;
        while let Operand::Inst(inst) = pointer
            && let Op::Address(address) = &body.insts[inst].op
        {
            pointer = address.base;
        }
        let start = self.notes.values.bits(self.failing, pointer);
        let start = start.and_then(|start| u64::try_from(start).ok());
        let around = start.and_then(|start| self.objects.meant(start).filter(|o| o.holds(start)));
        around.or(self.objects.meant(address))
    }

    /// `element 10 of a, which has 10`.
    fn part(&self, object: &Object, address: u64, size: u64) -> Option<String> {
        let name = self.objects.name(object)?;
        let offset = i128::from(address) - i128::from(object.base);
        let n_elements = self.objects.n_elements(object).filter(|n| *n > 0 && size > 0);
        Some(
            match n_elements.filter(|n| n * size == object.size && offset % i128::from(size) == 0) {
                Some(n) => {
                    let index = offset / i128::from(size);
                    format!("element {index} of {name}, which has {n}{}", elements(n))
                }
                None => {
                    let part = format!("{} at byte {offset} of {name}", bytes(size));
                    self.with_size(part, object)
                }
            },
        )
    }

    fn with_size(&self, part: String, object: &Object) -> String {
        match self.objects.end(object) {
            Some(end) => format!("{part}, {end}"),
            None if self.objects.is_heap(object) => part,
            None => format!("{part}, which has {}", bytes(object.size)),
        }
    }

    /// An element past the array that it was to be in, but inside of what that belongs to.
    fn element(&self, access: &Access) -> Option<String> {
        let step = &self.notes.values.record.steps[self.failing];
        let body = self.notes.values.program.functions[step.function].body.as_ref()?;
        let Operand::Inst(at) = access.ptr else { return None };
        let Op::Address(address) = &body.insts[at].op else { return None };
        let [PathStep::Index { term, constant }] = &address.path[..] else { return None };
        let index = match term {
            Some(term) => {
                let index = address.terms.get(*term as usize)?.index;
                self.notes.values.bits(self.failing, index)? as u64 as i64
            }
            None => *constant,
        };
        let Operand::Inst(base) = address.base else { return None };
        let n = self.n_in_array(body.insts[base].ctype)?;
        let array = readable(&self.notes.renderer(self.failing).pointee(address.base));
        let array = array.unwrap_or_else(|| "an array".to_owned());
        Some(format!("element {index} of {array}, which has {n}{}", elements(n)))
    }

    /// The elements of the array a pointer of this type points to.
    pub(super) fn n_in_array(&self, pointer: program::TypeId) -> Option<u64> {
        let program = self.notes.values.program;
        match program.resolved_type(program.pointee(pointer)) {
            CType::Array { count: Some(count), .. } => Some(*count),
            _ => None,
        }
    }

    /// The bytes of the member array that a call is given.
    fn n_in_member(&self, to: Operand) -> Option<u64> {
        let program = self.notes.values.program;
        let step = &self.notes.values.record.steps[self.failing];
        let body = program.functions[step.function].body.as_ref()?;
        let mut at = to;
        while let Operand::Inst(inst) = at {
            let Op::Address(address) = &body.insts[inst].op else { return None };
            let members = address.path.iter().rev().filter_map(|step| match step {
                PathStep::Field { record, member } => Some((*record, *member)),
                _ => None,
            });
            for (record, member) in members {
                let member = program.records.get(record)?.members.get(member as usize)?;
                if let CType::Array { count, .. } = program.resolved_type(member.ctype) {
                    return *count;
                }
            }
            at = address.base;
        }
        None
    }

    /// A function of the library that leaves an object.
    fn call(&self, length_of: LengthOf) -> Option<String> {
        let (name, args) = match self.op()? {
            Op::Call(call) => match &call.callee {
                Callee::Function(id) => {
                    (outer_name(&self.notes.values.program.functions[*id].name), &call.args[..])
                }
                Callee::Intrinsic(name) => (outer_name(name), &call.args[..]),
                Callee::Pointer(_) => return None,
            },
            Op::MemCopy { .. } => ("a copy".to_owned(), &[][..]),
            Op::MemSet { .. } => ("an initialisation".to_owned(), &[][..]),
            _ => return None,
        };
        let touches = self.accesses();
        let outside = |touch: &&&Touch| !self.objects.has(touch.address, touch.size);
        let behind = &touches[touches.len().saturating_sub(2)..];
        let left = behind.iter().find(outside).or(touches.last())?;
        let verb = if left.kind == TouchKind::Write { "writes" } else { "reads" };
        let bits = |at: usize| self.notes.values.bits(self.failing, *args.get(at)?);
        // Strings are copied byte by byte, up to the one that does not fit.
        let is_string = matches!(name.as_str(), "strcpy" | "stpcpy" | "strcat");
        let string = match is_string && left.kind == TouchKind::Write {
            true => length_of(u64::try_from(bits(1)?).ok()?).map(|length| length + 1),
            false => None,
        };
        let first_write = touches.iter().find(|touch| touch.kind == TouchKind::Write);
        let (start, size) = match string {
            Some(size) => (first_write?.address, Some(size)),
            None => (left.address, Some(left.size).filter(|size| *size > 1)),
        };
        let (object, has, offset) = self.room(args, left, start)?;
        let way = if verb == "writes" { "into" } else { "from" };
        Some(match size {
            Some(size) if offset == 0 => format!("{name} {verb} {} {way} {has}", bytes(size)),
            Some(size) => format!("{name} {verb} {} at byte {offset} of {has}", bytes(size)),
            None if offset < 0 => format!("{name} {verb} before the start of {object}"),
            None => format!("{name} {verb} past the end of {has}"),
        })
    }

    /// The object a call leaves, its bytes, and where in it the call starts: a member where the
    /// call names one, as the rest of what it belongs to is no room.
    fn room(&self, args: &[Operand], left: &Touch, start: u64) -> Option<Room> {
        let object = self.objects.meant(left.address)?;
        if self.objects.has(left.address, left.size) {
            let to = *args.first()?;
            let renderer = self.notes.renderer(self.failing);
            let n = self.n_in_member(to);
            let name = readable(&renderer.expr(to)).unwrap_or_else(|| "a member".to_owned());
            let has = n.map(|n| format!("{name}, which has {}", bytes(n)));
            let has = has.unwrap_or_else(|| name.clone());
            return Some((name, has, 0));
        }
        let offset = i128::from(start) - i128::from(object.base);
        let name = self.objects.name(object).unwrap_or_else(|| "its object".to_owned());
        let has = match self.objects.is_heap(object) {
            true => name.clone(),
            false => format!("{name}, which has {}", bytes(object.size)),
        };
        Some((name, has, offset))
    }

    pub(super) fn accesses(&self) -> Vec<&Touch> {
        let record = self.notes.values.record;
        let all = touches(record, &record.steps[self.failing]).iter();
        all.filter(|touch| matches!(touch.kind, TouchKind::Read | TouchKind::Write)).collect()
    }

    fn after_life(&self) -> Option<String> {
        let object = self.objects.meant(used(&self.notes.values, self.failing)?)?;
        let name = self.objects.name(object);
        let end = self.objects.end(object);
        let (user, verb) = match self.access() {
            Some((_, place, verb)) => (place, verb),
            None => {
                let reads = self.accesses().last().is_some_and(|t| t.kind == TouchKind::Read);
                let name = match self.op()? {
                    Op::Call(call) => match &call.callee {
                        Callee::Function(id) => {
                            Some(outer_name(&self.notes.values.program.functions[*id].name))
                        }
                        _ => None,
                    },
                    _ => None,
                };
                (name, if reads { "reads" } else { "writes" })
            }
        };
        match (user, name, end) {
            (Some(user), Some(name), Some(end)) => Some(format!("{user} {verb} {name}, {end}")),
            (user, ..) => user,
        }
    }

    /// Which pointer is null.
    pub(super) fn null(&self) -> Option<String> {
        let renderer = self.notes.renderer(self.failing);
        let Some((access, place, _)) = self.access() else {
            let Op::Call(call) = self.op()? else { return None };
            let is_null = |arg: &&Operand| self.notes.values.bits(self.failing, **arg) == Some(0);
            let pointers = call.args.iter().filter(is_null);
            let names = pointers.filter_map(|arg| readable(&renderer.expr(*arg)));
            let mut names = names.filter(|name| name.parse::<i64>().is_err());
            return names.next().map(|name| match name.as_str() {
                "NULL" => "NULL is passed".to_owned(),
                _ => format!("{name} is NULL"),
            });
        };
        let step = &self.notes.values.record.steps[self.failing];
        let body = self.notes.values.program.functions[step.function].body.as_ref()?;
        let mut pointer = access.ptr;
        while let Operand::Inst(inst) = pointer
            && let Op::Address(address) = &body.insts[inst].op
            && renderer.variable_of(pointer).is_none()
        {
            pointer = address.base;
        }
        let name = readable(&renderer.expr(pointer)).filter(|name| name != "NULL");
        match (place, name) {
            (Some(place), Some(name)) => Some(format!("{place}: {name} is NULL")),
            (place, _) => place,
        }
    }

    fn freed(&self) -> Option<String> {
        let Op::Call(call) = self.op()? else { return None };
        let freed = *call.args.first()?;
        let name = readable(&self.notes.renderer(self.failing).expr(freed));
        let pointer = name.unwrap_or_else(|| "the pointer".to_owned());
        let address = u64::try_from(self.notes.values.bits(self.failing, freed)?).ok()?;
        let object = self.objects.meant(address)?;
        let object_name = self.objects.name(object)?;
        let end = self.objects.end(object).map(|end| format!(", {end}")).unwrap_or_default();
        let offset = i128::from(address) - i128::from(object.base);
        let at = if offset == 0 { String::new() } else { format!("byte {offset} of ") };
        Some(format!("{pointer} points to {at}{object_name}{end}"))
    }

    /// `a + b` with its values.
    pub(super) fn computed(&self) -> Option<String> {
        let Op::Binary { op, lhs, rhs, .. } = self.op()? else { return None };
        let sign = match op {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::UnsignedDiv | BinaryOp::SignedDiv => "/",
            BinaryOp::UnsignedRem | BinaryOp::SignedRem => "%",
            BinaryOp::Shl => "<<",
            BinaryOp::LogicalShr | BinaryOp::ArithmeticShr => ">>",
            _ => return None,
        };
        let renderer = self.notes.renderer(self.failing);
        let known = |side: Operand| self.notes.known_number(self.failing, side);
        let values = known(*lhs).zip(known(*rhs)).map(|(a, b)| format!("{a} {sign} {b}"));
        let (left, right) = (readable(&renderer.expr(*lhs)), readable(&renderer.expr(*rhs)));
        let text = left.zip(right).map(|(a, b)| format!("{a} {sign} {b}"));
        match (text, values) {
            (Some(text), Some(values)) if text != values => Some(format!("{text} is {values}")),
            (text, values) => values.or(text),
        }
    }

    /// What holds the value that nobody has set.
    pub(super) fn never_set(&self) -> Option<String> {
        let values = &self.notes.values;
        let step = &values.record.steps[self.failing];
        let body = values.program.functions[step.function].body.as_ref()?;
        let mut left: Vec<(usize, Operand)> = Vec::new();
        match self.op() {
            Some(op) => op.for_each_operand(|operand| left.push((self.failing, operand))),
            None => {
                left.extend(
                    body.blocks[step.block].terminator.operand().map(|o| (self.failing, o)),
                );
            }
        }
        left.reverse();
        for _ in 0..MAX_OPERATIONS {
            let Some((index, operand)) = left.pop() else { break };
            let Some((index, operand)) = values.source(index, operand) else { continue };
            let (Operand::Inst(inst), None) = (operand, values.bits(index, operand)) else {
                continue;
            };
            let step = &values.record.steps[index];
            let body = values.program.functions[step.function].body.as_ref()?;
            match &body.insts[inst].op {
                Op::Uninit { variable } => {
                    let name = &body.variables[*variable].name;
                    return (!name.is_empty()).then(|| name.to_string());
                }
                Op::Load(_) => {
                    return self.notes.accessed(step.function, interpret::Point::Inst(inst));
                }
                Op::Call(_) => return None,
                op => op.for_each_operand(|operand| left.push((index, operand))),
            }
        }
        // A function of the library came upon it.
        let address = self.accesses().last()?.address;
        self.objects.name(self.objects.meant(address)?)
    }
}

fn elements(n: u64) -> &'static str {
    if n == 1 { " element" } else { " elements" }
}
