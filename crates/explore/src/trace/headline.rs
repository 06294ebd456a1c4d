//! The one line that stands for a fault: what happens, to what, and with which numbers.

use findings::Step;
use interpret::{FaultKind, TouchKind, signed};
use program::{BinaryOp, Op, Operand, PathStep, Ty};

use super::checks::{Check, LengthOf};
use super::words::readable;
use crate::ending::{Property, loc_of};
use crate::objects::Object;

impl Check<'_> {
    /// A sentence that stands alone, and the rule it is reported under.
    pub fn headline(&self, property: Property, length_of: LengthOf) -> (&'static str, String) {
        let rule = property.rule();
        let Property::Fault(kind) = property else { return (rule, self.told(property, length_of)) };
        if kind == FaultKind::OutOfBounds {
            return self.out_of_bounds(property, length_of);
        }
        let line = match kind {
            FaultKind::Null => self.null_pointer(),
            FaultKind::UseAfterEnd => self.used_after_end(),
            FaultKind::DoubleFree => self.freed_twice(),
            FaultKind::Uninitialised => {
                self.never_set().map(|name| format!("'{name}' is used but was never set"))
            }
            FaultKind::DivideByZero => {
                self.side(1).map(|name| format!("division by zero: '{name}' is 0"))
            }
            FaultKind::SignedOverflow => self.overflow(),
            FaultKind::Shift => {
                self.computed().map(|sum| format!("the shift count is out of range: {sum}"))
            }
            FaultKind::Wrap => self.wrapped(),
            FaultKind::Truncation | FaultKind::SignChange => self.converted(kind),
            _ => None,
        };
        (rule, line.unwrap_or_else(|| self.told(property, length_of)))
    }

    /// `write past the end of 'item->name': index 24, size 24`.
    fn out_of_bounds(&self, property: Property, length_of: LengthOf) -> (&'static str, String) {
        let last = self.accesses().last().map(|touch| (touch.kind, touch.address));
        let reads = match (self.access(), last) {
            (Some((_, _, verb)), _) => verb == "reads",
            (None, last) => last.is_some_and(|(kind, _)| kind == TouchKind::Read),
        };
        let verb = if reads { "read" } else { "write" };
        let rule = |before: bool| match (before, reads) {
            (true, _) => "buffer-underflow",
            (false, true) => "buffer-overread",
            (false, false) => "buffer-overflow",
        };
        let line = |name: &str, at: i128, unit: &str, size: i128| {
            let name = if name.starts_with("the ") { name.to_owned() } else { format!("'{name}'") };
            let way = if at < 0 { "before the start of" } else { "past the end of" };
            let text = format!("{verb} {way} {name}: {unit} {at}, size {size}");
            (rule(at < 0), text)
        };
        if let Some((access, ..)) = self.access() {
            if let Some((address, size)) = self.bytes_of(access)
                && !self.objects.has(address, size)
                && let Some(object) = self.pointed_to(access, address)
                && let Some(name) = self.named(object, access.ptr)
            {
                let offset = i128::from(address) - i128::from(object.base);
                let (unit, bytes) = (i128::from(size.max(1)), i128::from(object.size));
                return match offset % unit == 0 && bytes % unit == 0 {
                    true => line(&name, offset / unit, "index", bytes / unit),
                    false => line(&name, offset, "byte", bytes),
                };
            }
            if let Some((name, index, size)) = self.index_of(access.ptr) {
                return line(&name, index, "index", size);
            }
        }
        let before = last.is_some_and(|(_, address)| {
            self.objects.meant(address).is_some_and(|object| address < object.base)
        });
        let message = match self.told_bounds(length_of) {
            Some(detail) if before => format!("{verb} before the start of a buffer: {detail}"),
            Some(detail) => format!("{verb} past the end of a buffer: {detail}"),
            None => property.message().to_owned(),
        };
        (rule(before), message)
    }

    /// What the source calls an object that a pointer leads to.
    fn named(&self, object: &Object, ptr: Operand) -> Option<String> {
        if !self.objects.is_heap(object) {
            return self.objects.name(object);
        }
        let step = &self.notes.values.record.steps[self.failing];
        let body = self.notes.values.program.functions[step.function].body.as_ref()?;
        let mut at = ptr;
        while let Operand::Inst(inst) = at
            && let Op::Address(address) = &body.insts[inst].op
        {
            at = address.base;
        }
        let name = readable(&self.notes.renderer(self.failing).expr(at));
        name.or_else(|| self.objects.name(object))
    }

    /// The array inside of something larger that an element was to be in: its name, the index
    /// and how many there are.
    fn index_of(&self, ptr: Operand) -> Option<(String, i128, i128)> {
        let step = &self.notes.values.record.steps[self.failing];
        let body = self.notes.values.program.functions[step.function].body.as_ref()?;
        let Operand::Inst(at) = ptr else { return None };
        let Op::Address(address) = &body.insts[at].op else { return None };
        let [PathStep::Index { term, constant }] = &address.path[..] else { return None };
        let index = match term {
            Some(term) => {
                let index = address.terms.get(*term as usize)?.index;
                i128::from(self.notes.values.bits(self.failing, index)? as u64 as i64)
            }
            None => i128::from(*constant),
        };
        let Operand::Inst(base) = address.base else { return None };
        let size = self.n_in_array(body.insts[base].ctype)?;
        let name = readable(&self.notes.renderer(self.failing).pointee(address.base));
        Some((name.unwrap_or_else(|| "an array".to_owned()), index, size.into()))
    }

    fn null_pointer(&self) -> Option<String> {
        let detail = self.null()?;
        let (place, name) = match detail.split_once(": ") {
            Some((place, name)) => (Some(place), name),
            None => (None, &*detail),
        };
        let name = name.strip_suffix(" is NULL")?;
        Some(match place {
            Some(place) => format!("'{name}' is NULL and is dereferenced in '{place}'"),
            None => format!("'{name}' is NULL and is dereferenced"),
        })
    }

    fn used_after_end(&self) -> Option<String> {
        let address = crate::slice::used(&self.notes.values, self.failing)?;
        let object = self.objects.meant(address)?;
        let name = match self.access() {
            Some((access, ..)) => self.named(object, access.ptr)?,
            None => self.objects.name(object)?,
        };
        let end = self.objects.end(object)?;
        let name = if name.starts_with("the ") { name } else { format!("'{name}'") };
        Some(match end.strip_prefix("freed in line ") {
            Some(line) => format!("use after free: {name} was freed at line {line}"),
            None => format!("use after the end of {name}, {end}"),
        })
    }

    fn freed_twice(&self) -> Option<String> {
        let Op::Call(call) = self.op()? else { return None };
        let freed = *call.args.first()?;
        let name = readable(&self.notes.renderer(self.failing).expr(freed))?;
        let address = u64::try_from(self.notes.values.bits(self.failing, freed)?).ok()?;
        let end = self.objects.end(self.objects.meant(address)?)?;
        let line = end.strip_prefix("freed in line ")?;
        Some(format!("'{name}' is freed twice: it was freed at line {line}"))
    }

    /// An operand of the operation, as the source has it.
    fn side(&self, index: usize) -> Option<String> {
        let Op::Binary { lhs, rhs, .. } = self.op()? else { return None };
        readable(&self.notes.renderer(self.failing).expr(if index == 0 { *lhs } else { *rhs }))
    }

    fn overflow(&self) -> Option<String> {
        let detail = self.computed()?;
        let step = &self.notes.values.record.steps[self.failing];
        let body = self.notes.values.program.functions[step.function].body.as_ref()?;
        let bits = match body.insts[step.at.inst()?].ty {
            Ty::Int(bits) => bits,
            _ => return None,
        };
        Some(format!("the result does not fit {bits} bits with a sign: {detail}"))
    }

    fn wrapped(&self) -> Option<String> {
        let detail = self.computed()?;
        let way = match self.op()? {
            Op::Binary { op: BinaryOp::Sub, .. } => "wraps below zero",
            Op::Binary { .. } => "wraps around",
            _ => return None,
        };
        Some(format!("the unsigned result {way}: {detail}"))
    }

    /// `'n' does not fit the narrower type: 300 becomes 44`.
    fn converted(&self, kind: FaultKind) -> Option<String> {
        let Op::Convert(conversion) = self.op()? else { return None };
        let step = &self.notes.values.record.steps[self.failing];
        let function = &self.notes.values.program.functions[step.function];
        let program = self.notes.values.program;
        let bits = |ty: Ty| match ty {
            Ty::Int(bits) => Some(bits),
            _ => None,
        };
        let body = function.body.as_ref()?;
        let ty = body.operand_ty(conversion.value, &function.params, &program.constants);
        let from = self.notes.values.bits(self.failing, conversion.value)?;
        let to = step.value?;
        let number = |value: u128, width: u32, ctype| match program.is_signed(ctype) {
            Some(true) => signed(value, width),
            _ => (value & interpret::mask(width)) as i128,
        };
        let before = number(from, bits(ty)?, conversion.from);
        let after = number(to, bits(body.insts[step.at.inst()?].ty)?, conversion.to);
        let name = readable(&self.notes.renderer(self.failing).expr(conversion.value));
        let name = name.unwrap_or_else(|| "the value".to_owned());
        Some(match kind {
            FaultKind::Truncation => {
                format!("'{name}' does not fit the narrower type: {before} becomes {after}")
            }
            _ if before < 0 => {
                format!("'{name}' is negative and becomes a huge number: {before} becomes {after}")
            }
            _ => format!("'{name}' is too large for a signed type: {before} becomes {after}"),
        })
    }

    /// Where the object a fault is about was allocated and released, of memory of the heap.
    pub fn related(&self) -> Vec<Step> {
        let record = self.notes.values.record;
        let used = crate::slice::used(&self.notes.values, self.failing);
        let object = used.and_then(|address| self.objects.meant(address));
        let Some(object) = object.filter(|object| self.objects.is_heap(object)) else {
            return Vec::new();
        };
        let step = |index: Option<usize>, note: &str| {
            let step = record.steps.get(index?)?;
            let loc = loc_of(self.notes.values.program, (step.function, step.at));
            let place = super::place(self.notes.values.program, loc, step.function);
            Some(Step { place, note: note.to_owned(), impact: false, depth: 0 })
        };
        let begun = step(object.begun(), "allocated here");
        begun.into_iter().chain(step(object.ended, "released here")).collect()
    }
}
