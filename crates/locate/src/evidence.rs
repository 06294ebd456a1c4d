//! IVMPs in words.

use std::collections::BTreeMap;
use std::path::Path;

use llvm::instrument::{Leaf, Position, Site, SiteKind, ValueType};

use crate::{Session, StatementIvmp};

/// Reads source lines, each file once.
#[derive(Default)]
pub struct Sources {
    files: BTreeMap<String, Vec<String>>,
}

impl Sources {
    /// The text of a line; empty where the file cannot be read.
    pub fn line(&mut self, file: &str, line: u32) -> &str {
        let lines = self.files.entry(file.to_string()).or_insert_with(|| {
            let bytes = base::read::source(Path::new(file)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
        });
        lines.get(line.wrapping_sub(1) as usize).map_or("", |text| text.trim_end())
    }

    /// The name, number or member that starts at a position.
    fn lexeme(&mut self, at: &Position) -> String {
        let text = self.line(&at.file, at.line);
        let start = at.column.saturating_sub(1) as usize;
        let rest = text.get(start..).unwrap_or("");
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    }

    /// The condition that starts at a position: up to the parenthesis, operator or end that
    /// closes it.
    fn condition(&mut self, at: &Position) -> String {
        let text = self.line(&at.file, at.line);
        let rest = text.get(at.column.saturating_sub(1) as usize..).unwrap_or("");
        let rest = inside_statement(rest);
        let mut depth = 0i32;
        for (index, c) in rest.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
            let tail = &rest[index..];
            let is_end = depth == 0
                && (tail.starts_with("&&") || tail.starts_with("||") || matches!(c, '?' | ';'));
            if depth < 0 || is_end {
                return rest[..index].trim().to_string();
            }
        }
        // It goes on in the next line, or the position is not that of a condition.
        String::new()
    }
}

/// Some branches stand at their statement and not at their condition: what follows the
/// opening parenthesis of an `if` or `while`, or the text as it is.
fn inside_statement(text: &str) -> &str {
    ["if", "while"]
        .iter()
        .find_map(|keyword| text.strip_prefix(keyword)?.trim_start().strip_prefix('('))
        .unwrap_or(text)
}

/// A value as C would write it.
pub fn value(bits: u64, ty: ValueType) -> String {
    if ty.is_boolean {
        return if bits == 0 { "false" } else { "true" }.to_string();
    }
    if ty.is_float {
        return match ty.bits {
            32 => f32::from_bits(bits as u32).to_string(),
            _ => f64::from_bits(bits).to_string(),
        };
    }
    let width = u32::from(ty.bits.clamp(1, 64));
    if ty.is_character && (0x20..0x7f).contains(&bits) {
        return format!("'{}'", bits as u8 as char);
    }
    if ty.is_unsigned {
        return bits.to_string();
    }
    let shift = 64 - width;
    (((bits << shift) as i64) >> shift).to_string()
}

/// "3rd".
pub fn ordinal(n: u64) -> String {
    let suffix = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

/// "i = 7 instead of 8".
pub(crate) fn replacement(
    ivmp: &StatementIvmp,
    session: &Session<'_>,
    sources: &mut Sources,
) -> String {
    let site = &session.program.sites[ivmp.hit.replacement.site as usize];
    let hit = &ivmp.hit;
    if let Some(leaf) = hit.leaf.and_then(|index| site.leaves.get(index as usize)) {
        let name = leaf_name(leaf, sources);
        return instead(&name, hit.leaf_alternate, hit.leaf_original, leaf.ty);
    }
    let (name, ty) = root_name(site, sources);
    instead(&name, hit.replacement.value, hit.original, ty)
}

fn instead(name: &str, alternate: u64, original: u64, ty: ValueType) -> String {
    format!("{name} = {} instead of {}", value(alternate, ty), value(original, ty))
}

fn leaf_name(leaf: &Leaf, sources: &mut Sources) -> String {
    if !leaf.name.is_empty() {
        return leaf.name.clone();
    }
    let lexeme = sources.lexeme(&leaf.at);
    if lexeme.is_empty() { "the value used".to_string() } else { lexeme }
}

fn root_name(site: &Site, sources: &mut Sources) -> (String, ValueType) {
    let leaf = (!site.is_computed).then(|| site.leaves.first()).flatten();
    let ty = leaf.map_or(site.ty, |leaf| if site.ty.is_boolean { site.ty } else { leaf.ty });
    let name = match site.kind {
        SiteKind::Assign if !site.name.is_empty() => site.name.clone(),
        SiteKind::Assign => "the value assigned".to_string(),
        SiteKind::Argument(number) if site.name.is_empty() => {
            format!("{} argument of the call", ordinal(u64::from(number) + 1))
        }
        SiteKind::Argument(number) => {
            format!("{} argument of {}", ordinal(u64::from(number) + 1), site.name)
        }
        SiteKind::Return => "the value returned".to_string(),
        SiteKind::Branch => {
            let condition = sources.condition(&site.at);
            if condition.is_empty() {
                "the condition".to_string()
            } else {
                format!("({condition})")
            }
        }
        SiteKind::Operand => "the chosen value".to_string(),
        SiteKind::Switch => "the value switched on".to_string(),
        SiteKind::Index => match leaf {
            Some(leaf) => format!("index {}", leaf_name(leaf, sources)),
            None => "the index".to_string(),
        },
    };
    (name, ty)
}

/// Tests named in one sentence.
const NAMED: usize = 6;

/// "test 4 passes", "tests 4 and 9 pass", "tests 1, 2 and 30 more pass".
pub(crate) fn tests(names: &[&str]) -> String {
    match names {
        [] => "no test passes".to_string(),
        [one] => format!("test {one} passes"),
        [first @ .., _, _] if names.len() > NAMED => {
            let named = &first[..NAMED.min(first.len())];
            format!("tests {} and {} more pass", named.join(", "), names.len() - named.len())
        }
        [rest @ .., last] => format!("tests {} and {last} pass", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: ValueType = ValueType {
        bits: 32,
        is_unsigned: false,
        is_float: false,
        is_character: false,
        is_boolean: false,
        is_replaceable: true,
    };

    #[test]
    fn values_read_as_in_c() {
        assert_eq!(value(0xffff_fffe, INT), "-2");
        assert_eq!(value(7, INT), "7");
        assert_eq!(value(97, ValueType { bits: 8, is_character: true, ..INT }), "'a'");
        assert_eq!(value(255, ValueType { bits: 8, is_unsigned: true, ..INT }), "255");
        assert_eq!(value(1, ValueType { bits: 1, is_boolean: true, ..INT }), "true");
        let double = ValueType { bits: 64, is_float: true, ..INT };
        assert_eq!(value(1.5f64.to_bits(), double), "1.5");
    }

    #[test]
    fn counting_words() {
        let words: Vec<String> = [1, 2, 3, 4, 11, 12, 21, 112].map(ordinal).to_vec();
        assert_eq!(words, ["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th"]);
        assert_eq!(super::tests(&["4", "9"]), "tests 4 and 9 pass");
        let many = ["1", "2", "3", "4", "5", "6", "7", "8"];
        assert_eq!(super::tests(&many[..6]), "tests 1, 2, 3, 4, 5 and 6 pass");
        assert_eq!(super::tests(&many), "tests 1, 2, 3, 4, 5, 6 and 2 more pass");
        assert_eq!(super::tests(&many[..7]), "tests 1, 2, 3, 4, 5 and 2 more pass");
    }
}
