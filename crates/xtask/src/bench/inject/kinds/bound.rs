//! A bound `<` is made `<=`, in the condition of a loop or of an `if`.
//!
//! The smaller side must be a variable that what is guarded uses as an index as it is, of something
//! that has as many elements as the bound says: an array declared with that length, memory
//! allocated in this function with it, or pointer and length that belong together: both parameters,
//! or members of the same record.

use syntax::Tree;

use crate::bench::inject::code::{
    Function, Unit, assignments, bare, call, child, is_place, nodes, operator, walk,
};
use crate::bench::inject::facts::{Facts, is_allocator};
use crate::bench::inject::kind::{Edit, Injection, Kind};

pub fn find(unit: &Unit, function: &Function, facts: &Facts) -> Vec<Injection> {
    let mut found = Vec::new();
    walk(&function.tree, &mut |_, node| {
        let guarded = match node.kind {
            "for_statement" | "while_statement" => child(node, "body"),
            "if_statement" => child(node, "consequence"),
            _ => None,
        };
        let (Some(guarded), Some(condition)) = (guarded, child(node, "condition")) else { return };
        for comparison in nodes(condition).into_iter().filter(|n| n.kind == "binary_expression") {
            let sides = (child(comparison, "left"), child(comparison, "right"));
            let (Some(left), Some(right)) = sides else { continue };
            let (index, bound, new) = match operator(comparison) {
                "<" => (left, right, "<="),
                ">" => (right, left, ">="),
                _ => continue,
            };
            let index = bare(index);
            if is_place(index) && is_bound_of(unit, function, facts, guarded, index, bound) {
                let sign = child(comparison, "operator").map(|sign| sign.bytes.clone());
                found.extend(sign.map(|sign| Injection {
                    kind: Kind::Bound,
                    function: function.name.clone(),
                    edits: vec![Edit::new(sign, new)],
                }));
            }
        }
    });
    found
}

fn is_bound_of(
    unit: &Unit,
    function: &Function,
    facts: &Facts,
    guarded: &Tree,
    index: &Tree,
    bound: &Tree,
) -> bool {
    let index = unit.flat(index);
    let bound = unit.flat(bare(bound));
    // What is changed before it is used is another index.
    let changed = assignments(unit, guarded, &index).first().map_or(usize::MAX, |(end, _)| *end);
    let mut accesses = Vec::new();
    walk(guarded, &mut |around, node| {
        // `&a[i]` may point past the end.
        let is_taken = around.last().is_some_and(|outer| operator(outer) == "&");
        let is_at = child(node, "index").is_some_and(|at| unit.flat(bare(at)) == index);
        if node.kind == "subscript_expression" && node.bytes.start < changed && is_at && !is_taken {
            accesses.push(node);
        }
    });
    let mut accesses = accesses.into_iter();
    accesses.any(|access| {
        child(access, "argument").is_some_and(|base| {
            is_place(bare(base)) && has_length(unit, function, facts, bare(base), &bound)
        })
    })
}

fn has_length(unit: &Unit, function: &Function, facts: &Facts, base: &Tree, bound: &str) -> bool {
    let name = unit.flat(base);
    let same = |length: &str| {
        let elements = [
            format!("sizeof({name})/sizeof({name}[0])"),
            format!("sizeof({name})/sizeof(*{name})"),
            format!("(sizeof({name})/sizeof({name}[0]))"),
        ];
        length == bound || elements.iter().any(|text| text == bound)
    };
    if base.kind == "field_expression" {
        let member = child(base, "field").map(|member| unit.flat(member)).unwrap_or_default();
        let lengths = facts.member_lengths.get(&member);
        if lengths.is_some_and(|lengths| lengths.iter().any(|length| same(length))) {
            return true;
        }
        let owner = |text: &str| text.rfind(['>', '.']).map(|at| text[..=at].to_owned());
        return (lengths.is_none() && owner(&name) == owner(bound) && is_count(bound))
            || is_allocated(unit, function, &name, bound);
    }
    let Some(declared) = unit.declaration(&name, base.bytes.start) else { return false };
    match &declared.length {
        Some(length) => same(&unit.at(length).split_whitespace().collect::<String>()),
        None => {
            let parameters = unit.parameters(function);
            let is_parameter = |name: &str| parameters.iter().any(|p| p.name == name);
            let is_pair = is_parameter(&name) && is_parameter(bound) && is_count(bound);
            let is_kept = assignments(unit, &function.tree, &name).is_empty();
            (is_pair && is_kept) || is_allocated(unit, function, &name, bound)
        }
    }
}

/// Whether a name says that it counts elements.
fn is_count(bound: &str) -> bool {
    let name = bound.rsplit(['>', '.']).next().unwrap_or(bound).to_ascii_lowercase();
    let words = ["len", "size", "count", "num", "cnt", "max", "total", "length"];
    name == "n" || name.starts_with("n_") || words.iter().any(|word| name.contains(word))
}

/// Whether a pointer is given memory in this function whose size is the bound.
fn is_allocated(unit: &Unit, function: &Function, name: &str, bound: &str) -> bool {
    assignments(unit, &function.tree, name).iter().any(|(_, value)| {
        let allocation = value.and_then(|value| call(unit, bare(value)));
        allocation.is_some_and(|(called, arguments)| {
            is_allocator(&called)
                && arguments.iter().any(|argument| {
                    let argument = bare(argument);
                    let factors = [child(argument, "left"), child(argument, "right")];
                    let is_product = operator(argument) == "*";
                    let is_factor =
                        |f: Option<&Tree>| f.is_some_and(|f| unit.flat(bare(f)) == bound);
                    unit.flat(argument) == bound
                        || (is_product && factors.into_iter().any(is_factor))
                })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed;
    use super::find;

    #[test]
    fn the_bound_of_what_is_indexed_lets_one_more_pass() {
        let array =
            "#define N 8\nint a[N];\nvoid f(int i) {\n  for (i = 0; i < N; i++) a[i] = 1;\n}\n";
        assert_eq!(changed(array, find), ["for (i = 0; i <= N; i++) a[i] = 1;"]);
        let guard = "void f(char *s, int len, int i) {\n  if (len > i && s[0]) s[i] = 0;\n}\n";
        assert_eq!(changed(guard, find), ["if (len >= i && s[0]) s[i] = 0;"]);
        let member = "struct s { int a[4 + 1]; };\nvoid f(struct s *p, int i) {\n  \
                      while (i < 4 + 1) p->a[i++] = 1;\n  while (i < 4 + 1) { p->a[i] = 1; i++; }\n}\n";
        assert_eq!(changed(member, find), ["while (i <= 4 + 1) { p->a[i] = 1; i++; }"]);
        let allocated = "void f(int m, int i) {\n  int *p = malloc(m * sizeof *p);\n  \
                         for (i = 0; i < m; i++) p[i] = 1;\n}\n";
        assert_eq!(changed(allocated, find), ["for (i = 0; i <= m; i++) p[i] = 1;"]);
        let record = "void f(struct s *p, int i) {\n  for (; i < p->len; i++) p->d[i] = 1;\n}\n";
        assert_eq!(changed(record, find), ["for (; i <= p->len; i++) p->d[i] = 1;"]);
    }

    #[test]
    fn bounds_of_something_else_stay() {
        let none = |text| assert_eq!(changed(text, find), [] as [&str; 0]);
        none("int a[9];\nvoid f(int i) {\n  for (i = 0; i < 8; i++) a[i] = 1;\n}\n");
        none("int a[8];\nvoid f(int i) {\n  for (i = 0; i < 8; i++) g(i);\n}\n");
        none("int a[8];\nvoid f(int i) {\n  for (i = 0; i < 8; i++) g(&a[i]);\n}\n");
        none("int a[8];\nvoid f(int i) {\n  for (i = 0; i < 8; i++) a[i - 1] = 0;\n}\n");
        none("void f(char *s, int len, int i) {\n  s += 2;\n  if (i < len) s[i] = 0;\n}\n");
        none(
            "#define ALL(i) for (i = 0; i < 8; i++) a[i] = 1\nint a[8];\nvoid f(int i) {\n  ALL(i);\n}\n",
        );
    }
}
