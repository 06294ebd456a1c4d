//! A test of a length is removed: an `if` that leaves or sets the length when it is too large or
//! too small, or one operand of its `||`.
//!
//! Either the length is tested against the size of something and is then used as the length of a
//! copy or as an index; or what is tested is a parameter that says how much there is, against a
//! number, and the pointer beside it among the parameters is then read at a fixed place.

use syntax::Tree;

use crate::bench::inject::code::{
    Function, Unit, assignments, bare, call, child, is_place, leaves, mentions, nodes, operator,
    plain_if, walk,
};
use crate::bench::inject::facts::Facts;
use crate::bench::inject::kind::{Edit, Injection, Kind};

pub fn find(unit: &Unit, function: &Function, facts: &Facts) -> Vec<Injection> {
    let mut found = Vec::new();
    walk(&function.tree, &mut |_, node| {
        let Some((condition, guarded)) = plain_if(node) else { return };
        let after = node.bytes.end;
        let condition = bare(condition);
        let mut parts = Vec::new();
        disjuncts(condition, &mut parts);
        for part in &parts {
            let Some((smaller, larger)) = comparison(part) else { continue };
            let clamps = |place: &Tree| {
                parts.len() == 1 && !assignments(unit, guarded, &unit.flat(bare(place))).is_empty()
            };
            let leaves = leaves(unit, guarded);
            // Too long for what is written, or too short for what is read.
            let too_long = (leaves || clamps(larger))
                && is_length(unit, larger)
                && is_limit(unit, facts, smaller, part.bytes.start)
                && is_measure_after(unit, function, &unit.flat(bare(larger)), after);
            let too_short = leaves
                && is_constant(unit, larger)
                && counted(unit, function, smaller)
                    .is_some_and(|pointer| is_read_after(unit, function, &pointer, after));
            if too_long || too_short {
                let edit = match parts.len() {
                    1 => Edit::new(node.bytes.clone(), ";"),
                    _ => Edit::new(part.bytes.clone(), "0"),
                };
                let function = function.name.clone();
                found.push(Injection { kind: Kind::LengthTest, function, edits: vec![edit] });
            }
        }
    });
    found
}

fn disjuncts<'t>(node: &'t Tree, found: &mut Vec<&'t Tree>) {
    let inner = bare(node);
    let sides = (child(inner, "left"), child(inner, "right"));
    match (operator(inner), sides) {
        ("||", (Some(left), Some(right))) => {
            disjuncts(left, found);
            disjuncts(right, found);
        }
        _ => found.push(node),
    }
}

/// The side that is smaller where the comparison holds, and the larger.
fn comparison(node: &Tree) -> Option<(&Tree, &Tree)> {
    let node = bare(node);
    let (left, right) = (child(node, "left")?, child(node, "right")?);
    match operator(node) {
        "<" | "<=" => Some((left, right)),
        ">" | ">=" => Some((right, left)),
        _ => None,
    }
}

fn is_length(unit: &Unit, node: &Tree) -> bool {
    let node = bare(node);
    is_place(node) && unit.flat(node).bytes().any(|byte| byte.is_ascii_lowercase())
}

fn is_constant(unit: &Unit, node: &Tree) -> bool {
    let node = bare(node);
    let is_macro =
        |text: &str| text.len() > 1 && !text.bytes().any(|byte| byte.is_ascii_lowercase());
    match node.kind {
        "number_literal" => unit.flat(node) != "0",
        "sizeof_expression" => true,
        "identifier" => is_macro(&unit.flat(node)),
        "binary_expression" => ["left", "right"]
            .iter()
            .all(|role| child(node, role).is_some_and(|side| is_constant(unit, side))),
        _ => false,
    }
}

/// Whether the text says that this is the size of something: `sizeof`, the length of an array that
/// is declared, or a name for what is left.
fn is_limit(unit: &Unit, facts: &Facts, node: &Tree, at: usize) -> bool {
    let text = unit.flat(bare(node));
    let is_declared = |length: &str| length == text || text == format!("{length}-1");
    let lengths = unit.declarations.iter().filter(|d| d.scope.contains(&at));
    let mut lengths = lengths.filter_map(|d| d.length.as_ref());
    nodes(node).into_iter().any(|node| node.kind == "sizeof_expression")
        || lengths
            .any(|length| is_declared(&unit.at(length).split_whitespace().collect::<String>()))
        || facts.member_lengths.values().flatten().any(|length| is_declared(length))
        || (is_place(bare(node)) && is_size_name(&text))
}

/// Whether a name is one for how much there is.
fn is_size_name(place: &str) -> bool {
    let name = place.rsplit(['>', '.']).next().unwrap_or(place).to_ascii_lowercase();
    let words = ["len", "size", "left", "avail", "remain", "capacity", "room", "space"];
    words.iter().any(|word| name.contains(word)) && name.bytes().all(|b| b != b'(')
}

/// Which argument of a library function is the length.
fn length_argument(name: &str) -> Option<usize> {
    match name.trim_start_matches('_') {
        "memcpy" | "memmove" | "memset" | "memcmp" | "strncpy" | "read" | "recv" | "write" => {
            Some(2)
        }
        "fread" | "fwrite" => Some(2),
        "fgets" => Some(1),
        _ => None,
    }
}

/// Whether a variable is the length of a copy or an index after a place, before it is given
/// another value.
fn is_measure_after(unit: &Unit, function: &Function, place: &str, after: usize) -> bool {
    let assigned = assignments(unit, &function.tree, place);
    let until = assigned.iter().map(|(end, _)| *end).find(|end| *end > after);
    let until = until.unwrap_or(usize::MAX);
    let parts = nodes(&function.tree).into_iter();
    parts.filter(|n| n.bytes.start >= after && n.bytes.start < until).any(|node| {
        let copies = call(unit, node).is_some_and(|(name, arguments)| {
            let length = length_argument(&name).and_then(|index| arguments.get(index).copied());
            length.is_some_and(|length| mentions(unit, length, place))
        });
        let indexes = node.kind == "subscript_expression"
            && child(node, "index").is_some_and(|index| mentions(unit, index, place));
        copies || indexes
    })
}

/// The pointer whose elements a parameter counts: the one before it.
fn counted(unit: &Unit, function: &Function, length: &Tree) -> Option<String> {
    let length = unit.flat(bare(length));
    let parameters = unit.parameters(function);
    let at = parameters.iter().position(|p| p.name == length && p.shape.is_empty())?;
    let pointer = parameters.get(at.checked_sub(1)?)?;
    let is_pointer = pointer.shape == "*" || pointer.shape == "[";
    (is_pointer && is_size_name(&length)).then(|| pointer.name.clone())
}

/// Whether a pointer is read after this, as it is or at an element with a number.
fn is_read_after(unit: &Unit, function: &Function, pointer: &str, after: usize) -> bool {
    let is_parameter = |node: &Tree| unit.flat(node) == pointer;
    nodes(&function.tree).into_iter().filter(|node| node.bytes.start >= after).any(
        |node| match node.kind {
            "subscript_expression" => {
                child(node, "index").is_some_and(|index| index.kind == "number_literal")
                    && child(node, "argument").is_some_and(|base| is_parameter(bare(base)))
            }
            "pointer_expression" => {
                operator(node) == "*"
                    && child(node, "argument").is_some_and(|inner| is_parameter(bare(inner)))
            }
            "call_expression" => call(unit, node).is_some_and(|(name, arguments)| {
                length_argument(&name).is_some()
                    && arguments.iter().skip(1).any(|argument| is_constant(unit, argument))
                    && arguments.iter().take(2).any(|argument| is_parameter(bare(argument)))
            }),
            _ => false,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed;
    use super::find;

    #[test]
    fn tests_of_what_is_copied_or_indexed_are_removed() {
        let leaves = "void f(char *s, int n) {\n  char b[8];\n  if (n > sizeof(b))\n    return;\n  \
                      memcpy(b, s, n);\n}\n";
        assert_eq!(changed(leaves, find), [";"]);
        let clamps = "char b[8];\nvoid f(char *s, int n) {\n  if (n >= 8) n = 7;\n  b[n] = 0;\n}\n";
        assert_eq!(changed(clamps, find), [";"]);
        let operand =
            "char b[8];\nint f(int n) {\n  if (n < 0 || n >= 8) return 1;\n  return b[n];\n}\n";
        assert_eq!(changed(operand, find), ["if (n < 0 || 0) return 1;"]);
        let short =
            "int f(unsigned char *p, int len) {\n  if (len < 4) return 1;\n  return p[3];\n}\n";
        assert_eq!(changed(short, find), [";"]);
    }

    #[test]
    fn other_tests_stay() {
        let none = |text| assert_eq!(changed(text, find), [] as [&str; 0]);
        none("char b[8];\nvoid f(int n) {\n  if (n > 8) return;\n  g(n);\n}\n");
        none("char b[8];\nvoid f(int n) {\n  if (n > 8) return;\n  n = 1;\n  b[n] = 0;\n}\n");
        none("char b[8];\nvoid f(int n) {\n  if (n > 8) g();\n  b[n] = 0;\n}\n");
        none(
            "int f(unsigned char *p, int level) {\n  if (level < 4) return 1;\n  return p[3];\n}\n",
        );
        none(
            "#define FIT(n) if (n > 8) return\nchar b[8];\nvoid f(int n) {\n  FIT(n);\n  b[n] = 0;\n}\n",
        );
    }
}
