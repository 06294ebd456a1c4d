//! Which patterns may match an instruction, by operation and by callee.

use base::{IdVec, define_id};
use program::{Callee, FunctionId, Op, Program, Terminator};
use rustc_hash::FxHashMap;

use super::{CodePoint, Pattern, Shape, library_name};
use crate::c::{BinaryOp, Expr};
use crate::lower::{Argument, Bindings};

define_id!(/// A pattern of a [`PatternSet`].
    PatternId);

/// Groups of operations that shapes can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Class {
    Load,
    Store,
    Atomic,
    Copy,
    Fill,
    Bind,
    Arithmetic,
    Compare,
    Convert,
    Address,
    Declare,
    Select,
    Call,
    Branch,
    Switch,
    Return,
    OtherEnd,
}

const N_CLASSES: usize = Class::OtherEnd as usize + 1;

/// Patterns with an index.
#[derive(Clone, Debug)]
pub struct PatternSet {
    patterns: IdVec<PatternId, Pattern>,
    by_class: [Vec<PatternId>; N_CLASSES],
    by_callee: FxHashMap<Box<str>, Vec<PatternId>>,
    /// By event name, for the engine.
    special: FxHashMap<String, Vec<PatternId>>,
}

/// One match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub pattern: PatternId,
    pub point: CodePoint,
    pub bindings: Bindings,
}

impl PatternSet {
    pub fn new(patterns: impl IntoIterator<Item = Pattern>) -> Self {
        let mut set = Self {
            patterns: patterns.into_iter().collect(),
            by_class: Default::default(),
            by_callee: FxHashMap::default(),
            special: FxHashMap::default(),
        };
        for id in set.patterns.ids() {
            for shape in set.patterns[id].shapes.clone() {
                set.add(id, &shape);
            }
        }
        for list in set.by_class.iter_mut().chain(set.by_callee.values_mut()) {
            list.dedup();
        }
        set
    }

    pub fn get(&self, id: PatternId) -> &Pattern {
        &self.patterns[id]
    }

    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The patterns observed at an event only the engine sees.
    pub fn special(&self, event: &str) -> &[PatternId] {
        self.special.get(event).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, id: PatternId, shape: &Shape) {
        let classes: &[Class] = match shape {
            Shape::Call { callee: Expr::Name(name), .. } => {
                self.by_callee.entry(name.as_str().into()).or_default().push(id);
                return;
            }
            Shape::Call { .. } => &[Class::Call],
            Shape::Copy { .. } => &[Class::Bind, Class::Store],
            Shape::Store { .. } => &[Class::Store],
            Shape::Load { .. } => &[Class::Load],
            Shape::Access { .. } => &[Class::Load, Class::Store, Class::Atomic],
            Shape::Compute { op, .. } if op.is_comparison() => &[Class::Compare],
            Shape::Compute { op: BinaryOp::And | BinaryOp::Or, .. } => &[],
            Shape::Compute { .. } => &[Class::Arithmetic],
            Shape::Convert { .. } => &[Class::Convert],
            Shape::Address { .. } => &[Class::Address],
            Shape::Branch(_) => &[Class::Branch],
            Shape::Switch(_) => &[Class::Switch],
            Shape::Return(_) => &[Class::Return],
            Shape::Declare { .. } => &[Class::Declare],
            Shape::Event { name, .. } => match name.as_str() {
                "read" => &[Class::Load, Class::Atomic, Class::Copy],
                "write" => &[Class::Store, Class::Atomic, Class::Copy, Class::Fill],
                "access" => &[Class::Load, Class::Store, Class::Atomic, Class::Copy, Class::Fill],
                "use" => &[
                    Class::Arithmetic,
                    Class::Compare,
                    Class::Select,
                    Class::Address,
                    Class::Load,
                    Class::Store,
                    Class::Call,
                    Class::Branch,
                    Class::Switch,
                    Class::Return,
                ],
                other => {
                    self.special.entry(other.to_string()).or_default().push(id);
                    &[]
                }
            },
        };
        for class in classes {
            self.by_class[*class as usize].push(id);
        }
    }

    /// All matches in one function, in the order of its code.
    pub fn scan(&self, program: &Program, function: FunctionId) -> Vec<Found> {
        let mut found = Vec::new();
        let Some(body) = &program.functions[function].body else { return found };
        for (block_id, block) in body.blocks.iter_enumerated() {
            for inst in block.inst_ids() {
                self.at_inst(program, function, inst, &mut found);
            }
            let class = match block.terminator {
                Terminator::Branch { .. } => Class::Branch,
                Terminator::Switch { .. } => Class::Switch,
                Terminator::Return(_) => Class::Return,
                _ => Class::OtherEnd,
            };
            let point = CodePoint::Terminator(block_id);
            for id in &self.by_class[class as usize] {
                self.try_match(*id, program, function, point, &mut found);
            }
        }
        found
    }

    /// All matches at one instruction.
    pub fn at_inst(
        &self,
        program: &Program,
        function: FunctionId,
        inst: program::InstId,
        found: &mut Vec<Found>,
    ) {
        let Some(body) = &program.functions[function].body else { return };
        let op = &body.insts[inst].op;
        let point = CodePoint::Inst(inst);
        if let Some(class) = class_of(op) {
            for id in &self.by_class[class as usize] {
                self.try_match(*id, program, function, point, found);
            }
        }
        if let Op::Call(call) = op {
            for name in callee_names(program, &call.callee) {
                for id in self.by_callee.get(name).map_or(&[][..], Vec::as_slice) {
                    self.try_match(*id, program, function, point, found);
                }
            }
        }
    }

    /// The matches of patterns for calls of a function at an instruction that stands for such
    /// a call with these arguments.
    pub fn standing_for(
        &self,
        program: &Program,
        function: FunctionId,
        inst: program::InstId,
        name: &str,
        args: &[Argument],
    ) -> Vec<Found> {
        let mut found = Vec::new();
        for id in self.by_callee.get(name).map_or(&[][..], Vec::as_slice) {
            let matched = self.patterns[*id].matches_as_call(program, function, inst, name, args);
            found.extend(matched.map(|bindings| Found {
                pattern: *id,
                point: CodePoint::Inst(inst),
                bindings,
            }));
        }
        found
    }

    fn try_match(
        &self,
        id: PatternId,
        program: &Program,
        function: FunctionId,
        point: CodePoint,
        found: &mut Vec<Found>,
    ) {
        for bindings in self.patterns[id].matches(program, function, point) {
            found.push(Found { pattern: id, point, bindings });
        }
    }
}

/// The names a call can be known by: its own and the plain one of a library function.
fn callee_names<'p>(program: &'p Program, callee: &'p Callee) -> Vec<&'p str> {
    match callee {
        Callee::Function(id) => {
            let name = &*program.functions[*id].name;
            let plain = library_name(name).name;
            if plain == name { vec![name] } else { vec![name, plain] }
        }
        // A named function pointer is looked for by its variable.
        Callee::Pointer(program::Operand::Const(id)) => match program.constants.get(*id) {
            Some(program::Const::Function(id)) => vec![&program.functions[*id].name],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn class_of(op: &Op) -> Option<Class> {
    Some(match op {
        Op::Load(_) => Class::Load,
        Op::Store { .. } => Class::Store,
        Op::AtomicUpdate { .. } | Op::CompareExchange { .. } => Class::Atomic,
        Op::MemCopy { .. } => Class::Copy,
        Op::MemSet { .. } => Class::Fill,
        Op::Bind { .. } => Class::Bind,
        Op::Binary { .. } | Op::Negate(_) => Class::Arithmetic,
        Op::Compare { .. } => Class::Compare,
        Op::Convert(_) => Class::Convert,
        Op::Address(_) => Class::Address,
        Op::Uninit { .. } | Op::UninitMemory { .. } => Class::Declare,
        Op::Select { .. } => Class::Select,
        Op::Call(_) => Class::Call,
        _ => return None,
    })
}
