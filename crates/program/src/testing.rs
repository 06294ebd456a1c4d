//! Building small units by hand, for tests of this crate.

use crate::{
    Block, BlockId, Body, CType, Call, Callee, Const, ConstId, FileId, Function, FunctionId,
    Global, GlobalId, InitPiece, Inst, InstId, Linkage, Loc, LocId, Member, Op, Operand, Origin,
    Param, Program, Record, RecordId, RecordKind, SourceFile, Terminator, Ty, TypeId, UnitId,
    UnitInfo, VarId, Variable,
};

pub struct UnitBuilder {
    pub program: Program,
}

impl UnitBuilder {
    pub fn new(path: &str) -> Self {
        let mut program = Program::default();
        program.units.push(UnitInfo { path: path.to_owned() });
        program.files.push(SourceFile { path: path.to_owned(), is_system: false });
        let unknown = Loc { file: FileId(0), line: 0, column: 0, origin: Origin::Plain };
        program.locs.push(unknown);
        program.types.push(CType::Unknown);
        Self { program }
    }

    pub fn finish(self) -> Program {
        self.program
    }

    pub fn loc(&mut self, line: u32) -> LocId {
        self.program.locs.push(Loc { file: FileId(0), line, column: 1, origin: Origin::Plain })
    }

    pub fn ctype(&mut self, ctype: CType) -> TypeId {
        self.program.types.push(ctype)
    }

    pub fn constant(&mut self, constant: Const) -> ConstId {
        self.program.constants.push(constant)
    }

    pub fn record(&mut self, record: Record) -> RecordId {
        self.program.records.push(record)
    }

    pub fn empty_record(name: &str) -> Record {
        Self::sized_record(name, 0)
    }

    pub fn sized_record(name: &str, size: u64) -> Record {
        let (kind, members, loc) = (RecordKind::Struct, Vec::new(), LocId::UNKNOWN);
        Record { kind, name: name.into(), size, members, complete: true, loc }
    }

    /// Members of eight bytes each.
    pub fn set_members(&mut self, record: RecordId, members: &[(&str, TypeId)]) {
        let member = |(index, (name, ctype)): (usize, &(&str, TypeId))| Member {
            name: (*name).into(),
            ctype: *ctype,
            offset_bits: 64 * index as u64,
            size_bits: 64,
            is_bit_field: false,
        };
        let record = &mut self.program.records[record];
        record.members = members.iter().enumerate().map(member).collect();
        record.size = 8 * members.len() as u64;
    }

    pub fn declare(&mut self, name: &str) -> FunctionId {
        let unit = UnitId(0);
        self.program.functions.push(Function {
            name: name.into(),
            unit,
            linkage: Linkage::External,
            result: Ty::Void,
            ctype: TypeId::UNKNOWN,
            params: Vec::new(),
            is_variadic: false,
            is_noreturn: false,
            is_constructor: false,
            is_destructor: false,
            alias_of: None,
            loc: LocId::UNKNOWN,
            body: None,
        })
    }

    /// A function that calls `callees` and returns.
    pub fn define(&mut self, name: &str, linkage: Linkage, callees: &[FunctionId]) -> FunctionId {
        let loc = self.loc(1);
        let insts = callees.iter().map(|callee| Inst {
            op: Op::Call(Box::new(Call {
                callee: Callee::Function(*callee),
                args: Box::new([]),
                arg_ctypes: Box::new([]),
                ctype: TypeId::UNKNOWN,
                is_noreturn: false,
                by_value: Box::default(),
                returns_twice: false,
            })),
            ty: Ty::Void,
            ctype: TypeId::UNKNOWN,
            loc,
            block: BlockId(0),
        });
        let mut body = Body { insts: insts.collect(), ..Body::default() };
        body.blocks.push(Block {
            first: InstId(0),
            end: body.insts.next_id(),
            terminator: Terminator::Return(None),
            loc,
            predecessors: Vec::new(),
        });
        let id = self.declare(name);
        let function = &mut self.program.functions[id];
        function.linkage = linkage;
        function.loc = loc;
        function.body = Some(body);
        id
    }

    /// A function of one block, with these parameters and instructions.
    pub fn function(
        &mut self,
        name: &str,
        params: &[(&str, TypeId)],
        insts: Vec<(Op, Ty, TypeId)>,
        terminator: Terminator,
    ) -> FunctionId {
        let id = self.define(name, Linkage::External, &[]);
        let loc = self.loc(2);
        let function = &mut self.program.functions[id];
        let mut body = Body::default();
        for (index, (name, ctype)) in params.iter().enumerate() {
            let parameter = Some(index as u32);
            let variable = Variable { name: (*name).into(), ctype: *ctype, parameter, loc };
            let variable = Some(body.variables.push(variable));
            let (by_value, is_struct_return) = (None, false);
            let param = Param { variable, ty: Ty::Ptr, ctype: *ctype, by_value, is_struct_return };
            function.params.push(param);
        }
        let block = BlockId(0);
        for (op, ty, ctype) in insts {
            body.insts.push(Inst { op, ty, ctype, loc, block });
        }
        let (first, end) = (InstId(0), body.insts.next_id());
        let predecessors = Vec::new();
        body.blocks.push(Block { first, end, terminator, loc, predecessors });
        function.body = Some(body);
        id
    }

    /// Adds a local variable to a function made by [`function`](Self::function).
    pub fn local(&mut self, function: FunctionId, name: &str, ctype: TypeId) -> VarId {
        let body = self.program.functions[function].body.get_or_insert_default();
        let loc = LocId::UNKNOWN;
        body.variables.push(Variable { name: name.into(), ctype, parameter: None, loc })
    }

    pub fn int(&mut self, name: &str, bits: u32, signed: bool) -> TypeId {
        self.ctype(CType::Int { name: name.into(), bits, signed })
    }

    pub fn number(&mut self, value: i128) -> Operand {
        Operand::Const(self.constant(Const::Int { bits: 32, value }))
    }

    pub fn alias(&mut self, name: &str, target: &str) -> FunctionId {
        let id = self.declare(name);
        self.program.functions[id].alias_of = Some(target.into());
        id
    }

    pub fn global(&mut self, name: &str, linkage: Linkage, size: u64, defined: bool) -> GlobalId {
        self.program.globals.push(Global {
            name: name.into(),
            unit: UnitId(0),
            linkage,
            function: None,
            ctype: TypeId::UNKNOWN,
            size,
            is_constant: false,
            is_thread_local: false,
            is_string_literal: false,
            init: defined.then(Vec::<InitPiece>::new),
            alias_of: None,
            loc: LocId::UNKNOWN,
        })
    }
}
