//! Functions, their bodies, blocks and variables.

use base::{IdVec, define_id};
use serde::{Deserialize, Serialize};

use crate::{Const, Inst, InstId, LocId, Operand, Ty, TypeId, UnitId};

define_id!(/// A function of the program.
    FunctionId);
define_id!(/// A basic block of one body. Block 0 is the entry.
    BlockId);
define_id!(/// A source variable of one body, parameters included.
    VarId);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Linkage {
    External,
    /// `static`: a name of its unit alone.
    Internal,
    /// A definition another may override.
    Weak,
    /// An inline definition that exists only for inlining; any external one equals it.
    Inline,
    /// Tentative definitions (`int x;` with `-fcommon`).
    Common,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub name: Box<str>,
    /// The unit that defines it, or the first that declares it.
    pub unit: UnitId,
    pub linkage: Linkage,
    pub result: Ty,
    /// The C function type.
    pub ctype: TypeId,
    /// Machine-level parameters; a struct passed in registers is several.
    pub params: Vec<Param>,
    pub is_variadic: bool,
    pub is_noreturn: bool,
    /// Runs before `main`.
    pub is_constructor: bool,
    /// Runs after `main`.
    pub is_destructor: bool,
    /// Another symbol this one stands for.
    pub alias_of: Option<Box<str>>,
    pub loc: LocId,
    /// `None` for code outside the program.
    pub body: Option<Body>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// The source variable this parameter, or the piece it is, belongs to.
    pub variable: Option<VarId>,
    pub ty: Ty,
    pub ctype: TypeId,
    /// Passed by value in memory: a pointer to the callee's own copy of so many bytes.
    pub by_value: Option<u64>,
    /// The caller's storage for a returned struct.
    pub is_struct_return: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Body {
    pub insts: IdVec<InstId, Inst>,
    pub blocks: IdVec<BlockId, Block>,
    pub variables: IdVec<VarId, Variable>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The block's instructions are `first..end`.
    pub first: InstId,
    pub end: InstId,
    pub terminator: Terminator,
    /// Of the terminator.
    pub loc: LocId,
    /// Sorted, without duplicates.
    pub predecessors: Vec<BlockId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Terminator {
    Jump(BlockId),
    Branch {
        condition: Operand,
        then: BlockId,
        otherwise: BlockId,
    },
    /// Case values are constants; sorted as the source has them.
    Switch {
        value: Operand,
        cases: Vec<(crate::ConstId, BlockId)>,
        default: BlockId,
    },
    /// A computed goto.
    Indirect {
        address: Operand,
        targets: Vec<BlockId>,
    },
    Return(Option<Operand>),
    /// Control never gets here: after a no-return call, or undefined behaviour.
    Unreachable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Empty for the compiler's own.
    pub name: Box<str>,
    pub ctype: TypeId,
    /// Position among the C function's parameters, from 0.
    pub parameter: Option<u32>,
    pub loc: LocId,
}

impl Block {
    pub fn inst_ids(&self) -> impl DoubleEndedIterator<Item = InstId> + ExactSizeIterator + use<> {
        (self.first.0..self.end.0).map(InstId)
    }
}

impl Terminator {
    /// Successor blocks in the order the terminator lists them, duplicates included.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Jump(target) => vec![*target],
            Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Terminator::Switch { cases, default, .. } => {
                cases.iter().map(|(_, target)| *target).chain([*default]).collect()
            }
            Terminator::Indirect { targets, .. } => targets.clone(),
            Terminator::Return(_) | Terminator::Unreachable => Vec::new(),
        }
    }

    pub fn operand(&self) -> Option<Operand> {
        match self {
            Terminator::Branch { condition, .. } => Some(*condition),
            Terminator::Switch { value, .. } => Some(*value),
            Terminator::Indirect { address, .. } => Some(*address),
            Terminator::Return(value) => *value,
            Terminator::Jump(_) | Terminator::Unreachable => None,
        }
    }
}

impl Terminator {
    pub fn operand_mut(&mut self) -> Option<&mut Operand> {
        match self {
            Terminator::Branch { condition, .. } => Some(condition),
            Terminator::Switch { value, .. } => Some(value),
            Terminator::Indirect { address, .. } => Some(address),
            Terminator::Return(value) => value.as_mut(),
            Terminator::Jump(_) | Terminator::Unreachable => None,
        }
    }
}

impl Body {
    pub const ENTRY: BlockId = BlockId(0);

    /// The machine type of an operand in this body.
    pub fn operand_ty(
        &self,
        operand: Operand,
        params: &[Param],
        constants: &IdVec<crate::ConstId, Const>,
    ) -> Ty {
        match operand {
            Operand::Inst(inst) => self.insts[inst].ty,
            Operand::Param(index) => params[index as usize].ty,
            Operand::Const(id) => constants[id].ty(),
        }
    }
}
