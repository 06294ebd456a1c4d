//! Whether a program keeps the rules every reader relies on. For tests and after import;
//! analyses may assume a clean answer.

use std::fmt::Write;

use crate::{
    Block, BlockId, Body, Callee, Const, ConversionKind, Function, InstId, Op, Operand, Program, Ty,
};

/// Every broken rule, in the order of the program, at most a hundred.
pub fn check(program: &Program) -> Vec<String> {
    let mut checker = Checker { program, problems: Vec::new(), place: String::new() };
    checker.tables();
    for function in &program.functions {
        checker.function(function);
    }
    checker.problems.truncate(100);
    checker.problems
}

struct Checker<'a> {
    program: &'a Program,
    problems: Vec<String>,
    place: String,
}

impl Checker<'_> {
    fn expect(&mut self, holds: bool, rule: &str) {
        if !holds {
            self.problems.push(format!("{}: {rule}", self.place));
        }
    }

    fn at(&mut self, place: std::fmt::Arguments) {
        self.place.clear();
        let _ = self.place.write_fmt(place);
    }

    fn tables(&mut self) {
        let program = self.program;
        let has_type = |id: crate::TypeId| program.types.get(id).is_some();
        self.at(format_args!("tables"));
        self.expect(!program.locs.is_empty(), "the unknown location exists");
        self.expect(!program.types.is_empty(), "the unknown type exists");
        let files = program.locs.iter().all(|loc| program.files.get(loc.file).is_some());
        self.expect(files, "locations name files that exist");
        for record in &program.records {
            let members = record.members.iter().all(|member| has_type(member.ctype));
            self.expect(members, "members have types that exist");
        }
        for constant in &program.constants {
            let holds = match constant {
                Const::Global { global, .. } => program.globals.get(*global).is_some(),
                Const::Function(function) => program.functions.get(*function).is_some(),
                Const::Label { function, block } => {
                    program.functions.get(*function).is_some_and(|function| {
                        function.body.as_ref().is_some_and(|b| b.blocks.get(*block).is_some())
                    })
                }
                _ => true,
            };
            self.expect(holds, "constants name symbols that exist");
        }
        for global in &program.globals {
            self.at(format_args!("global {}", global.name));
            let pieces = global.init.iter().flatten();
            let in_range = pieces.clone().all(|piece| program.constants.get(piece.value).is_some());
            self.expect(in_range, "initialisers are constants that exist");
            let fits = pieces.clone().all(|piece| piece.offset < global.size);
            self.expect(fits, "initialisers lie within the object");
            self.expect(has_type(global.ctype), "the type exists");
        }
    }

    fn function(&mut self, function: &Function) {
        let Some(body) = &function.body else { return };
        self.at(format_args!("function {}", function.name));
        self.expect(!body.blocks.is_empty(), "a body has blocks");
        self.layout(body);
        if !self.problems.is_empty() && self.problems.len() > 100 {
            return;
        }
        let order = Positions::new(body);
        for (id, block) in body.blocks.iter_enumerated() {
            for inst in block.inst_ids() {
                self.at(format_args!("function {} inst {}", function.name, inst.0));
                self.inst(function, body, id, inst, &order);
            }
            self.at(format_args!("function {} block {}", function.name, id.0));
            self.terminator(function, body, block, &order, id);
        }
    }

    /// Instructions of a block are one run, runs follow each other, edges are known at both ends.
    fn layout(&mut self, body: &Body) {
        let mut next = InstId(0);
        for (id, block) in body.blocks.iter_enumerated() {
            self.expect(block.first == next && block.first <= block.end, "blocks are contiguous");
            next = block.end;
            let targets = block.terminator.successors();
            let exist = targets.iter().all(|target| body.blocks.get(*target).is_some());
            self.expect(exist, "targets exist");
            let known = targets
                .iter()
                .filter_map(|target| body.blocks.get(*target))
                .all(|target| target.predecessors.contains(&id));
            self.expect(known, "targets list their predecessors");
            let sorted = block.predecessors.is_sorted_by(|a, b| a < b);
            self.expect(sorted, "predecessors are sorted and distinct");
            let real = block.predecessors.iter().all(|source| {
                body.blocks.get(*source).is_some_and(|b| b.terminator.successors().contains(&id))
            });
            self.expect(real, "predecessors lead here");
        }
        self.expect(next.0 as usize == body.insts.len(), "blocks cover all instructions");
    }

    fn inst(
        &mut self,
        function: &Function,
        body: &Body,
        block: BlockId,
        id: InstId,
        p: &Positions,
    ) {
        let inst = &body.insts[id];
        self.expect(inst.block == block, "an instruction knows its block");
        self.expect(self.program.types.get(inst.ctype).is_some(), "the C type exists");
        self.expect(self.program.locs.get(inst.loc).is_some(), "the location exists");
        let mut is_sound = true;
        inst.op.for_each_operand(|operand| is_sound &= self.exists(function, body, operand));
        self.expect(is_sound, "operands exist and have values");
        if !is_sound {
            return;
        }
        if let Op::Phi(edges) = &inst.op {
            let sources = edges.iter().map(|(source, _)| *source);
            let matches = sources.eq(body.blocks[block].predecessors.iter().copied());
            self.expect(matches, "a phi has one operand for each predecessor");
            let dominated = edges.iter().all(|(source, value)| match value {
                Operand::Inst(value) => p.reaches_end(body, *value, *source),
                _ => true,
            });
            self.expect(dominated, "phi operands dominate their edges");
            let first = body.blocks[block].first;
            let leads = (first.0..id.0).all(|at| matches!(body.insts[InstId(at)].op, Op::Phi(_)));
            self.expect(leads, "phis come first");
        } else {
            let mut dominated = true;
            inst.op.for_each_operand(|operand| {
                if let Operand::Inst(value) = operand {
                    dominated &= p.dominates(body, value, id);
                }
            });
            self.expect(dominated, "definitions dominate uses");
        }
        self.types_agree(function, body, id);
    }

    fn exists(&self, function: &Function, body: &Body, operand: Operand) -> bool {
        match operand {
            Operand::Inst(id) => body.insts.get(id).is_some_and(|inst| inst.ty != Ty::Void),
            Operand::Param(index) => (index as usize) < function.params.len(),
            Operand::Const(id) => self.program.constants.get(id).is_some(),
        }
    }

    fn types_agree(&mut self, function: &Function, body: &Body, id: InstId) {
        let inst = &body.insts[id];
        let ty = |operand| body.operand_ty(operand, &function.params, &self.program.constants);
        let holds = match &inst.op {
            Op::Binary { lhs, rhs, .. } => ty(*lhs) == inst.ty && ty(*rhs) == inst.ty,
            Op::Compare { lhs, rhs, .. } => ty(*lhs) == ty(*rhs) && inst.ty == Ty::Int(1),
            Op::Select { condition, then, otherwise } => {
                ty(*condition) == Ty::Int(1) && ty(*then) == inst.ty && ty(*otherwise) == inst.ty
            }
            Op::Phi(edges) => edges.iter().all(|(_, value)| ty(*value) == inst.ty),
            Op::Load(access) => ty(access.ptr) == Ty::Ptr,
            Op::Store { access, .. } => ty(access.ptr) == Ty::Ptr && inst.ty == Ty::Void,
            Op::Address(address) => {
                let ints = address.terms.iter().all(|term| matches!(ty(term.index), Ty::Int(_)));
                ty(address.base) == Ty::Ptr && ints
            }
            Op::Convert(conversion) => {
                let (from, to) = (ty(conversion.value), inst.ty);
                conversion_fits(conversion.kind, from, to, conversion.bit_field_width.is_some())
                    && sign_fits(conversion.kind, self.program.is_signed(conversion.from))
            }
            Op::Call(call) => {
                let callee = match &call.callee {
                    Callee::Function(id) => self.program.functions.get(*id).is_some(),
                    Callee::Pointer(pointer) => ty(*pointer) == Ty::Ptr,
                    Callee::Intrinsic(_) => true,
                };
                callee && call.args.len() == call.arg_ctypes.len()
            }
            Op::Bind { variable, .. }
            | Op::Uninit { variable }
            | Op::UninitMemory { variable, .. }
            | Op::Alloca { variable: Some(variable), .. } => {
                body.variables.get(*variable).is_some()
            }
            _ => true,
        };
        self.expect(holds, "operand types agree");
    }

    fn terminator(&mut self, f: &Function, body: &Body, block: &Block, p: &Positions, id: BlockId) {
        let Some(operand) = block.terminator.operand() else { return };
        let exists = self.exists(f, body, operand);
        self.expect(exists, "the terminator's operand exists");
        if let (true, Operand::Inst(value)) = (exists, operand) {
            self.expect(p.reaches_end(body, value, id), "definitions dominate the terminator");
        }
    }
}

fn conversion_fits(kind: ConversionKind, from: Ty, to: Ty, is_bit_field: bool) -> bool {
    match (kind, from, to) {
        (ConversionKind::Truncate, Ty::Int(from), Ty::Int(to)) => from > to || is_bit_field,
        (ConversionKind::ZeroExtend | ConversionKind::SignExtend, Ty::Int(from), Ty::Int(to)) => {
            from < to
        }
        (ConversionKind::SignChange, from, to) => from == to,
        (ConversionKind::PointerToInt, from, _) => from == Ty::Ptr,
        (ConversionKind::IntToPointer, _, to) => to == Ty::Ptr,
        _ => true,
    }
}

/// What is widened by its sign has one, and what is filled with zeros has none.
fn sign_fits(kind: ConversionKind, is_signed: Option<bool>) -> bool {
    match kind {
        ConversionKind::SignExtend | ConversionKind::SignedToFloat => is_signed != Some(false),
        ConversionKind::ZeroExtend | ConversionKind::UnsignedToFloat => is_signed != Some(true),
        _ => true,
    }
}

/// Dominance between instructions, by a plain fixed point over blocks.
struct Positions {
    /// The parent of each block in the dominator tree, and its depth there.
    parents: Vec<u32>,
    depths: Vec<u32>,
}

impl Positions {
    fn new(body: &Body) -> Self {
        let order = reverse_postorder(body);
        let mut rank = vec![u32::MAX; body.blocks.len()];
        for (at, block) in order.iter().enumerate() {
            rank[block.0 as usize] = at as u32;
        }
        let mut parents = vec![u32::MAX; body.blocks.len()];
        if let Some(entry) = parents.first_mut() {
            *entry = 0;
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for block in order.iter().skip(1) {
                let known = body.blocks[*block].predecessors.iter().map(|source| source.0);
                let known = known.filter(|source| parents[*source as usize] != u32::MAX);
                let parent = known.reduce(|mut a, mut b| {
                    while a != b {
                        if rank[a as usize] > rank[b as usize] {
                            a = parents[a as usize];
                        } else {
                            b = parents[b as usize];
                        }
                    }
                    a
                });
                if let Some(parent) = parent.filter(|parent| parents[block.0 as usize] != *parent) {
                    parents[block.0 as usize] = parent;
                    changed = true;
                }
            }
        }
        let mut depths = vec![0; body.blocks.len()];
        for block in order.iter().skip(1) {
            depths[block.0 as usize] = depths[parents[block.0 as usize] as usize] + 1;
        }
        Self { parents, depths }
    }

    fn block_dominates(&self, above: BlockId, below: BlockId) -> bool {
        let mut at = below.0;
        while self.depths[at as usize] > self.depths[above.0 as usize] {
            at = self.parents[at as usize];
        }
        at == above.0
    }

    fn dominates(&self, body: &Body, value: InstId, user: InstId) -> bool {
        let (from, to) = (body.insts[value].block, body.insts[user].block);
        if from == to { value < user } else { self.block_dominates(from, to) }
    }

    fn reaches_end(&self, body: &Body, value: InstId, block: BlockId) -> bool {
        self.block_dominates(body.insts[value].block, block)
    }
}

fn reverse_postorder(body: &Body) -> Vec<BlockId> {
    let mut is_seen = vec![false; body.blocks.len()];
    let mut order = Vec::new();
    let mut stack = Vec::new();
    if let Some(entry) = is_seen.first_mut() {
        *entry = true;
        stack.push((BlockId(0), body.blocks[BlockId(0)].terminator.successors(), 0));
    }
    while let Some((block, targets, next)) = stack.pop() {
        match targets.get(next).copied() {
            Some(target) => {
                stack.push((block, targets, next + 1));
                if !std::mem::replace(&mut is_seen[target.0 as usize], true) {
                    stack.push((target, body.blocks[target].terminator.successors(), 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}
