//! Bitcode to a program of one unit.
//!
//! The shim's stream is read section by section: types, constants, globals, function
//! headers, bodies. Each body is decoded with its variables in memory, typed, and then
//! brought into SSA form.

mod address;
mod bits;
mod body;
mod casts;
mod constants;
mod conversion;
mod functions;
mod globals;
mod infer;
mod locs;
mod opcodes;
mod raw;
mod reader;
mod shape;
mod ssa;
mod types;

use base::{IdVec, SourceMap};
use program::{
    CType, Function, FunctionId, Global, GlobalId, LocId, Program, TypeId, UnitInfo, UnknownCode,
};

use crate::shim;
use body::BodyReader;
use casts::Casts;
use constants::Constants;
use locs::Locs;
use reader::{Corrupt, Read, Reader};
use shape::StructNames;
use types::Types;

/// Why a unit could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("cannot read the bitcode of {unit}: {reason}")]
    Bitcode { unit: String, reason: String },
    /// A defect of the importer itself, reported so that the other units go on.
    #[error("cannot import {unit}: {reason} (a defect of firstfault; please report it)")]
    Stream { unit: String, reason: &'static str },
}

/// As [`import_with_text`], where the text is not at hand: conversions to and from floating
/// point and pointers then all pass for the programmer's.
pub fn import(bitcode: &[u8], map: &SourceMap, unit_path: &str) -> Result<Program, ImportError> {
    import_with_text(bitcode, map, unit_path, b"")
}

/// Imports one unit's bitcode. `map` leads from the compiled text to the user's sources;
/// `unit_path` names the unit; `text` is what was compiled.
pub fn import_with_text(
    bitcode: &[u8],
    map: &SourceMap,
    unit_path: &str,
    text: &[u8],
) -> Result<Program, ImportError> {
    let unit = || unit_path.to_string();
    let stream = shim::import_stream(bitcode)
        .map_err(|reason| ImportError::Bitcode { unit: unit(), reason })?;
    read_program(&stream, map, unit_path, text)
        .map_err(|Corrupt(reason)| ImportError::Stream { unit: unit(), reason })
}

/// What is known of the unit while it is read.
struct Unit<'a> {
    locs: Locs<'a>,
    casts: Casts<'a>,
    types: Types,
    struct_names: StructNames,
    constants: Constants,
    globals: IdVec<GlobalId, Global>,
    functions: IdVec<FunctionId, Function>,
    unknown_code: Vec<UnknownCode>,
}

fn read_program(stream: &[u8], map: &SourceMap, unit_path: &str, text: &[u8]) -> Read<Program> {
    let mut reader = Reader::new(stream);
    let mut unit = Unit {
        locs: Locs::new(map, unit_path),
        casts: Casts::new(text),
        types: Types::new(),
        struct_names: StructNames::default(),
        constants: Constants::default(),
        globals: IdVec::new(),
        functions: IdVec::new(),
        unknown_code: Vec::new(),
    };
    unit.types.read(&mut reader, &mut unit.locs)?;
    unit.struct_names = StructNames::read(&mut reader, &unit.types)?;
    unit.constants.read(&mut reader)?;
    unit.read_globals(&mut reader)?;
    let defined = unit.read_headers(&mut reader)?;
    unit.constants.check(unit.globals.len(), unit.functions.len())?;
    if !reader.text()?.is_empty() {
        let what = "assembler at file level".to_string();
        unit.unknown_code.push(UnknownCode { what, loc: LocId::UNKNOWN });
    }
    for function in defined {
        let (raw, params) = BodyReader::new(&mut unit, &mut reader, function).read()?;
        let result = unit.scalar_result(function);
        let body = ssa::promote(raw, result, &mut unit.constants, &unit.types)?;
        unit.functions[function].params = params;
        unit.functions[function].body = Some(body);
    }
    if !reader.is_at_end() {
        return Err(Corrupt("the stream goes on behind its end"));
    }
    Ok(unit.into_program(unit_path))
}

impl Unit<'_> {
    /// The C type of a function's result, unless it is a record cut into pieces.
    fn scalar_result(&self, function: FunctionId) -> TypeId {
        match self.types.strip(self.functions[function].ctype) {
            CType::Function { result, .. } if self.types.record_of(*result).is_none() => {
                self.types.unqualified(*result)
            }
            _ => TypeId::UNKNOWN,
        }
    }

    fn into_program(self, unit_path: &str) -> Program {
        Program {
            units: [UnitInfo { path: unit_path.to_string() }].into_iter().collect(),
            files: self.locs.files,
            names: self.locs.names,
            locs: self.locs.locs,
            types: self.types.types,
            records: self.types.records,
            constants: self.constants.constants,
            globals: self.globals,
            functions: self.functions,
            unknown_code: self.unknown_code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bit of everything the stream has records for.
    const TEXT: &str = "struct s { int a : 3; unsigned b : 9; union { float f; int i; } u; char t[]; };
        enum e { A, B = -4 }; typedef int (*fn)(struct s *, ...);
        static const char *names[] = { \"one\", \"two\" }; struct s g; __thread int tls; fn table[2];
        int f(struct s *p, int n, fn call) {
          int x; short k = n; void *l[] = { &&out, &&out };
          for (int i = 0; i < n; i++) { p->a = i; p->t[i] = k++; if (i) x = p->u.i; }
          switch (n) { case 1: return x; case 5: goto *l[n]; }
          __asm__(\"nop\"); __atomic_fetch_add(&tls, 1, 5);
          out: return call(p, names[n], p->u.f * 2.5) ?: x;
        }";

    fn stream() -> Vec<u8> {
        let flags: [&str; 0] = [];
        let (map, limits) = (SourceMap::default(), Default::default());
        let cancel = base::Cancel::new();
        let bitcode = crate::compile(TEXT.as_bytes(), &flags, &map, &limits, &cancel);
        shim::import_stream(&bitcode.expect("it compiles")).expect("it is bitcode")
    }

    #[test]
    fn a_garbled_stream_never_panics() {
        let good = stream();
        let map = SourceMap::default();
        assert!(read_program(&good, &map, "t.c", b"").is_ok());
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut n_errors = 0;
        for _ in 0..3_000 {
            let mut bad = good.clone();
            for _ in 0..=random() % 3 {
                let at = random() as usize % bad.len();
                bad[at] = random() as u8;
            }
            n_errors += u32::from(read_program(&bad, &map, "t.c", b"").is_err());
        }
        assert!(n_errors > 500, "most damage is noticed");
        for length in 0..good.len() {
            assert!(read_program(&good[..length], &map, "t.c", b"").is_err());
        }
    }
}
