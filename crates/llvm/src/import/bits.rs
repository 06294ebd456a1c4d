//! Bit-fields: the loads, shifts and masks the machine needs become one access each.
//!
//! A load of a bit-field yields the field's value in its declared type; a store stores the
//! low bits of its value and leaves the others alone. Nothing of the rest of the storage
//! unit is read or written, as the source has it. An access is folded only where the C type
//! has a bit-field at just these bits, and then it computes the same by construction.

use program::{
    Access, BinaryOp, BitField, CType, Const, ConversionOrigin, InstId, Op, Operand, PathStep,
    RecordId, RecordKind, Ty, TypeId,
};

use super::body::BodyReader;
use super::raw::RawOp;
use super::types::Types;

/// A bit-field found at an access.
struct Found {
    path: Vec<PathStep>,
    ctype: TypeId,
    bits: BitField,
}

impl BodyReader<'_, '_, '_> {
    pub fn fold_bit_fields(&mut self) {
        let has_bit_fields = |types: &Types| {
            types.records.iter().any(|record| record.members.iter().any(|m| m.is_bit_field))
        };
        if !has_bit_fields(&self.unit.types) {
            return;
        }
        let units: Vec<(u32, TypeId, u64)> = (0..self.body.insts.len() as u32)
            .filter_map(|at| self.accessed_unit(at).map(|(record, byte)| (at, record, byte)))
            .collect();
        if units.is_empty() {
            return;
        }
        let mut users = Users::of(self);
        // Stores first: the load that saves the other bits of the unit belongs to the store.
        for &(at, record, byte) in &units {
            self.fold_store(at, record, byte, &mut users);
        }
        for &(at, record, byte) in &units {
            self.fold_load(at, record, byte, &mut users);
        }
        users.apply(self);
    }

    /// The record and the byte in it that an integer access without a member of its own, or
    /// within a union, leads to.
    fn accessed_unit(&mut self, at: u32) -> Option<(TypeId, u64)> {
        let access = match self.body.insts[at as usize].op()? {
            Op::Load(access) | Op::Store { access, .. } => access,
            _ => return None,
        };
        if !matches!(self.body.insts[at as usize].ty, Ty::Int(_)) {
            return None;
        }
        let ptr = access.ptr;
        if let Operand::Inst(id) = ptr
            && let Some(&(record, byte)) = self.body.units.get(&id.0)
        {
            return Some((self.unit.types.record_type(record), byte));
        }
        let (object, byte) = self.object(ptr);
        self.unit.types.record_of(object)?;
        Some((object, byte?))
    }

    fn find(&self, record: TypeId, byte: u64, bits: BitField) -> Option<Found> {
        let mut path = Vec::new();
        let first_bit = byte * 8 + u64::from(bits.offset);
        let ctype = find_member(&self.unit.types, record, first_bit, bits.width, &mut path)?;
        Some(Found { path, ctype, bits })
    }

    fn fold_load(&mut self, at: u32, record: TypeId, byte: u64, users: &mut Users) {
        let Some(Op::Load(_)) = self.body.insts[at as usize].op() else { return };
        let Ty::Int(unit) = self.body.insts[at as usize].ty else { return };
        let whole = BitField { offset: 0, width: unit };
        let (found, last) = match self.extraction(at, unit, users) {
            Some((bits, last)) => (self.find(record, byte, bits), last),
            None => (self.find(record, byte, whole), at),
        };
        let Some(found) = found else { return };
        let last = self.declared_width(last, unit, &found, users);
        let ty = self.body.insts[last as usize].ty;
        users.replace_chain(self, at, last);
        let inst = &mut self.body.insts[at as usize];
        inst.ty = ty;
        inst.ctype = self.unit.types.unqualified(found.ctype);
        if let RawOp::Op(Op::Load(access)) = &mut inst.op {
            name(access, found);
        }
    }

    /// Which bits of a loaded unit are taken out, and the instruction that has them.
    fn extraction(&self, at: u32, unit: u32, users: &Users) -> Option<(BitField, u32)> {
        use BinaryOp::{And, ArithmeticShr, LogicalShr, Shl};
        let first = users.only(at)?;
        let (op, amount) = self.binary_with_constant(first, Operand::Inst(InstId(at)))?;
        let amount_bits = u32::try_from(amount).ok().filter(|amount| *amount < unit);
        let next = users.only(first).and_then(|next| {
            let value = Operand::Inst(InstId(first));
            Some((next, self.binary_with_constant(next, value)?))
        });
        match (op, next) {
            (Shl, Some((last, (ArithmeticShr, down)))) => {
                let down = u32::try_from(down).ok().filter(|down| *down < unit)?;
                let offset = down.checked_sub(amount_bits?)?;
                Some((BitField { offset, width: unit - down }, last))
            }
            (ArithmeticShr, _) => {
                let offset = amount_bits?;
                Some((BitField { offset, width: unit - offset }, first))
            }
            (LogicalShr, Some((last, (And, mask)))) => {
                Some((BitField { offset: amount_bits?, width: low_bits(mask, unit)? }, last))
            }
            (LogicalShr, _) => {
                let offset = amount_bits?;
                Some((BitField { offset, width: unit - offset }, first))
            }
            (And, _) => Some((BitField { offset: 0, width: low_bits(amount, unit)? }, first)),
            _ => None,
        }
    }

    /// The conversion from the unit's width to that of the declared type belongs to the access.
    fn declared_width(&self, last: u32, unit: u32, found: &Found, users: &Users) -> u32 {
        let declared = declared_bits(&self.unit.types, found.ctype);
        let cast = users.only(last).filter(|_| declared != Some(unit));
        let is_cast = |at: &u32| {
            let inst = &self.body.insts[*at as usize];
            let is_conversion = matches!(inst.op(), Some(Op::Convert(conversion))
                if conversion.origin != ConversionOrigin::Implicit);
            is_conversion && Some(inst.ty) == declared.map(Ty::Int)
        };
        cast.filter(is_cast).unwrap_or(last)
    }

    fn fold_store(&mut self, at: u32, record: TypeId, byte: u64, users: &mut Users) {
        let Some(Op::Store { access, value }) = self.body.insts[at as usize].op() else { return };
        let Ty::Int(unit) = self.body.insts[at as usize].ty else { return };
        let (ptr, stored) = (access.ptr, *value);
        let kept = self.kept_bits(stored, ptr, unit);
        let bits = kept.as_ref().map_or(BitField { offset: 0, width: unit }, |kept| kept.bits);
        let Some(found) = self.find(record, byte, bits) else { return };
        let declared = declared_bits(&self.unit.types, found.ctype).unwrap_or(unit);
        let value = match kept {
            Some(kept) => {
                let Some(value) = self.stored_value(kept.set, bits, declared, &found) else {
                    return;
                };
                value
            }
            None => stored,
        };
        let ty = self.ty_of(value);
        let inst = &mut self.body.insts[at as usize];
        inst.ty = ty;
        if let RawOp::Op(Op::Store { access, value: slot }) = &mut inst.op {
            *slot = value;
            name(access, found);
        }
        users.dead_roots.push(stored);
        users.folded_stores.push(at);
    }

    /// `(load & ~mask) | bits`, or only the masked load where the bits are zero.
    fn kept_bits(&self, stored: Operand, ptr: Operand, unit: u32) -> Option<Kept> {
        let (lhs, set) = match self.binary(stored) {
            Some((BinaryOp::Or, lhs, rhs)) => (lhs, Some(rhs)),
            _ => (stored, None),
        };
        let (BinaryOp::And, loaded, mask) = self.binary(lhs)? else { return None };
        let clear = self.constant(mask)?;
        let Operand::Inst(load) = loaded else { return None };
        match self.body.insts[load.0 as usize].op()? {
            Op::Load(access) if access.ptr == ptr => {}
            _ => return None,
        }
        let mask = !clear & all_ones(unit);
        let offset = mask.trailing_zeros();
        let width = low_bits((mask >> offset) as i128, unit)?;
        Some(Kept { set, bits: BitField { offset, width } })
    }

    /// The value behind the mask, the shift and the cast to the unit's width.
    fn stored_value(
        &mut self,
        set: Option<Operand>,
        bits: BitField,
        declared: u32,
        found: &Found,
    ) -> Option<Operand> {
        let as_constant = |reader: &mut Self, raw: u128| {
            let field = (raw >> bits.offset) & all_ones(bits.width);
            let signed = reader.unit.types.integer(found.ctype).is_some_and(|(_, signed)| signed);
            let unused = 128 - bits.width;
            let value = match signed {
                true => ((field << unused) as i128) >> unused,
                // Constants are kept sign-extended from their own width.
                false => ((field << (128 - declared)) as i128) >> (128 - declared),
            };
            let constant = Const::Int { bits: declared, value };
            Operand::Const(reader.unit.constants.intern(constant))
        };
        let Some(set) = set else { return Some(as_constant(self, 0)) };
        if let Some(raw) = self.constant(set) {
            return Some(as_constant(self, raw));
        }
        let mut value = set;
        if bits.offset > 0 {
            let (BinaryOp::Shl, inner, amount) = self.binary(value)? else { return None };
            if self.constant(amount) != Some(u128::from(bits.offset)) {
                return None;
            }
            value = inner;
        }
        if let Some((BinaryOp::And, inner, mask)) = self.binary(value)
            && self.constant(mask) == Some(all_ones(bits.width))
        {
            value = inner;
        }
        if let Operand::Inst(id) = value
            && let Some(Op::Convert(conversion)) = self.body.insts[id.0 as usize].op()
            && conversion.origin != ConversionOrigin::Implicit
            && self.ty_of(conversion.value) == Ty::Int(declared)
        {
            value = conversion.value;
        }
        Some(value)
    }

    fn binary(&self, operand: Operand) -> Option<(BinaryOp, Operand, Operand)> {
        let Operand::Inst(id) = operand else { return None };
        match self.body.insts.get(id.0 as usize)?.op()? {
            Op::Binary { op, lhs, rhs, .. } => Some((*op, *lhs, *rhs)),
            _ => None,
        }
    }

    fn binary_with_constant(&self, at: u32, lhs: Operand) -> Option<(BinaryOp, i128)> {
        let (op, left, right) = self.binary(Operand::Inst(InstId(at)))?;
        let value = self.constant(right).filter(|_| left == lhs)?;
        Some((op, value as i128))
    }

    /// The bits of an integer constant.
    fn constant(&self, operand: Operand) -> Option<u128> {
        let Operand::Const(id) = operand else { return None };
        match self.unit.constants.constants[id] {
            Const::Int { bits, value } => Some(value as u128 & all_ones(bits)),
            _ => None,
        }
    }
}

/// What of the unit a store puts in beside what it keeps.
struct Kept {
    set: Option<Operand>,
    bits: BitField,
}

fn name(access: &mut Access, found: Found) {
    access.ctype = found.ctype;
    access.path = found.path.into();
    access.bit_field = Some(found.bits);
}

fn all_ones(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// How many low bits a mask has, if it has nothing else.
fn low_bits(mask: i128, unit: u32) -> Option<u32> {
    let mask = mask as u128 & all_ones(unit);
    (mask != 0 && mask & (mask + 1) == 0).then(|| mask.count_ones())
}

/// The width of the machine type that values of a bit-field's declared type have.
fn declared_bits(types: &Types, ctype: TypeId) -> Option<u32> {
    match types.strip(ctype) {
        CType::Bool => Some(1),
        _ => types.integer(ctype).map(|(bits, _)| bits),
    }
}

/// Finds the bit-field that has just these bits, through nested records and arrays.
fn find_member(
    types: &Types,
    from: TypeId,
    first_bit: u64,
    width: u32,
    path: &mut Vec<PathStep>,
) -> Option<TypeId> {
    if path.len() > 32 {
        return None;
    }
    match *types.strip(from) {
        CType::Array { element, .. } => {
            let size = types.size(element).filter(|size| *size > 0)? * 8;
            path.push(PathStep::Index { term: None, constant: (first_bit / size) as i64 });
            let found = find_member(types, element, first_bit % size, width, path);
            if found.is_none() {
                path.pop();
            }
            found
        }
        CType::Record(record) => find_in_record(types, record, first_bit, width, path),
        _ => None,
    }
}

fn find_in_record(
    types: &Types,
    record: RecordId,
    first_bit: u64,
    width: u32,
    path: &mut Vec<PathStep>,
) -> Option<TypeId> {
    let layout = &types.records[record];
    let is_union = layout.kind == RecordKind::Union;
    let mut fitting: Vec<u32> = Vec::new();
    let mut first: Option<(Vec<PathStep>, TypeId)> = None;
    for (index, member) in (0u32..).zip(&layout.members) {
        let below = if member.is_bit_field {
            let fits = member.offset_bits == first_bit && member.size_bits == u64::from(width);
            fits.then(|| (Vec::new(), member.ctype))
        } else if member.offset_bits <= first_bit
            && first_bit < member.offset_bits + member.size_bits.max(1)
        {
            let mut steps = Vec::new();
            let inner = first_bit - member.offset_bits;
            find_member(types, member.ctype, inner, width, &mut steps).map(|found| (steps, found))
        } else {
            None
        };
        if below.is_some() {
            fitting.push(index);
            first = first.or(below);
        }
        if first.is_some() && !is_union {
            break;
        }
    }
    let (steps, ctype) = first?;
    path.push(match is_union {
        true => PathStep::UnionMembers { record, members: fitting.into() },
        false => PathStep::Field { record, member: fitting[0] },
    });
    path.extend(steps);
    Some(ctype)
}

/// Who uses each value, and what has been replaced so far.
struct Users {
    /// The only user of each value, if there is just one.
    only: Vec<Option<u32>>,
    counts: Vec<u32>,
    replaced: Vec<Option<Operand>>,
    /// Values that lost a user.
    dead_roots: Vec<Operand>,
    folded_stores: Vec<u32>,
}

impl Users {
    fn of(reader: &BodyReader) -> Self {
        let n_values = reader.body.insts.len();
        let mut users = Self {
            only: vec![None; n_values],
            counts: vec![0; n_values],
            replaced: vec![None; n_values],
            dead_roots: Vec::new(),
            folded_stores: Vec::new(),
        };
        for (at, inst) in (0u32..).zip(&reader.body.insts) {
            if let Some(op) = inst.op() {
                op.for_each_operand(|operand| users.count(operand, Some(at)));
            }
        }
        for block in &reader.body.blocks {
            block.terminator.operand().into_iter().for_each(|value| users.count(value, None));
        }
        users
    }

    fn count(&mut self, operand: Operand, user: Option<u32>) {
        if let Operand::Inst(id) = operand {
            self.counts[id.0 as usize] += 1;
            self.only[id.0 as usize] = user;
        }
    }

    fn only(&self, value: u32) -> Option<u32> {
        self.only[value as usize].filter(|_| self.counts[value as usize] == 1)
    }

    /// The load at `first` stands for the chain of single users that ends at `last`.
    fn replace_chain(&mut self, reader: &mut BodyReader, first: u32, last: u32) {
        let mut at = first;
        while at != last {
            let Some(next) = self.only(at) else { return };
            reader.body.insts[next as usize].op = RawOp::Gone;
            self.replaced[next as usize] = Some(Operand::Inst(InstId(first)));
            at = next;
        }
    }

    /// Rewrites the uses of what was replaced, and drops what only folded stores had used.
    fn apply(mut self, reader: &mut BodyReader) {
        let resolve = |operand: &mut Operand| {
            if let Operand::Inst(id) = *operand
                && let Some(with) = self.replaced[id.0 as usize]
            {
                *operand = with;
            }
        };
        for inst in &mut reader.body.insts {
            if let RawOp::Op(op) = &mut inst.op {
                op.for_each_operand_mut(resolve);
            }
        }
        for block in &mut reader.body.blocks {
            block.terminator.operand_mut().into_iter().for_each(resolve);
        }
        retype_conversions(reader);
        let mut pending = std::mem::take(&mut self.dead_roots);
        for &store in &self.folded_stores {
            pending.extend(read_back(reader, store));
        }
        Self::of(reader).drop_dead(reader, pending);
    }

    /// Drops pure instructions that nobody uses, and what only they had used.
    fn drop_dead(mut self, reader: &mut BodyReader, mut pending: Vec<Operand>) {
        while let Some(operand) = pending.pop() {
            let Operand::Inst(id) = operand else { continue };
            let at = id.0 as usize;
            let RawOp::Op(op) = &reader.body.insts[at].op else { continue };
            let is_pure = match op {
                Op::Binary { .. } | Op::Load(_) => true,
                Op::Convert(conversion) => conversion.origin != ConversionOrigin::Implicit,
                _ => false,
            };
            if !is_pure || self.counts[at] > 0 {
                continue;
            }
            op.for_each_operand(|operand| {
                if let Operand::Inst(id) = operand {
                    self.counts[id.0 as usize] -= 1;
                }
                pending.push(operand);
            });
            reader.body.insts[at].op = RawOp::Gone;
        }
    }
}

/// Folding gave loads their declared types: conversions of them start there.
fn retype_conversions(reader: &mut BodyReader) {
    for at in 0..reader.body.insts.len() {
        let Some(Op::Convert(conversion)) = reader.body.insts[at].op() else { continue };
        if conversion.origin == ConversionOrigin::Implicit {
            continue;
        }
        let (kind, value) = (conversion.kind, conversion.value);
        let from = reader.source_type(kind, value);
        if let RawOp::Op(Op::Convert(conversion)) = &mut reader.body.insts[at].op {
            conversion.from = from;
        }
    }
}

/// The instructions behind a folded store that would read the stored bits back, for the value
/// of the assignment; the last first.
fn read_back(reader: &BodyReader, store: u32) -> Vec<Operand> {
    const LONGEST: usize = 4;
    let loc = reader.body.insts[store as usize].loc;
    let behind = reader.body.insts.iter().zip(0u32..).skip(store as usize + 1).take(LONGEST);
    let same_place = behind.take_while(|(inst, _)| inst.loc == loc);
    same_place.map(|(_, at)| Operand::Inst(InstId(at))).collect()
}
