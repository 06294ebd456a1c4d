//! Compiles a piece of C with the real compiler, imports it, and says in short lines what
//! was imported.
#![allow(dead_code)]

use base::Cancel;
use fixture::identity_map;
use program::{
    Access, Body, Callee, Const, ConversionOrigin, Function, FunctionId, Global, Inst, Op, Operand,
    PathStep, Program, Terminator, TypeId,
};

pub fn import(text: &str) -> Program {
    import_with(text, &[])
}

pub fn import_with(text: &str, flags: &[&str]) -> Program {
    let map = identity_map(text);
    let bitcode = llvm::compile(text.as_bytes(), flags, &map, &Default::default(), &Cancel::new())
        .unwrap_or_else(|error| panic!("{error}"));
    let program = llvm::import_with_text(&bitcode, &map, "t.c", text.as_bytes())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(program::check::check(&program), Vec::<String>::new());
    let is_handler = |function: &Function| function.name.contains("ubsan");
    assert!(!program.functions.iter().any(is_handler), "no trace of the checks remains");
    program
}

pub fn function<'a>(program: &'a Program, name: &str) -> &'a Function {
    let found = program.functions.iter().find(|function| &*function.name == name);
    found.unwrap_or_else(|| panic!("function {name} was imported"))
}

pub fn body<'a>(program: &'a Program, name: &str) -> &'a Body {
    function(program, name).body.as_ref().unwrap_or_else(|| panic!("{name} has a body"))
}

pub fn global<'a>(program: &'a Program, name: &str) -> &'a Global {
    let found = program.globals.iter().find(|global| &*global.name == name);
    found.unwrap_or_else(|| panic!("global {name} was imported"))
}

pub fn insts<'a>(program: &'a Program, name: &str) -> impl Iterator<Item = &'a Inst> + 'a {
    body(program, name).insts.iter()
}

/// The conversions of a function, in order, without those the compiler needed.
pub fn conversions(program: &Program, name: &str) -> Vec<String> {
    let shown = |inst: &Inst| match &inst.op {
        Op::Convert(c) if c.origin != ConversionOrigin::Compiler => {
            let width = c.bit_field_width.map_or(String::new(), |width| format!(" :{width}"));
            let (from, to) = (program.type_name(c.from), program.type_name(c.to));
            Some(format!("{:?} {:?} {from} -> {to}{width}", c.origin, c.kind))
        }
        _ => None,
    };
    insts(program, name).filter_map(shown).collect()
}

/// Loads and stores of a function, in order: what is accessed, and as which C type.
pub fn accesses(program: &Program, name: &str) -> Vec<String> {
    let body = body(program, name);
    let shown = |inst: &Inst| match &inst.op {
        Op::Load(access) => Some(format!("load {}", place(program, body, access))),
        Op::Store { access, value } => {
            let value = operand(program, body, *value);
            Some(format!("store {} = {value}", place(program, body, access)))
        }
        _ => None,
    };
    body.insts.iter().filter_map(shown).collect()
}

fn place(program: &Program, body: &Body, access: &Access) -> String {
    let bits =
        access.bit_field.map_or(String::new(), |b| format!(" bits {}+{}", b.offset, b.width));
    let base = operand(program, body, access.ptr);
    let path = steps(program, &access.path, &[]);
    format!("{base}{path} : {}{bits}", program.type_name(access.ctype))
}

pub fn steps(program: &Program, path: &[PathStep], terms: &[String]) -> String {
    let member = |record, member: u32| {
        let record: program::RecordId = record;
        program.records[record].members[member as usize].name.to_string()
    };
    let shown = path.iter().map(|step| match step {
        PathStep::Field { record, member: at } => format!(".{}", member(*record, *at)),
        PathStep::UnionMembers { record, members } => {
            let names: Vec<_> = members.iter().map(|at| member(*record, *at)).collect();
            format!(".{{{}}}", names.join("|"))
        }
        PathStep::Index { term: Some(term), .. } => format!("[{}]", terms[*term as usize]),
        PathStep::Index { term: None, constant } => format!("[{constant}]"),
    });
    shown.collect()
}

/// An operand by name where it has one; addresses with the path they take.
pub fn operand(program: &Program, body: &Body, operand_: Operand) -> String {
    let inst = match operand_ {
        Operand::Param(index) => return format!("param{index}"),
        Operand::Const(id) => {
            return match &program.constants[id] {
                Const::Int { value, .. } => value.to_string(),
                Const::Null => "null".into(),
                Const::Global { global, offset: 0 } => program.globals[*global].name.to_string(),
                Const::Global { global, offset } => {
                    format!("{}+{offset}", program.globals[*global].name)
                }
                Const::Function(function) => program.functions[*function].name.to_string(),
                other => format!("{other:?}"),
            };
        }
        Operand::Inst(id) => &body.insts[id],
    };
    match &inst.op {
        Op::Address(address) => {
            let terms: Vec<_> =
                address.terms.iter().map(|term| operand(program, body, term.index)).collect();
            let base = operand(program, body, address.base);
            format!("({base}{})", steps(program, &address.path, &terms))
        }
        Op::Alloca { variable: Some(variable), .. } => {
            format!("&{}", body.variables[*variable].name)
        }
        Op::Uninit { variable } => format!("uninit({})", body.variables[*variable].name),
        Op::Load(access) => format!("*{}", place(program, body, access)),
        Op::Convert(conversion) => {
            let value = operand(program, body, conversion.value);
            format!("({}){value}", program.type_name(conversion.to))
        }
        Op::Call(call) => match &call.callee {
            Callee::Function(id) => format!("{}()", program.functions[*id].name),
            Callee::Pointer(_) => "call()".into(),
            Callee::Intrinsic(name) => format!("{name}()"),
        },
        Op::Phi(edges) => {
            let mut values: Vec<_> =
                edges.iter().map(|(_, value)| short(program, body, *value)).collect();
            values.sort();
            format!("phi({})", values.join(", "))
        }
        other => format!("{other:?}").chars().take_while(|c| c.is_alphanumeric()).collect(),
    }
}

/// As [`operand`], but joins are not followed, since they go in circles.
fn short(program: &Program, body: &Body, value: Operand) -> String {
    match value {
        Operand::Inst(id) if matches!(body.insts[id].op, Op::Phi(_)) => "phi".into(),
        Operand::Inst(id) if matches!(body.insts[id].op, Op::Binary { .. }) => "Binary".into(),
        _ => operand(program, body, value),
    }
}

/// Every assignment of a variable that lives in SSA values, joins included.
pub fn binds(program: &Program, name: &str, variable: &str) -> Vec<String> {
    let body = body(program, name);
    let shown = |inst: &Inst| match &inst.op {
        Op::Bind { variable: id, value } if &*body.variables[*id].name == variable => {
            Some(operand(program, body, *value))
        }
        _ => None,
    };
    body.insts.iter().filter_map(shown).collect()
}

pub fn calls<'a>(program: &'a Program, name: &str) -> Vec<&'a program::Call> {
    let call = |inst: &'a Inst| match &inst.op {
        Op::Call(call) => Some(&**call),
        _ => None,
    };
    body(program, name).insts.iter().filter_map(call).collect()
}

/// What a function returns, one line for each return.
pub fn returns(program: &Program, name: &str) -> Vec<String> {
    let body = body(program, name);
    let shown = |terminator: &Terminator| match terminator {
        Terminator::Return(Some(value)) => Some(operand(program, body, *value)),
        _ => None,
    };
    body.blocks.iter().filter_map(|block| shown(&block.terminator)).collect()
}

pub fn type_name(program: &Program, id: TypeId) -> String {
    program.type_name(id)
}

pub fn function_id(program: &Program, name: &str) -> FunctionId {
    let found = program.functions.iter_enumerated().find(|(_, f)| &*f.name == name);
    found.unwrap_or_else(|| panic!("function {name} was imported")).0
}
