//! Value numbers: what the programmer would call the same thing has the same number.
//!
//! A load from `s->p` has one number wherever it stands, as long as `s` is the same value;
//! who relies on that says himself which stores and calls end it.

use program::{ConversionKind, Inst, InstId, Op, Operand, PathStep, Program, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use program::Body;

const UNNUMBERED: u32 = u32::MAX;

/// A number of [`Values`].
pub type Value = u32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    Inst(InstId),
    Param(u32),
    Const(u32),
    Load(Value),
    /// `base + offset`, with the numbers of variable terms, and whether it names a member.
    Address(Value, i64, SmallVec<[(i64, Value); 2]>, bool),
}

/// The value numbers of one body.
pub struct Values {
    of_inst: Vec<Value>,
    shapes: Vec<Shape>,
    /// An instruction that computes the value.
    first: Vec<Option<InstId>>,
    numbers: FxHashMap<Shape, Value>,
}

impl Values {
    pub fn new(body: &Body, program: &Program) -> Self {
        let mut values = Self {
            of_inst: vec![UNNUMBERED; body.insts.len()],
            shapes: Vec::new(),
            first: Vec::new(),
            numbers: FxHashMap::default(),
        };
        // Number 0 stands for the constant zero of any type, null included.
        values.number(Shape::Const(u32::MAX));
        for (id, inst) in body.insts.iter_enumerated() {
            let shape = values.shape(id, inst, program);
            let number = match shape {
                Ok(shape) => values.number(shape),
                Err(same) => same,
            };
            values.of_inst[id.0 as usize] = number;
            values.first[number as usize].get_or_insert(id);
        }
        values
    }

    fn shape(&mut self, id: InstId, inst: &Inst, program: &Program) -> Result<Shape, Value> {
        match &inst.op {
            Op::Load(access) if !access.is_volatile && access.bit_field.is_none() => {
                // The members of a union overlap: a load of one says nothing of the other, and
                // their numbers would be the same.
                let of_union = |step: &PathStep| matches!(step, PathStep::UnionMembers { .. });
                if access.path.iter().any(of_union) {
                    return Ok(Shape::Inst(id));
                }
                Ok(Shape::Load(self.of(access.ptr, program)))
            }
            Op::Address(address) => {
                let base = self.of(address.base, program);
                let is_member =
                    address.path.iter().any(|step| matches!(step, PathStep::Field { .. }));
                if address.offset == 0 && address.terms.is_empty() && !is_member {
                    return Err(base);
                }
                let mut terms = SmallVec::new();
                for term in &address.terms {
                    terms.push((term.stride, self.of(term.index, program)));
                }
                Ok(Shape::Address(base, address.offset, terms, is_member))
            }
            Op::Convert(conversion) => match conversion.kind {
                ConversionKind::Bits
                | ConversionKind::PointerToInt
                | ConversionKind::IntToPointer
                | ConversionKind::SignChange
                | ConversionKind::SignExtend
                | ConversionKind::ZeroExtend => Err(self.of(conversion.value, program)),
                // A truth value stored as a byte.
                ConversionKind::Truncate if inst.ty == Ty::Int(1) => {
                    Err(self.of(conversion.value, program))
                }
                _ => Ok(Shape::Inst(id)),
            },
            _ => Ok(Shape::Inst(id)),
        }
    }

    fn number(&mut self, shape: Shape) -> Value {
        if let Some(&number) = self.numbers.get(&shape) {
            return number;
        }
        let number = self.shapes.len() as Value;
        self.shapes.push(shape.clone());
        self.first.push(None);
        self.numbers.insert(shape, number);
        number
    }

    /// The number of an operand, made where it has none yet.
    fn of(&mut self, operand: Operand, program: &Program) -> Value {
        match operand {
            Operand::Inst(id) => match self.of_inst[id.0 as usize] {
                // Only phis and back edges name what comes later; those shapes are never built.
                UNNUMBERED => self.number(Shape::Inst(id)),
                number => number,
            },
            Operand::Param(index) => self.number(Shape::Param(index)),
            Operand::Const(id) if is_zero(program, id) => 0,
            Operand::Const(id) => self.number(Shape::Const(id.0)),
        }
    }

    /// The number of an operand that the body reads somewhere.
    pub fn get(&self, operand: Operand, program: &Program) -> Option<Value> {
        match operand {
            Operand::Inst(id) => Some(self.of_inst[id.0 as usize]),
            Operand::Param(index) => self.numbers.get(&Shape::Param(index)).copied(),
            Operand::Const(id) if is_zero(program, id) => Some(0),
            Operand::Const(id) => self.numbers.get(&Shape::Const(id.0)).copied(),
        }
    }

    /// As [`get`](Self::get), giving parameters and constants that only calls mention a number.
    pub fn get_or_make(&mut self, operand: Operand, program: &Program) -> Value {
        self.of(operand, program)
    }

    pub fn shape_of(&self, value: Value) -> &Shape {
        &self.shapes[value as usize]
    }

    /// An instruction that computes the value, if any does.
    pub fn example(&self, value: Value) -> Option<InstId> {
        self.first[value as usize]
    }

    /// The number of a load from this address, if there is one.
    pub fn load_of(&self, address: Value) -> Option<Value> {
        self.numbers.get(&Shape::Load(address)).copied()
    }

    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether the value was read from `address`, or through something read from there.
    pub fn depends_on_load(&self, mut value: Value, address: Value) -> bool {
        loop {
            match &self.shapes[value as usize] {
                Shape::Load(from) if *from == address => return true,
                Shape::Load(from) => value = *from,
                Shape::Address(base, ..) => value = *base,
                _ => return false,
            }
        }
    }

    /// Whether a load from memory is part of the value.
    pub fn is_from_memory(&self, mut value: Value) -> bool {
        loop {
            match &self.shapes[value as usize] {
                Shape::Load(_) => return true,
                Shape::Address(base, ..) => value = *base,
                _ => return false,
            }
        }
    }

    /// Whether the value was read from memory that one of these pointers leads to.
    pub fn is_reached_from(&self, value: Value, pointers: &[Value]) -> bool {
        let Shape::Load(mut at) = self.shapes[value as usize] else { return false };
        loop {
            if pointers.contains(&at) {
                return true;
            }
            match &self.shapes[at as usize] {
                Shape::Load(from) => at = *from,
                Shape::Address(base, ..) => at = *base,
                _ => return false,
            }
        }
    }

    /// Whether a variable index is part of the value.
    pub fn has_variable_index(&self, mut value: Value) -> bool {
        loop {
            match &self.shapes[value as usize] {
                Shape::Address(_, _, terms, _) if !terms.is_empty() => return true,
                Shape::Load(from) => value = *from,
                Shape::Address(base, ..) => value = *base,
                _ => return false,
            }
        }
    }

    /// What an address or load starts from.
    pub fn root(&self, mut value: Value) -> Value {
        loop {
            match &self.shapes[value as usize] {
                Shape::Load(from) => value = *from,
                Shape::Address(base, ..) => value = *base,
                _ => return value,
            }
        }
    }

    /// The pointer an access goes through: the address without its offsets.
    pub fn base(&self, mut value: Value) -> Value {
        while let Shape::Address(base, ..) = &self.shapes[value as usize] {
            value = *base;
        }
        value
    }
}

fn is_zero(program: &Program, id: program::ConstId) -> bool {
    matches!(
        program.constants[id],
        program::Const::Null | program::Const::Zero(_) | program::Const::Int { value: 0, .. }
    )
}
