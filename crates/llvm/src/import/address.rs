//! Pointer arithmetic: bytes and strides for the machine, member names for people.

use program::{
    Address, AddressTerm, BinaryOp, CType, Const, LocId, Op, Operand, PathStep, RecordKind, Ty,
    TypeId,
};

use super::body::BodyReader;
use super::raw::RawInst;
use super::reader::{Corrupt, Read};
use super::shape::{Shape, Want, descend, member_at};

/// One index of the machine's address computation.
enum Step {
    Member { offset: u64 },
    Index { stride: u64, constant: i64 },
    Term { stride: u64, term: u32 },
}

impl BodyReader<'_, '_, '_> {
    pub fn read_address(&mut self, loc: LocId) -> Read<RawInst> {
        let base = self.operand()?;
        let in_bounds = self.reader.flag()?;
        let shape = Shape::read(self.reader)?;
        let (mut steps, mut terms) = (Vec::new(), Vec::new());
        let mut offset = 0i64;
        for _ in 0..self.reader.count()? {
            let step = self.read_step(&mut terms)?;
            offset = offset.wrapping_add(match step {
                Step::Member { offset } => offset as i64,
                Step::Index { stride, constant } => (stride as i64).wrapping_mul(constant),
                Step::Term { .. } => 0,
            });
            steps.push(step);
        }
        let mut path = Vec::new();
        let target = self.name_steps(base, &shape, &steps, &mut path);
        let ctype = self.unit.types.pointer_to(target);
        let address = Address { base, offset, terms: terms.into(), path: path.into(), in_bounds };
        self.value(Op::Address(Box::new(address)), Ty::Ptr, ctype, loc)
    }

    fn read_step(&mut self, terms: &mut Vec<AddressTerm>) -> Read<Step> {
        let kind = self.reader.byte()?;
        let size = self.reader.number()?;
        Ok(match kind {
            0 => Step::Member { offset: size },
            1 => Step::Index { stride: size, constant: self.reader.signed()? },
            2 => {
                let index = self.operand()?;
                let (stride, index) = match self.negated(index) {
                    Some(backwards) => ((size as i64).wrapping_neg(), backwards),
                    None => (size as i64, index),
                };
                terms.push(AddressTerm { stride, index });
                Step::Term { stride: size, term: terms.len() as u32 - 1 }
            }
            _ => return Err(Corrupt("an index of no known kind")),
        })
    }

    /// The compiler negates the number that is subtracted from a pointer; nobody wrote that
    /// subtraction.
    fn negated(&self, index: Operand) -> Option<Operand> {
        let Operand::Inst(id) = index else { return None };
        match self.body.insts.get(id.0 as usize)?.op()? {
            Op::Binary { op: BinaryOp::Sub, lhs: Operand::Const(zero), rhs, .. } => {
                let zero = &self.unit.constants.constants[*zero];
                matches!(zero, Const::Int { value: 0, .. }).then_some(*rhs)
            }
            _ => None,
        }
    }

    /// Follows the steps through the C types, from what `base` points to, and returns the
    /// type of the object they lead to.
    fn name_steps(
        &mut self,
        base: Operand,
        shape: &Shape,
        steps: &[Step],
        path: &mut Vec<PathStep>,
    ) -> TypeId {
        let Some((first, inner)) = steps.split_first() else { return TypeId::UNKNOWN };
        let walks = !matches!(first, Step::Index { constant: 0, .. });
        let mut current = self.start(base, shape, walks, path);
        match first {
            Step::Index { constant: 0, .. } | Step::Member { .. } => {}
            Step::Index { constant, .. } => {
                path.push(PathStep::Index { term: None, constant: *constant })
            }
            Step::Term { term, .. } => {
                path.push(PathStep::Index { term: Some(*term), constant: 0 });
            }
        }
        for step in inner {
            current = self.enter(current, step, path);
            if !current.is_known() {
                break;
            }
        }
        current
    }

    /// The object the first index moves over. The machine's own idea of it wins over what
    /// the pointer was declared to point to, because casts of pointers leave no trace.
    fn start(
        &mut self,
        base: Operand,
        shape: &Shape,
        walks: bool,
        path: &mut Vec<PathStep>,
    ) -> TypeId {
        let (object, offset) = self.object(base);
        let want = Want::Shape(shape, &self.unit.struct_names);
        if let Some(offset) = offset.filter(|_| object.is_known())
            && let Some(found) = descend(&self.unit.types, object, offset, want, path)
        {
            // Walking over a part that is not the pointer's own object: a cast.
            if walks && !path.is_empty() {
                path.clear();
            }
            return found;
        }
        match shape {
            Shape::Struct { name, size } => {
                let record = self.unit.struct_names.record(*name, *size, &self.unit.types);
                record.map_or(TypeId::UNKNOWN, |record| self.unit.types.record_type(record))
            }
            _ => TypeId::UNKNOWN,
        }
    }

    fn enter(&mut self, current: TypeId, step: &Step, path: &mut Vec<PathStep>) -> TypeId {
        let types = &self.unit.types;
        match (types.strip(current).clone(), step) {
            (CType::Record(record), Step::Member { offset }) => {
                if types.records[record].kind == RecordKind::Union {
                    return current;
                }
                if let Some((member, start, ctype)) = member_at(types, record, *offset)
                    && start == *offset
                {
                    path.push(PathStep::Field { record, member });
                    return ctype;
                }
                let unit = (record, *offset);
                self.body.units.insert(self.body.insts.len() as u32, unit);
                TypeId::UNKNOWN
            }
            (CType::Array { element, .. }, Step::Index { stride, constant }) => {
                path.push(PathStep::Index { term: None, constant: *constant });
                self.element(element, *stride)
            }
            (CType::Array { element, .. }, Step::Term { stride, term }) => {
                path.push(PathStep::Index { term: Some(*term), constant: 0 });
                self.element(element, *stride)
            }
            _ => TypeId::UNKNOWN,
        }
    }

    fn element(&self, element: TypeId, stride: u64) -> TypeId {
        let is_sized = self.unit.types.size(element).is_none_or(|size| size == stride);
        if is_sized { element } else { TypeId::UNKNOWN }
    }
}
