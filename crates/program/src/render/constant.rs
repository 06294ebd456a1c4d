//! Constants as C literals.

use super::expr::{Level, Renderer, Text};
use crate::{CType, Const, ConstId, GlobalId, TypeId};

/// Characters of a string literal shown.
const MAX_STRING: usize = 40;

impl Renderer<'_> {
    /// A constant; `ctype` is the type it is used with, if known: it decides between
    /// signed and unsigned, characters and enumerators.
    pub(super) fn constant(&self, id: ConstId, ctype: TypeId) -> Text {
        match &self.program.constants[id] {
            Const::Int { bits, value } => self.integer(*bits, *value, ctype),
            Const::Float { as_f64_bits, .. } => {
                Text::primary(format!("{:?}", f64::from_bits(*as_f64_bits)))
            }
            Const::Null => Text::primary("NULL".to_owned()),
            Const::Global { global, offset } => self.global_address(*global, *offset),
            Const::Function(function) => {
                Text::primary(self.program.functions[*function].name.to_string())
            }
            Const::Label { block, .. } => Text::unary(format!("&&b{}", block.0)),
            Const::Zero(crate::Ty::Aggregate(_) | crate::Ty::Vector(_)) => {
                Text::primary("{0}".to_owned())
            }
            Const::Zero(_) => Text::primary("0".to_owned()),
            Const::Undef(_) => Text::primary("<undefined>".to_owned()),
            Const::Aggregate { elements, .. } => {
                let shown = elements.iter().take(4);
                let mut parts: Vec<String> = shown.map(|element| self.element(*element)).collect();
                if elements.len() > parts.len() {
                    parts.push("...".to_owned());
                }
                Text::primary(format!("{{{}}}", parts.join(", ")))
            }
            Const::Bytes(bytes) => Text::primary(quote(bytes)),
            Const::Opaque { text, .. } => Text::primary(text.to_string()),
        }
    }

    fn element(&self, id: ConstId) -> String {
        match &self.program.constants[id] {
            Const::Aggregate { .. } => "{...}".to_owned(),
            _ => self.constant(id, TypeId::UNKNOWN).text,
        }
    }

    fn integer(&self, bits: u32, value: i128, ctype: TypeId) -> Text {
        let resolved = self.program.resolved_type(ctype);
        if let CType::Enum { enumerators, .. } = resolved
            && let Some((name, _)) =
                enumerators.iter().find(|(_, known)| i128::from(*known) == value)
        {
            return Text::primary(name.to_string());
        }
        if let CType::Int { name, .. } = resolved
            && name.ends_with("char")
            && let Ok(byte) = u8::try_from(value)
            && (byte.is_ascii_graphic() || byte == b' ')
        {
            return Text::primary(match byte {
                b'\'' | b'\\' => format!("'\\{}'", byte as char),
                _ => format!("'{}'", byte as char),
            });
        }
        let is_unsigned = self.program.is_signed(ctype) == Some(false) || bits == 1;
        let value = match value {
            negative if negative < 0 && is_unsigned && bits < 127 => negative + (1i128 << bits),
            value => value,
        };
        let level = if value < 0 { Level::Unary } else { Level::Primary };
        Text { text: value.to_string(), level }
    }

    /// The address of (a place in) a global object.
    fn global_address(&self, id: GlobalId, offset: i64) -> Text {
        let place = self.global_place(id, offset);
        self.address_of(&place)
    }

    /// A string literal's own text.
    pub(super) fn literal(&self, id: GlobalId) -> Option<String> {
        let global = &self.program.globals[id];
        let pieces = global.init.as_ref().filter(|_| global.is_string_literal)?;
        match pieces.first().map(|piece| &self.program.constants[piece.value]) {
            Some(Const::Bytes(bytes)) => Some(quote(bytes)),
            None | Some(Const::Zero(_)) => Some("\"\"".to_owned()),
            _ => None,
        }
    }
}

/// A C string literal, cut short where long; the terminator is not shown.
pub fn quote(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let mut text = String::from("\"");
    for &byte in bytes.iter().take(MAX_STRING) {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'"' | b'\\' => text.extend(['\\', byte as char]),
            b' '..=b'~' => text.push(byte as char),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push_str(if bytes.len() > MAX_STRING { "...\"" } else { "\"" });
    text
}
