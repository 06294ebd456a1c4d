//! Parameters of the function a run starts in, as C would write them.

use std::fmt::Write as _;

use program::{CType, Function, Member, Param, Program, Ty, TypeId};

use crate::exec::Machine;
use crate::inputs::Input;
use crate::value::signed;

/// Values behind a parameter that are told.
const MAX_VALUES: usize = 16;
/// Bytes of a text that are told.
const MAX_BYTES: usize = 200;

impl Machine<'_> {
    /// What each parameter is, such as `n = 3`, `s = "000"`, `p = {1, 2}`; what an initialiser
    /// does not mention is zero.
    pub(crate) fn told_parameters(&self) -> Vec<String> {
        let Some(entry) = self.inputs.entry else { return Vec::new() };
        let function = &self.program.functions[entry];
        let params = (0..).zip(&function.params);
        let told = |(index, param)| {
            format!("{} = {}", name_of(function, param, index), self.initialiser(param, index))
        };
        params.map(told).collect()
    }

    fn initialiser(&self, param: &Param, index: u32) -> String {
        let values = &self.inputs.values;
        let is_signed = self.program.is_signed(param.ctype) == Some(true);
        match param.ty {
            Ty::Int(bits) => number(values.get(Input::Parameter(index)), bits, is_signed),
            _ if values.get(Input::IsNull(index)) == 1 => "NULL".to_owned(),
            _ => {
                let behind = |(input, value): (&Input, &u128)| match input {
                    Input::Pointee { parameter, offset } if *parameter == index => {
                        (*value != 0).then_some((u64::from(*offset), *value))
                    }
                    _ => None,
                };
                let set: Vec<(u64, u128)> = values.0.iter().filter_map(behind).collect();
                self.object(self.program.pointee(param.ctype), &set)
            }
        }
    }

    /// What lies behind a pointer, given what is not zero of it.
    fn object(&self, element: TypeId, set: &[(u64, u128)]) -> String {
        let program = self.program;
        let size = program.size_of(element).filter(|size| *size > 0).unwrap_or(1);
        if size == 1 {
            return quoted(set);
        }
        let Some((last, _)) = set.last() else { return "{0}".to_owned() };
        let more = if set.len() > MAX_VALUES { ", ..." } else { "" };
        let is_plain =
            !matches!(program.resolved_type(element), CType::Record(_) | CType::Array { .. });
        let told = |(offset, value): &(u64, u128)| {
            let (index, inside) = (offset / size, offset % size);
            let (path, leaf) = path_to(program, element, inside);
            let bits = program.size_of(leaf).unwrap_or(8) as u32 * 8;
            let value = number(*value, bits, program.is_signed(leaf) == Some(true));
            (index, path, value)
        };
        if is_plain && last / size < MAX_VALUES as u64 {
            let values = (0..=last / size).map(|index| {
                let set = set.iter().find(|(offset, _)| *offset == index * size);
                set.map_or("0".to_owned(), |set| told(set).2)
            });
            return format!("{{{}}}", values.collect::<Vec<_>>().join(", "));
        }
        let is_first = *last < size;
        let parts =
            set.iter().take(MAX_VALUES).map(told).map(|(index, path, value)| match is_first {
                true => format!("{path} = {value}"),
                false => format!("[{index}]{path} = {value}"),
            });
        format!("{{{}{more}}}", parts.collect::<Vec<_>>().join(", "))
    }
}

fn name_of(function: &Function, param: &Param, index: u32) -> String {
    let variables = function.body.as_ref().map(|body| &body.variables);
    let variable = variables.zip(param.variable).and_then(|(all, id)| all.get(id));
    match variable.filter(|variable| !variable.name.is_empty()) {
        Some(variable) => variable.name.to_string(),
        None => format!("parameter {}", index + 1),
    }
}

fn number(bits: u128, width: u32, is_signed: bool) -> String {
    match is_signed {
        true => signed(bits, width).to_string(),
        false => bits.to_string(),
    }
}

/// How an element names the scalar at an offset inside of it, and that scalar's type.
fn path_to(program: &Program, element: TypeId, mut offset: u64) -> (String, TypeId) {
    let (mut path, mut ctype) = (String::new(), element);
    // Types are nested a few times.
    for _ in 0..16 {
        match program.resolved_type(ctype) {
            CType::Array { element, .. } => {
                let size = program.size_of(*element).unwrap_or(1).max(1);
                let _ = write!(path, "[{}]", offset / size);
                offset %= size;
                ctype = *element;
            }
            CType::Record(record) => {
                let mut members = program.records[*record].members.iter();
                let holds =
                    |member: &&Member| member.offset_bits / 8 <= offset && !member.is_bit_field;
                let Some(member) = members.rfind(holds) else { break };
                if !member.name.is_empty() {
                    let _ = write!(path, ".{}", member.name);
                }
                offset -= member.offset_bits / 8;
                ctype = member.ctype;
            }
            _ => break,
        }
    }
    (path, ctype)
}

/// A string with these bytes, the others up to the last being zero.
fn quoted(set: &[(u64, u128)]) -> String {
    let length = set.last().map_or(0, |(last, _)| *last as usize + 1);
    let mut bytes = vec![0u8; length.min(MAX_BYTES)];
    for (offset, value) in set {
        if let Some(byte) = bytes.get_mut(*offset as usize) {
            *byte = *value as u8;
        }
    }
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' => text.push(char::from(byte)),
            // Three octal digits end by themselves, whatever follows.
            _ => drop(write!(text, "\\{byte:03o}")),
        }
    }
    let more = if length > MAX_BYTES { "..." } else { "" };
    format!("\"{text}\"{more}")
}
