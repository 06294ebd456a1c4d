//! Functions and globals in full, one instruction a line.

use std::fmt::Write;
use std::io;

use super::expr::{Level, Renderer};
use super::{place_and_macro, place_of};
use crate::{
    Access, BlockId, ConversionKind, ConversionOrigin, FunctionId, GlobalId, Inst, InstId, LocId,
    Op, Operand, Program, Terminator, Ty, TypeId,
};

/// How deep the places of loads and stores are followed.
const DEPTH: u32 = 8;
/// Where the source position stands in a line.
const MARGIN: usize = 64;

/// Writes the whole program.
pub fn program(program: &Program, out: &mut dyn io::Write) -> io::Result<()> {
    for id in program.globals.ids().filter(|id| !program.globals[*id].is_string_literal) {
        writeln!(out, "{}", global(program, id))?;
    }
    for id in program.functions.ids() {
        writeln!(out, "\n{}", function(program, id).trim_end())?;
    }
    Ok(())
}

/// One global object on one line.
pub fn global(program: &Program, id: GlobalId) -> String {
    let global = &program.globals[id];
    let mut text = String::new();
    if global.init.is_none() {
        text.push_str("extern ");
    } else if global.linkage == crate::Linkage::Internal {
        text.push_str("static ");
    }
    if global.is_thread_local {
        text.push_str("_Thread_local ");
    }
    text.push_str(&program.declaration(global.ctype, &global.name));
    if let Some(target) = &global.alias_of {
        let _ = write!(text, " /* another name of {target} */");
    }
    with_place(program, text, global.loc)
}

/// One function: its head, and its body where it has one.
pub fn function(program: &Program, id: FunctionId) -> String {
    let mut renderer = Renderer::new(program, id);
    let function = renderer.function;
    let mut head = head(program, id);
    if function.loc.is_known() {
        head = with_note(head, &place_of(program, function.loc));
    }
    let Some(body) = &function.body else { return format!("{head}\n") };
    let by_value = Renderer::new(program, id);
    renderer.by_number = true;
    let printer = Printer { program, numbers: renderer, values: by_value };
    let mut text = format!("{head}\n");
    for block in body.blocks.ids() {
        printer.block(block, &mut text);
    }
    text
}

/// The text of each block of a function, without source positions.
pub(super) fn blocks(program: &Program, id: FunctionId) -> Vec<String> {
    let mut numbers = Renderer::new(program, id);
    numbers.by_number = true;
    let printer = Printer { program, numbers, values: Renderer::new(program, id) };
    let body = program.functions[id].body.iter();
    body.flat_map(|body| body.blocks.iter_enumerated())
        .map(|(block, content)| {
            let insts = content.inst_ids().filter(|inst| printer.says_something(*inst));
            let insts = insts.map(|inst| format!("  {}\n", printer.inst(inst)));
            let insts: String = insts.collect();
            format!("b{}:\n{insts}  {}", block.0, printer.terminator(&content.terminator))
        })
        .collect()
}

/// The declaration of a function with the names of its parameters.
pub(super) fn head(program: &Program, id: FunctionId) -> String {
    let function = &program.functions[id];
    let params = parameter_list(program, id);
    let result = match program.resolved_type(function.ctype) {
        crate::CType::Function { result, .. } => *result,
        _ => TypeId::UNKNOWN,
    };
    let declarator = format!("{}({params})", function.name);
    let mut head = match result.is_known() {
        true => program.declaration(result, &declarator),
        false => declarator,
    };
    if let Some(target) = &function.alias_of {
        let _ = write!(head, " /* another name of {target} */");
    } else if function.body.is_none() {
        head.push_str(" /* outside the program */");
    }
    head
}

fn parameter_list(program: &Program, id: FunctionId) -> String {
    let function = &program.functions[id];
    let mut named: Vec<(u32, String)> = function
        .body
        .iter()
        .flat_map(|body| body.variables.iter())
        .filter_map(|v| Some((v.parameter?, program.declaration(v.ctype, &v.name))))
        .collect();
    named.sort();
    named.dedup_by_key(|(index, _)| *index);
    let mut params: Vec<String> = named.into_iter().map(|(_, text)| text).collect();
    if params.is_empty()
        && let crate::CType::Function { params: types, .. } = program.resolved_type(function.ctype)
    {
        params = types.iter().map(|ctype| program.type_name(*ctype)).collect();
    }
    if function.is_variadic {
        params.push("...".to_owned());
    } else if params.is_empty() {
        params.push("void".to_owned());
    }
    params.join(", ")
}

fn with_place(program: &Program, line: String, loc: LocId) -> String {
    match loc.is_known() {
        true => with_note(line, &place_and_macro(program, loc)),
        false => line,
    }
}

fn with_note(mut line: String, note: &str) -> String {
    let padding = MARGIN.saturating_sub(line.chars().count()).max(2);
    let _ = write!(line, "{:padding$}; {note}", "");
    line
}

pub(super) struct Printer<'a> {
    program: &'a Program,
    /// Shows operands by number.
    numbers: Renderer<'a>,
    /// Shows operands as expressions.
    values: Renderer<'a>,
}

impl Printer<'_> {
    fn block(&self, id: BlockId, out: &mut String) {
        let block = &self.numbers.body().blocks[id];
        let from: Vec<String> = block.predecessors.iter().map(|b| format!("b{}", b.0)).collect();
        let from =
            if from.is_empty() { String::new() } else { format!("  ; from {}", from.join(", ")) };
        let _ = writeln!(out, "b{}:{from}", id.0);
        for inst in block.inst_ids().filter(|inst| self.says_something(*inst)) {
            let line = format!("  {}", self.inst(inst));
            let _ = writeln!(
                out,
                "{}",
                with_place(self.program, line, self.numbers.body_inst(inst).loc)
            );
        }
        let line = format!("  {}", self.terminator(&block.terminator));
        let _ = writeln!(out, "{}", with_place(self.program, line, block.loc));
    }

    /// That a parameter holds its own value at the beginning needs no line.
    fn says_something(&self, id: InstId) -> bool {
        match self.numbers.body_inst(id).op {
            Op::Bind { variable, value: Operand::Param(index) } => {
                let param = self.numbers.function.params.get(index as usize);
                param.and_then(|param| param.variable) != Some(variable)
            }
            _ => true,
        }
    }

    fn inst(&self, id: InstId) -> String {
        let inst = self.numbers.body_inst(id);
        let text = self.operation(id, inst);
        if inst.ty == Ty::Void || matches!(inst.op, Op::Bind { .. }) {
            return text;
        }
        let text = format!("%{} = {text}", id.0);
        match &inst.op {
            Op::Convert(_) | Op::Alloca { .. } => text,
            _ => format!("{text} : {}", self.type_of(inst)),
        }
    }

    fn type_of(&self, inst: &Inst) -> String {
        match inst.ctype.is_known() {
            true => self.program.type_name(inst.ctype),
            false => machine_type(inst.ty),
        }
    }

    fn operand(&self, operand: Operand) -> String {
        self.numbers.value(operand, DEPTH).text
    }

    fn operation(&self, id: InstId, inst: &Inst) -> String {
        match &inst.op {
            Op::Alloca { variable: Some(variable), count: None, .. } => {
                let variable_type = self.numbers.variable(*variable).map(|v| v.ctype);
                let ctype = variable_type.unwrap_or(TypeId::UNKNOWN);
                let name = self.numbers.variable_name(*variable);
                format!("alloca {}", self.program.declaration(ctype, &name))
            }
            Op::Alloca { size, count: None, .. } => format!("alloca <temporary> of {size} bytes"),
            Op::Alloca { size, count: Some(count), variable } => {
                let name = variable.map(|v| format!(" for {}", self.numbers.variable_name(v)));
                let count = self.operand(*count);
                format!("alloca {size} * {count} bytes{}", name.unwrap_or_default())
            }
            Op::Uninit { variable } => {
                format!("uninitialised {}", self.numbers.variable_name(*variable))
            }
            Op::UninitMemory { size, variable, .. } => {
                let name = self.numbers.variable_name(*variable);
                format!("uninitialised {name}, {size} bytes")
            }
            Op::Load(access) => format!("load {}", self.accessed(access)),
            Op::Store { access, value } => {
                let value = self.numbers.value_as(*value, access.ctype, DEPTH).text;
                format!("store {} = {value}", self.accessed(access))
            }
            Op::Phi(edges) => {
                let edges: Vec<String> = edges
                    .iter()
                    .map(|(block, value)| {
                        let value = self.numbers.value_as(*value, inst.ctype, DEPTH).text;
                        format!("b{}: {value}", block.0)
                    })
                    .collect();
                format!("phi {}", edges.join(", "))
            }
            Op::Convert(conversion) => {
                let value = self.numbers.value_as(conversion.value, conversion.from, DEPTH).text;
                let from = self.conversion_type(conversion.from, Some(conversion.value), inst);
                let to = self.conversion_type(conversion.to, None, inst);
                let origin = match conversion.origin {
                    ConversionOrigin::Explicit => "explicit",
                    ConversionOrigin::Implicit => "implicit",
                    ConversionOrigin::Compiler => "compiler",
                };
                let kind = conversion_name(conversion.kind);
                let width = conversion.bit_field_width.map(|w| format!(", {w} bits"));
                let width = width.unwrap_or_default();
                format!("convert {value} : {from} -> {to} ({origin}, {kind}{width})")
            }
            Op::Call(_) => format!("call {}", self.numbers.computed(id, DEPTH).text),
            Op::Address(_) => format!("address {}", self.numbers.computed(id, DEPTH).text),
            Op::MemCopy { to, from, size, .. } => {
                let (to, from) = (self.pointee(*to), self.pointee(*from));
                format!("copy {to} = {from}, {} bytes", self.operand(*size))
            }
            Op::MemSet { to, byte, size, .. } => {
                let (to, byte) = (self.pointee(*to), self.operand(*byte));
                format!("fill {to} with byte {byte}, {} bytes", self.operand(*size))
            }
            Op::Bind { variable, value } => {
                let ctype = self.numbers.variable(*variable).map_or(TypeId::UNKNOWN, |v| v.ctype);
                let value = match value {
                    Operand::Inst(inst) if self.numbers.variable_of(*value).is_some() => {
                        format!("%{}", inst.0)
                    }
                    _ => self.numbers.value_as(*value, ctype, DEPTH).text,
                };
                format!("{} := {value}", self.numbers.variable_name(*variable))
            }
            Op::CompareExchange { access, expected, new } => {
                let (expected, new) = (self.operand(*expected), self.operand(*new));
                format!("compare-exchange {} {expected} -> {new}", self.accessed(access))
            }
            Op::Fence => "fence".to_owned(),
            Op::Insert { aggregate, element, indices } => {
                let indices: Vec<String> = indices.iter().map(u32::to_string).collect();
                let (aggregate, element) = (self.operand(*aggregate), self.operand(*element));
                format!("insert {aggregate}.<{}> = {element}", indices.join("."))
            }
            Op::Asm { text, args, may_write } => {
                let args: Vec<String> = args.iter().map(|arg| self.operand(*arg)).collect();
                let writes = if *may_write { ", may write memory" } else { "" };
                let text = super::constant::quote(text.as_bytes());
                format!("asm {text} ({}){writes}", args.join(", "))
            }
            Op::Binary { .. }
            | Op::Negate(_)
            | Op::Compare { .. }
            | Op::Select { .. }
            | Op::AtomicUpdate { .. }
            | Op::Extract { .. }
            | Op::Opaque { .. } => self.numbers.computed(id, DEPTH).text,
        }
    }

    fn pointee(&self, pointer: Operand) -> String {
        self.numbers.lvalue(&self.numbers.place(pointer, DEPTH)).text
    }

    fn accessed(&self, access: &Access) -> String {
        let mut text = self.numbers.accessed(access, DEPTH).text;
        if let Some(bits) = access.bit_field {
            let _ = write!(text, " ({} bits)", bits.width);
        }
        if access.is_volatile {
            text.push_str(" (volatile)");
        }
        if access.is_atomic {
            text.push_str(" (atomic)");
        }
        text
    }

    fn conversion_type(&self, ctype: TypeId, value: Option<Operand>, inst: &Inst) -> String {
        if ctype.is_known() {
            return self.program.type_name(ctype);
        }
        let function = self.numbers.function;
        machine_type(match value {
            Some(value) => {
                self.numbers.body().operand_ty(value, &function.params, &self.program.constants)
            }
            None => inst.ty,
        })
    }

    pub(super) fn terminator(&self, terminator: &Terminator) -> String {
        match terminator {
            Terminator::Jump(target) => format!("jump b{}", target.0),
            Terminator::Branch { condition, then, otherwise } => {
                format!("branch {} ? b{} : b{}", self.explained(*condition), then.0, otherwise.0)
            }
            Terminator::Switch { value, cases, default } => {
                let ctype = self.numbers.ctype(*value);
                let cases: Vec<String> = cases
                    .iter()
                    .map(|(case, target)| {
                        format!("{}: b{}", self.numbers.constant(*case, ctype).text, target.0)
                    })
                    .collect();
                let value = self.explained(*value);
                format!("switch {value} {{ {}, default: b{} }}", cases.join(", "), default.0)
            }
            Terminator::Indirect { address, targets } => {
                let targets: Vec<String> = targets.iter().map(|b| format!("b{}", b.0)).collect();
                format!("goto *{} of {}", self.explained(*address), targets.join(", "))
            }
            Terminator::Return(Some(value)) => format!("return {}", self.explained(*value)),
            Terminator::Return(None) => "return".to_owned(),
            Terminator::Unreachable => "unreachable".to_owned(),
        }
    }

    /// The operand by number, and what it computes where that says more.
    fn explained(&self, operand: Operand) -> String {
        let number = self.numbers.value(operand, DEPTH);
        let meaning = self.values.expr(operand);
        let says_more = matches!(operand, Operand::Inst(_))
            && !number.text.ends_with(&format!("({meaning})"))
            && number.text != meaning;
        match says_more {
            true => format!("{} [{meaning}]", number.text),
            false => number.at_least(Level::Primary),
        }
    }
}

fn machine_type(ty: Ty) -> String {
    match ty {
        Ty::Void => "void".to_owned(),
        Ty::Int(1) => "_Bool".to_owned(),
        Ty::Int(bits) => format!("i{bits}"),
        Ty::Float(bits) => format!("f{bits}"),
        Ty::Ptr => "pointer".to_owned(),
        Ty::Aggregate(bytes) => format!("aggregate of {bytes} bytes"),
        Ty::Vector(bytes) => format!("vector of {bytes} bytes"),
    }
}

fn conversion_name(kind: ConversionKind) -> &'static str {
    match kind {
        ConversionKind::SignChange => "sign change",
        ConversionKind::Truncate => "truncation",
        ConversionKind::ZeroExtend => "zero extension",
        ConversionKind::SignExtend => "sign extension",
        ConversionKind::FloatToUnsigned => "float to unsigned",
        ConversionKind::FloatToSigned => "float to signed",
        ConversionKind::UnsignedToFloat => "unsigned to float",
        ConversionKind::SignedToFloat => "signed to float",
        ConversionKind::FloatTruncate => "float truncation",
        ConversionKind::FloatExtend => "float extension",
        ConversionKind::PointerToInt => "pointer to integer",
        ConversionKind::IntToPointer => "integer to pointer",
        ConversionKind::Bits => "same bits",
    }
}
