//! The program as a whole.

use base::{IdVec, define_id};
use serde::{Deserialize, Serialize};

use crate::{
    CType, Const, ConstId, FileId, Function, FunctionId, Linkage, Loc, LocId, NameId, Record,
    RecordId, SourceFile, TypeId,
};

define_id!(/// A global object.
    GlobalId);
define_id!(/// A translation unit of the program.
    UnitId);

/// Everything known about one linked program, or about one unit before linking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub units: IdVec<UnitId, UnitInfo>,
    pub files: IdVec<FileId, SourceFile>,
    pub names: IdVec<NameId, Box<str>>,
    pub locs: IdVec<LocId, Loc>,
    pub types: IdVec<TypeId, CType>,
    pub records: IdVec<RecordId, Record>,
    pub constants: IdVec<ConstId, Const>,
    pub globals: IdVec<GlobalId, Global>,
    pub functions: IdVec<FunctionId, Function>,
    /// What the program contains that could not be modelled, for don't-knows and notices.
    pub unknown_code: Vec<UnknownCode>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitInfo {
    /// The main source file.
    pub path: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Global {
    /// String literals have none.
    pub name: Box<str>,
    pub unit: UnitId,
    pub linkage: Linkage,
    /// The function a `static` local belongs to.
    pub function: Option<Box<str>>,
    pub ctype: TypeId,
    /// In bytes.
    pub size: u64,
    pub is_constant: bool,
    pub is_thread_local: bool,
    pub is_string_literal: bool,
    /// `None` where the definition is outside the program.
    pub init: Option<Vec<InitPiece>>,
    /// Another object of the same unit that this is only a second name of.
    pub alias_of: Option<Box<str>>,
    pub loc: LocId,
}

/// A scalar (or run of bytes) of an initialiser. What no piece covers is zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InitPiece {
    pub offset: u64,
    pub value: ConstId,
}

/// Code the model cannot see into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownCode {
    pub what: String,
    pub loc: LocId,
}
