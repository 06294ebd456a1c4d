//! The C types of a unit: decoded from debug information, interned, and extended by the
//! types that inference needs (pointers to objects, promoted integers).

use base::IdVec;
use program::{CType, Member, Record, RecordId, RecordKind, TypeId};
use rustc_hash::FxHashMap;

use super::locs::Locs;
use super::reader::{Corrupt, Read, Reader};

#[derive(Default)]
pub struct Types {
    pub types: IdVec<TypeId, CType>,
    pub records: IdVec<RecordId, Record>,
    ids: FxHashMap<CType, TypeId>,
    pointers: FxHashMap<TypeId, TypeId>,
    /// Typedefs and qualifiers removed, for each type.
    bare: Vec<TypeId>,
    typedefs: FxHashMap<Box<str>, TypeId>,
    /// The types of the stream by their numbers there; number 0 is void.
    numbered: Vec<TypeId>,
}

impl Types {
    pub fn new() -> Self {
        let mut types = Self::default();
        let unknown = types.intern(CType::Unknown);
        debug_assert_eq!(unknown, TypeId::UNKNOWN);
        types
    }

    pub fn intern(&mut self, ctype: CType) -> TypeId {
        if let Some(&known) = self.ids.get(&ctype) {
            return known;
        }
        let bare = match &ctype {
            CType::Typedef { target, .. } => Some(*target),
            CType::Const(inner)
            | CType::Volatile(inner)
            | CType::Restrict(inner)
            | CType::Atomic(inner) => Some(*inner),
            _ => None,
        };
        let id = self.types.push(ctype.clone());
        self.bare.push(bare.map_or(id, |inner| self.bare[inner.0 as usize]));
        self.ids.insert(ctype, id);
        id
    }

    /// The type without typedefs and qualifiers.
    pub fn bare(&self, id: TypeId) -> TypeId {
        self.bare[id.0 as usize]
    }

    /// What the type is under its typedefs and qualifiers.
    pub fn strip(&self, id: TypeId) -> &CType {
        &self.types[self.bare(id)]
    }

    /// The type a value read from an object of this type has: without its qualifiers.
    pub fn unqualified(&self, id: TypeId) -> TypeId {
        match self.types[id] {
            CType::Const(inner)
            | CType::Volatile(inner)
            | CType::Restrict(inner)
            | CType::Atomic(inner) => self.unqualified(inner),
            _ => id,
        }
    }

    pub fn pointer_to(&mut self, pointee: TypeId) -> TypeId {
        if !pointee.is_known() {
            return TypeId::UNKNOWN;
        }
        if let Some(&known) = self.pointers.get(&pointee) {
            return known;
        }
        let pointer = self.intern(CType::Pointer(pointee));
        self.pointers.insert(pointee, pointer);
        pointer
    }

    /// What a pointer of this type points to; unknown for anything else.
    pub fn pointee(&self, id: TypeId) -> TypeId {
        match self.strip(id) {
            CType::Pointer(pointee) => *pointee,
            _ => TypeId::UNKNOWN,
        }
    }

    pub fn record_of(&self, id: TypeId) -> Option<RecordId> {
        match self.strip(id) {
            CType::Record(record) => Some(*record),
            _ => None,
        }
    }

    pub fn record_type(&mut self, record: RecordId) -> TypeId {
        self.intern(CType::Record(record))
    }

    /// Bytes of an object of this type, where its size is known.
    pub fn size(&self, id: TypeId) -> Option<u64> {
        match self.strip(id) {
            CType::Unknown | CType::Void | CType::Function { .. } => None,
            CType::Bool => Some(1),
            CType::Int { bits, .. } | CType::Float { bits, .. } | CType::Complex { bits } => {
                Some(u64::from(*bits).div_ceil(8))
            }
            CType::Enum { bits, .. } => Some(u64::from(*bits / 8)),
            CType::Pointer(_) => Some(8),
            CType::Array { element, count } => self.size(*element)?.checked_mul((*count)?),
            CType::Vector { element, count } => self.size(*element)?.checked_mul(*count),
            CType::Record(record) => {
                let record = &self.records[*record];
                record.complete.then_some(record.size)
            }
            _ => None,
        }
    }

    /// Width and sign of an integer type, enumerations and `_Bool` included.
    pub fn integer(&self, id: TypeId) -> Option<(u32, bool)> {
        match self.strip(id) {
            CType::Bool => Some((8, false)),
            CType::Int { bits, signed, .. } | CType::Enum { bits, signed, .. } => {
                Some((*bits, *signed))
            }
            _ => None,
        }
    }

    /// C's standard integer type of this width and sign.
    pub fn standard_integer(&mut self, bits: u32, signed: bool) -> TypeId {
        let name = match (bits, signed) {
            (8, true) => "signed char",
            (8, false) => "unsigned char",
            (16, true) => "short",
            (16, false) => "unsigned short",
            (32, true) => "int",
            (32, false) => "unsigned int",
            (64, true) => "long",
            (64, false) => "unsigned long",
            (128, true) => "__int128",
            (128, false) => "unsigned __int128",
            _ => return TypeId::UNKNOWN,
        };
        self.intern(CType::Int { name: name.into(), bits, signed })
    }

    /// The type a conversion check names: `'int'`, or `'u8' (aka 'unsigned char')`.
    pub fn checked(&mut self, text: &str, bits: u32, signed: bool) -> TypeId {
        let mut quoted = text.split('\'').skip(1).step_by(2);
        let name = quoted.next().unwrap_or_default();
        let underlying = quoted.next().unwrap_or(name);
        if let Some(&known) = self.typedefs.get(name)
            && self.integer(known) == Some((bits, signed))
        {
            return known;
        }
        let tagged = underlying.strip_prefix("enum ").unwrap_or(underlying);
        let is_named = |ctype: &CType| match ctype {
            CType::Enum { name, .. } => &**name == tagged,
            _ => false,
        };
        if underlying.starts_with("enum ")
            && let Some((known, _)) = self.types.iter_enumerated().find(|(_, ty)| is_named(ty))
        {
            return known;
        }
        match underlying {
            "char" | "long long" | "unsigned long long" => {
                self.intern(CType::Int { name: underlying.into(), bits, signed })
            }
            _ => self.standard_integer(bits, signed),
        }
    }

    /// The type a number of the stream stands for, where 0 says that none is known.
    pub fn numbered(&self, number: u32) -> TypeId {
        let known = (number != 0).then(|| self.numbered.get(number as usize)).flatten();
        known.copied().unwrap_or(TypeId::UNKNOWN)
    }
}

/// A type record before the types it refers to are known.
enum Raw {
    Unknown,
    Basic { name: Box<str>, bits: u32, encoding: u32 },
    Pointer(u32),
    Typedef { name: Box<str>, target: u32 },
    Qualified { kind: u8, target: u32 },
    Array { element: u32, counts: Vec<i64>, is_vector: bool },
    Record { record: RecordId, members: Vec<(Box<str>, u32, u64, u64, bool)> },
    Enum { name: Box<str>, bits: u32, base: u32, enumerators: Vec<(Box<str>, i64)> },
    Function { result: u32, params: Vec<u32>, variadic: bool },
}

impl Types {
    /// Reads the section of C types.
    pub fn read(&mut self, reader: &mut Reader, locs: &mut Locs) -> Read<()> {
        let count = reader.count()?;
        let mut raw = Vec::with_capacity(count + 1);
        raw.push(Raw::Unknown);
        for _ in 0..count {
            raw.push(self.read_one(reader, locs)?);
        }
        let void = self.intern(CType::Void);
        let mut resolver = Resolver { raw: &raw, done: vec![None; raw.len()], types: self };
        resolver.done[0] = Some(void);
        for number in 1..raw.len() {
            resolver.resolve(number as u32, 0)?;
        }
        let numbered = resolver.done.iter().map(|id| id.unwrap_or(TypeId::UNKNOWN)).collect();
        self.numbered = numbered;
        self.fill_members(raw)
    }

    fn read_one(&mut self, reader: &mut Reader, locs: &mut Locs) -> Read<Raw> {
        Ok(match reader.byte()? {
            0 => Raw::Unknown,
            1 => Raw::Basic {
                name: reader.text()?,
                bits: reader.small()?,
                encoding: reader.small()?,
            },
            2 => Raw::Pointer(reader.small()?),
            3 => Raw::Typedef { name: reader.text()?, target: reader.small()? },
            kind @ 4..=7 => Raw::Qualified { kind, target: reader.small()? },
            kind @ 8..=9 => {
                let element = reader.small()?;
                let counts = (0..reader.count()?).map(|_| reader.signed()).collect::<Read<_>>()?;
                Raw::Array { element, counts, is_vector: kind == 9 }
            }
            10 => self.read_record(reader, locs)?,
            11 => {
                let (name, bits, base) = (reader.text()?, reader.small()?, reader.small()?);
                let enumerators = (0..reader.count()?)
                    .map(|_| Ok((reader.text()?, reader.signed()?)))
                    .collect::<Read<_>>()?;
                Raw::Enum { name, bits, base, enumerators }
            }
            12 => {
                let result = reader.small()?;
                let params = (0..reader.count()?).map(|_| reader.small()).collect::<Read<_>>()?;
                Raw::Function { result, params, variadic: reader.flag()? }
            }
            _ => return Err(Corrupt("a type of no known kind")),
        })
    }

    fn read_record(&mut self, reader: &mut Reader, locs: &mut Locs) -> Read<Raw> {
        let kind = if reader.flag()? { RecordKind::Union } else { RecordKind::Struct };
        let name = reader.text()?;
        let size = reader.number()? / 8;
        let complete = !reader.flag()?;
        let loc = locs.at(reader.small()?, 0);
        let members = (0..reader.count()?)
            .map(|_| {
                let (name, ctype) = (reader.text()?, reader.small()?);
                Ok((name, ctype, reader.number()?, reader.number()?, reader.flag()?))
            })
            .collect::<Read<_>>()?;
        let record = Record { kind, name, size, members: Vec::new(), complete, loc };
        Ok(Raw::Record { record: self.records.push(record), members })
    }

    /// Members come last, because records may contain pointers to themselves.
    fn fill_members(&mut self, raw: Vec<Raw>) -> Read<()> {
        for raw in raw {
            let Raw::Record { record, members } = raw else { continue };
            let members = members.into_iter().map(|(name, number, offset_bits, size_bits, bit)| {
                let ctype = *self.numbered.get(number as usize)?;
                Some(Member { name, ctype, offset_bits, size_bits, is_bit_field: bit })
            });
            self.records[record].members =
                members.collect::<Option<_>>().ok_or(Corrupt("a member of no known type"))?;
        }
        Ok(())
    }
}

struct Resolver<'a> {
    raw: &'a [Raw],
    done: Vec<Option<TypeId>>,
    types: &'a mut Types,
}

impl Resolver<'_> {
    /// Only records can close a cycle of types, so a deep chain is a garbled stream.
    fn resolve(&mut self, number: u32, depth: u32) -> Read<TypeId> {
        const DEEPEST: u32 = 200;
        let index = number as usize;
        if let Some(known) = *self.done.get(index).ok_or(Corrupt("a type outside the table"))? {
            return Ok(known);
        }
        if depth > DEEPEST {
            return Err(Corrupt("types refer to each other in a circle"));
        }
        let ctype = self.build(number, depth + 1)?;
        let id = self.types.intern(ctype);
        if let Raw::Typedef { name, .. } = &self.raw[index] {
            self.name_untagged(id, name);
            self.types.typedefs.entry(name.clone()).or_insert(id);
        }
        self.done[index] = Some(id);
        Ok(id)
    }

    fn build(&mut self, number: u32, depth: u32) -> Read<CType> {
        let raw = self.raw;
        Ok(match &raw[number as usize] {
            Raw::Unknown => CType::Unknown,
            Raw::Basic { name, bits, encoding } => basic(name, *bits, *encoding),
            Raw::Pointer(target) => CType::Pointer(self.resolve(*target, depth)?),
            Raw::Typedef { name, target } => {
                CType::Typedef { name: name.clone(), target: self.resolve(*target, depth)? }
            }
            Raw::Qualified { kind, target } => {
                let target = self.resolve(*target, depth)?;
                match kind {
                    4 => CType::Const(target),
                    5 => CType::Volatile(target),
                    6 => CType::Restrict(target),
                    _ => CType::Atomic(target),
                }
            }
            Raw::Array { element, counts, is_vector } => {
                return self.array(*element, counts, *is_vector, depth);
            }
            Raw::Record { record, .. } => CType::Record(*record),
            Raw::Enum { name, bits, base, enumerators } => {
                let base = self.resolve(*base, depth)?;
                let signed = self.types.integer(base).is_some_and(|(_, signed)| signed);
                let enumerators = enumerators.clone();
                CType::Enum { name: name.clone(), bits: *bits, signed, enumerators }
            }
            Raw::Function { result, params, variadic } => CType::Function {
                result: self.resolve(*result, depth)?,
                params: params
                    .iter()
                    .map(|param| self.resolve(*param, depth))
                    .collect::<Read<_>>()?,
                variadic: *variadic,
            },
        })
    }

    /// One array inside the other, the last dimension innermost.
    fn array(&mut self, element: u32, counts: &[i64], vector: bool, depth: u32) -> Read<CType> {
        let mut element = self.resolve(element, depth)?;
        let (outermost, inner) = counts.split_first().unwrap_or((&-1, &[]));
        for count in inner.iter().rev() {
            let array = CType::Array { element, count: u64::try_from(*count).ok() };
            element = self.types.intern(array);
        }
        let count = u64::try_from(*outermost).ok();
        Ok(match count {
            Some(count) if vector => CType::Vector { element, count },
            _ => CType::Array { element, count },
        })
    }

    /// A record without a tag is known by the first typedef that names it.
    fn name_untagged(&mut self, typedef: TypeId, name: &str) {
        let CType::Typedef { target, .. } = self.types.types[typedef] else { return };
        if let CType::Record(record) = self.types.types[target] {
            let record = &mut self.types.records[record];
            if record.name.is_empty() {
                record.name = name.into();
            }
        }
    }
}

/// DWARF's encodings of basic types.
fn basic(name: &str, bits: u32, encoding: u32) -> CType {
    const BOOLEAN: u32 = 2;
    const COMPLEX_FLOAT: u32 = 3;
    const FLOAT: u32 = 4;
    const SIGNED: u32 = 5;
    const SIGNED_CHAR: u32 = 6;
    match encoding {
        BOOLEAN => CType::Bool,
        COMPLEX_FLOAT => CType::Complex { bits },
        FLOAT => CType::Float { name: name.into(), bits },
        _ => {
            let signed = matches!(encoding, SIGNED | SIGNED_CHAR);
            CType::Int { name: name.into(), bits, signed }
        }
    }
}
