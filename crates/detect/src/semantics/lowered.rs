//! Attributes of specifications, answered from the state of a path.

use logic::{Interval, TermId, Terms};
use program::{
    CType, Function, InstId, LocId, Op, Operand, PathStep, Program, RecordId, Ty, TypeId,
};
use spec::attribute::AttributeId;
use spec::facts;
use spec::lower::{Argument, Context as Lower, Origin, UNDEF, Unsupported};

use crate::code::Code;
use crate::machine::access::{Overlap, Wanted, global_object, overlap};
use crate::machine::addresses;
use crate::machine::attributes::Attributes;
use crate::machine::exec::{Exec, is_signed, width};
use crate::machine::memory::ObjectKind;
use crate::machine::strings::Length;
use crate::machine::{Context, State, SymbolKind, Value};
use ::facts::members::{Member, accessed_member};
use spec::text::{Text, name_code};

/// A state that answers for attributes at one instruction of its top frame.
pub struct Lowered<'c, 'p> {
    pub code: &'c Code<'p>,
    pub context: &'c mut Context<'p>,
    pub state: &'c mut State,
    pub loc: LocId,
    /// The instruction the question is about: it tells the types of its constants.
    pub inst: Option<InstId>,
    /// Whether `Init` of a pointer means what it points to.
    pub speaks_of_memory: bool,
    /// Objects that were asked about.
    pub objects: Vec<crate::machine::memory::ObjectId>,
}

impl<'p> Lowered<'_, 'p> {
    fn function(&self) -> &'p Function {
        &self.code.program.functions[self.state.top().function]
    }

    fn text(&self) -> Text<'_, 'p> {
        Text {
            program: self.code.program,
            flow: self.code,
            function: self.state.top().function,
            inst: self.inst,
        }
    }

    /// What an argument is on this path.
    pub fn value(&mut self, argument: &Argument) -> Option<Value> {
        let value = match argument {
            Argument::Operand(operand) => {
                Some(Exec { context: self.context, state: self.state }.operand(*operand))
            }
            Argument::Place(inst) => self.place_value(*inst),
            Argument::Global(global) => {
                let object = global_object(self.context, &mut self.state.memory, *global);
                Some(Value::Pointer { object, offset: self.context.constant(0) })
            }
            Argument::Number(number) => Some(Value::Int(self.context.constant(*number))),
            Argument::Term(term) => {
                Some(addresses::from_term(self.context, &self.state.memory, *term))
            }
            Argument::Pointee(pointer) => {
                let pointer = self.value(pointer)?;
                let ctype = facts::c_type(self.code.program, self.function(), argument);
                self.read(pointer, ctype, None)
            }
            Argument::Member(_) | Argument::Rest(_) | Argument::Free(_) => None,
        };
        if let Some(Value::Pointer { object, .. }) = value
            && !self.objects.contains(&object)
        {
            self.objects.push(object);
        }
        if let (Some(Value::Int(_)), Argument::Operand(operand)) = (value, argument) {
            self.add_holder(*operand);
        }
        if let Some(Value::Uninit(declared)) = value {
            let memory = &self.state.memory;
            let unset = memory.ids().filter(|id| memory.get(*id).loc == declared);
            self.objects.extend(unset);
        }
        value
    }

    /// A number read from memory speaks of the object it was read from: whoever was given that
    /// may have set it.
    fn add_holder(&mut self, operand: Operand) {
        let (Operand::Inst(inst), Some(body)) = (operand, self.function().body.as_ref()) else {
            return;
        };
        let Op::Load(access) = &body.insts[inst].op else { return };
        let holder = Exec { context: self.context, state: self.state }.operand(access.ptr);
        if let Value::Pointer { object, .. } = holder
            && matches!(self.state.memory.get(object).kind, ObjectKind::Local { .. })
            && !self.objects.contains(&object)
        {
            self.objects.push(object);
        }
    }

    /// The value at the place an access means: what a load reads, or a store overwrites.
    fn place_value(&mut self, inst: InstId) -> Option<Value> {
        let body = self.function().body.as_ref()?;
        match &body.insts.get(inst)?.op {
            Op::Load(access) => {
                let (ptr, ctype) = (access.ptr, access.ctype);
                let pointer = Exec { context: self.context, state: self.state }.operand(ptr);
                let function = self.state.top().function;
                let body = self.code.program.functions[function].body.as_ref()?;
                self.read(pointer, Some(ctype), accessed_member(body, access))
            }
            Op::Store { value, .. } => {
                Some(Exec { context: self.context, state: self.state }.operand(*value))
            }
            _ => None,
        }
    }

    fn read(
        &mut self,
        pointer: Value,
        ctype: Option<TypeId>,
        member: Option<Member>,
    ) -> Option<Value> {
        let (object, offset) = pointer.as_pointer()?;
        let ty = machine_type(self.code, ctype?)?;
        let signed = is_signed(self.context, ctype?);
        let name = self.state.memory.get(object).name.trim_start_matches('*').to_owned();
        let wanted = Wanted { ty, signed, name: &name, loc: self.loc, member };
        let state = &mut *self.state;
        let mut reader = crate::machine::access::Reader {
            context: self.context,
            path: &mut state.path,
            memory: &mut state.memory,
        };
        Some(reader.read(object, offset, wanted))
    }

    fn attributes(&mut self) -> Attributes<'_, 'p> {
        Attributes { context: self.context, state: self.state, loc: self.loc }
    }

    /// `Value(x)`: integers as their C type reads them.
    fn number(&mut self, argument: &Argument) -> Option<TermId> {
        let value = self.value(argument)?;
        let Value::Int(term) = value else {
            return addresses::to_term(self.context, &self.state.memory, value);
        };
        let Argument::Operand(operand) = argument else { return Some(term) };
        let bits = {
            let exec = Exec { context: self.context, state: self.state };
            match exec.operand_ty(*operand) {
                ty @ Ty::Int(_) => width(ty),
                _ => return Some(term),
            }
        };
        let signed = self.text().is_signed(argument);
        Some(self.context.wrap(term, bits, signed))
    }

    /// Bytes from the pointer to the end of what it may be used for.
    pub fn room(&mut self, argument: &Argument) -> Option<TermId> {
        let value = self.value(argument)?;
        let room = self.attributes().room(value);
        let Some((total, used)) = self.within_member(argument) else { return room };
        let total = self.context.constant(i128::from(total));
        let member = self.context.terms.sub(total, used);
        Some(room.map_or(member, |room| self.context.terms.min(room, member)))
    }

    /// Bytes from the start of what the pointer may be used for.
    fn offset(&mut self, argument: &Argument) -> Option<TermId> {
        let value = self.value(argument)?;
        let offset = self.attributes().offset(value);
        let Some((_, used)) = self.within_member(argument) else { return offset };
        Some(offset.map_or(used, |offset| self.context.terms.min(offset, used)))
    }

    /// The size of an array that is a member, but not the last, of a struct, and how far into
    /// it the pointer leads, where the pointer is that array decayed. Pointers got in other
    /// ways may use the whole object.
    fn within_member(&mut self, argument: &Argument) -> Option<(u64, TermId)> {
        let Argument::Operand(Operand::Inst(inst)) = argument else { return None };
        let body = self.function().body.as_ref()?;
        let mut inst = *inst;
        let mut used = self.context.constant(0);
        // Indexing into the decayed array comes on top of the member's address.
        for _ in 0..4 {
            let Op::Address(address) = &body.insts.get(inst)?.op else { return None };
            let field = address.path.iter().rposition(|s| matches!(s, PathStep::Field { .. }));
            let Some(field) = field else {
                let moved = self.moved(address, 0)?;
                used = self.context.terms.add(used, moved);
                let Operand::Inst(base) = address.base else { return None };
                inst = base;
                continue;
            };
            let PathStep::Field { record, member } = address.path[field] else { return None };
            let (total, start) = array_member(self.code.program, record, member)?;
            if field + 1 < address.path.len() {
                let moved = self.moved(address, start)?;
                used = self.context.terms.add(used, moved);
            }
            return Some((total, used));
        }
        None
    }

    /// Bytes an address adds to its base, less where a member starts.
    fn moved(&mut self, address: &program::Address, start: u64) -> Option<TermId> {
        let mut sum = self.context.constant(i128::from(address.offset) - i128::from(start));
        for term in &address.terms {
            let mut exec = Exec { context: self.context, state: self.state };
            let bits = width(exec.operand_ty(term.index));
            let Value::Int(index) = exec.operand(term.index) else { return None };
            let index = self.context.wrap(index, bits, true);
            sum = self.context.terms.add_scaled(sum, i128::from(term.stride), index);
        }
        Some(sum)
    }

    fn length(&mut self, argument: &Argument, width: u64) -> Option<TermId> {
        let value = self.value(argument)?;
        let length = self.attributes().length(value, width)?;
        Some(match length {
            Length::Known(units) => units,
            Length::Unterminated(_) => self.context.constant(UNDEF),
        })
    }

    /// 1 where the argument was given a value.
    fn initialized(&mut self, argument: &Argument) -> Option<TermId> {
        if let Some(value) = self.value(argument)
            && let Some(name) = self.context.name_of(value)
            && let Some(gap) = self.context.uninit_where.get(&name).copied()
        {
            let (zero, one) = (self.context.constant(0), self.context.constant(1));
            return Some(self.context.terms.choice(gap, zero, one));
        }
        let holds = self.is_initialized(argument)?;
        Some(self.context.constant(i128::from(holds)))
    }

    fn is_initialized(&mut self, argument: &Argument) -> Option<bool> {
        match self.value(argument)? {
            Value::Uninit(_) => Some(false),
            value @ Value::Pointer { .. } if self.is_memory(argument) => {
                let wanted =
                    Wanted { ty: Ty::Int(8), signed: false, name: "", loc: self.loc, member: None };
                Some(self.attributes().is_initialized(value, wanted))
            }
            _ => Some(true),
        }
    }

    /// Whether an attribute of the argument means the memory behind it: models and events
    /// speak of buffers, uses of values.
    fn is_memory(&self, argument: &Argument) -> bool {
        let _ = argument;
        self.speaks_of_memory
    }

    fn is_input(&mut self, argument: &Argument) -> Option<bool> {
        match self.value(argument)? {
            Value::Int(term) => Some(self.attributes().is_input(term)),
            Value::Pointer { object, offset } => {
                use crate::machine::memory::{Content, Data};
                // A terminator written into the middle of a text from outside leaves it so.
                let object = self.state.memory.snapshot(object);
                let byte = self.context.constant(1);
                for write in object.writes().take(64) {
                    if let Data::Unknown { input: true }
                    | Data::String { input: true, .. }
                    | Data::NonZero { input: true } = write.data
                    {
                        return Some(true);
                    }
                    let at = (offset, byte);
                    let over = (write.offset, write.len);
                    let covers = overlap(self.context, &self.state.path, at, over);
                    match (&write.data, covers) {
                        (Data::Copy { from, .. }, Overlap::Inside(_)) => {
                            return Some(
                                from.content == Content::Input
                                    || from.writes().any(|write| {
                                        matches!(
                                            write.data,
                                            Data::Unknown { input: true }
                                                | Data::String { input: true, .. }
                                        )
                                    }),
                            );
                        }
                        // One unit read or replaced does not say what the others are.
                        (Data::Value(Value::Int(term)), Overlap::Inside(_)) => {
                            if self.attributes().is_input(*term) {
                                return Some(true);
                            }
                            if self.context.terms.as_constant(*term) == Some(0) {
                                return Some(false);
                            }
                        }
                        (_, Overlap::Inside(_)) => return Some(false),
                        _ => {}
                    }
                }
                Some(object.content == Content::Input)
            }
            _ => Some(false),
        }
    }

    fn region(&mut self, argument: &Argument) -> Option<i128> {
        let name = match self.value(argument)? {
            Value::Pointer { object, .. } => match self.state.memory.get(object).kind {
                ObjectKind::Local { .. } => "stack",
                ObjectKind::Global(global)
                    if self.code.program.globals[global].is_string_literal =>
                {
                    "literal"
                }
                ObjectKind::Global(_) => "global",
                ObjectKind::Heap { .. } => "heap",
                ObjectKind::Pointee | ObjectKind::Handle(_) => return None,
            },
            Value::Function(_) => "code",
            _ => return None,
        };
        Some(name_code(name))
    }
}

impl Lower for Lowered<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        &mut self.context.terms
    }

    fn tracked(
        &mut self,
        attribute: AttributeId,
        args: &[Argument],
        _domain: Interval,
    ) -> Result<TermId, Unsupported> {
        let unknown = Unsupported::UnknownFact(attribute);
        let Some(argument) = args.first() else { return Err(unknown) };
        let truth = |context: &mut Context, holds: bool| context.constant(i128::from(holds));
        let term = match attribute.name() {
            "Value" => self.number(argument),
            "Size" => self.room(argument),
            "Len" => self.length(argument, 1),
            "WLen" => self.length(argument, 4),
            "Offset" => self.offset(argument),
            "Init" => self.initialized(argument),
            "Input" => self.is_input(argument).map(|holds| truth(self.context, holds)),
            name => {
                let value = self.value(argument).ok_or(unknown.clone())?;
                let value = match name {
                    "Held" => self.state.place(self.context, value),
                    _ => self.state.resource(self.context, value),
                };
                Some(match self.attributes().get(value, name) {
                    Some(Value::Int(term)) => term,
                    _ => self.context.constant(UNDEF),
                })
            }
        };
        term.ok_or(unknown)
    }

    fn fact(&mut self, attribute: AttributeId, args: &[Argument]) -> Option<i128> {
        self.text().fact(attribute, args).or_else(|| match attribute.name() {
            "Region" => self.region(args.first()?),
            "Exits" => {
                let frame = self.state.top();
                let is_refused = |inst| self.state.refused.contains(&(frame.function, inst));
                let can_exit = self.code.can_exit(frame.function, frame.block, &is_refused);
                Some(i128::from(can_exit))
            }
            _ => None,
        })
    }

    fn source(&mut self, args: &[Argument]) -> Option<Argument> {
        facts::source(self.function(), args)
    }

    fn fresh(&mut self, origin: Origin) -> TermId {
        let kind = match origin {
            Origin::Input => SymbolKind::Chosen,
            Origin::Unknown => SymbolKind::Unknown,
        };
        self.context.fresh(Interval::ALL, kind, "", self.loc)
    }

    fn name_code(&mut self, name: &str) -> i128 {
        name_code(name)
    }

    fn constant_string(&mut self, argument: &Argument) -> Option<Vec<u8>> {
        facts::literal_bytes(self.code.program, argument)
    }

    fn type_range(&mut self, argument: &Argument) -> Option<Interval> {
        let program = self.code.program;
        facts::type_range(program, facts::c_type(program, self.function(), argument)?)
    }
}

/// The machine type a C type is read as.
pub fn machine_type(code: &Code, ctype: TypeId) -> Option<Ty> {
    Some(match facts::stripped(code.program, ctype) {
        CType::Bool => Ty::Int(8),
        CType::Int { bits, .. } | CType::Enum { bits, .. } => Ty::Int(*bits),
        CType::Float { bits, .. } => Ty::Float(*bits),
        CType::Pointer(_) => Ty::Ptr,
        _ => return None,
    })
}

/// Size and start of a member that is an array and has others after it.
pub fn array_member(program: &Program, record: RecordId, member: u32) -> Option<(u64, u64)> {
    let record = &program.records[record];
    let index = member as usize;
    if index + 1 >= record.members.len() {
        return None;
    }
    let member = &record.members[index];
    match facts::stripped(program, member.ctype) {
        CType::Array { count: Some(2..), .. } => {
            Some((facts::type_size(program, member.ctype)?, member.offset_bits / 8))
        }
        _ => None,
    }
}
