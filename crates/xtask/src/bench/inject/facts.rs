//! What the rest of a program's text says about a function: what may be null, what is released
//! by what. Collected once over all units and headers.

use std::collections::{BTreeMap, BTreeSet};

use syntax::Tree;

use super::code::{self, Function, Unit, bare, call, child, nodes, operator};

#[derive(Debug, Default)]
pub struct Facts {
    /// Names of macros that stand for null, besides `NULL`.
    nulls: BTreeSet<String>,
    /// Functions that return null somewhere.
    nullable: BTreeSet<String>,
    /// Parameters that are given null somewhere, by function.
    null_arguments: BTreeMap<String, BTreeSet<usize>>,
    /// Members that are given null somewhere.
    null_members: BTreeSet<String>,
    /// Macros that set what they are given.
    setting: BTreeSet<String>,
    /// Lengths of member arrays as they are written, by member.
    pub member_lengths: BTreeMap<String, BTreeSet<String>>,
}

/// Functions of the library that return null when something is missing.
const NULLABLE: [&str; 18] = [
    "malloc",
    "calloc",
    "realloc",
    "strdup",
    "strndup",
    "fopen",
    "fdopen",
    "tmpfile",
    "popen",
    "opendir",
    "getenv",
    "strchr",
    "strrchr",
    "strstr",
    "strpbrk",
    "memchr",
    "bsearch",
    "localtime",
];

impl Facts {
    /// From sources and headers. Macros come first, since they tell what null is.
    pub fn collect(units: &[Unit]) -> Self {
        let mut facts = Facts::default();
        for unit in units {
            facts.macros(&unit.text);
        }
        for unit in units {
            for declared in unit.declarations.iter().filter(|d| d.is_member) {
                if let Some(length) = &declared.length {
                    let length = unit.at(length).split_whitespace().collect();
                    facts.member_lengths.entry(declared.name.clone()).or_default().insert(length);
                }
            }
            for function in &unit.functions {
                facts.function(unit, function);
            }
        }
        facts
    }

    fn macros(&mut self, text: &str) {
        let text = text.replace("\\\n", " ");
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix('#')) {
            let Some(rest) = line.trim_start().strip_prefix("define") else { continue };
            let rest = rest.trim_start();
            let name = code::root(rest);
            let body: String = rest[name.len()..].split_whitespace().collect();
            let is_null = matches!(body.as_str(), "NULL" | "((void*)0)")
                || (name.contains("NULL") && matches!(body.as_str(), "0" | "(0)"));
            if is_null {
                self.nulls.insert(name.to_owned());
            }
            if body.starts_with('(') && (body.contains("=NULL") || body.contains("=0")) {
                self.setting.insert(name.to_owned());
            }
        }
    }

    fn function(&mut self, unit: &Unit, function: &Function) {
        for node in nodes(&function.tree) {
            match node.kind {
                "return_statement" => {
                    let value = node.children.get(1);
                    if value.is_some_and(|value| self.is_null(unit, value)) {
                        self.nullable.insert(function.name.clone());
                    }
                }
                "call_expression" => {
                    let Some((name, arguments)) = call(unit, node) else { continue };
                    for (index, argument) in arguments.iter().enumerate() {
                        if self.is_null(unit, argument) {
                            let of = self.null_arguments.entry(name.clone()).or_default();
                            of.insert(index);
                        }
                    }
                }
                "assignment_expression" if operator(node) == "=" => {
                    let (Some(left), Some(right)) = (child(node, "left"), child(node, "right"))
                    else {
                        continue;
                    };
                    if self.is_null(unit, right)
                        && let Some(member) = child(bare(left), "field")
                    {
                        self.null_members.insert(unit.flat(member));
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether an expression is written as a null pointer; a bare 0 is a number.
    pub fn is_null(&self, unit: &Unit, node: &Tree) -> bool {
        let text = unit.flat(bare(node));
        text == "NULL" || self.nulls.contains(&text)
    }

    /// Whether what a function returns may be null: its body says so, or its name is that of an
    /// allocator.
    pub fn is_nullable(&self, function: &str) -> bool {
        NULLABLE.contains(&function) || self.nullable.contains(function) || is_allocator(function)
    }

    /// Whether a call with these arguments gives one of them another value though it is handed
    /// over as a value.
    pub fn is_setting(&self, function: &str) -> bool {
        self.setting.contains(function)
    }

    /// Whether the text shows that a pointer may be null at a place: the last value it was given
    /// before, or in a loop around, comes from a function or a member that may be null; a parameter
    /// is given null by some call.
    pub fn may_be_null(&self, unit: &Unit, function: &Function, place: &str, at: usize) -> bool {
        let mut loops = Vec::new();
        code::walk(&function.tree, &mut |_, node| {
            let is_loop = matches!(node.kind, "for_statement" | "while_statement" | "do_statement");
            if is_loop && node.bytes.contains(&at) {
                loops.push(node.bytes.clone());
            }
        });
        let all = code::assignments(unit, &function.tree, place);
        let before = all.iter().rev().find(|(end, _)| *end <= at);
        let in_loops = all.iter().filter(|(end, _)| loops.iter().any(|bytes| bytes.contains(end)));
        // Its address was given to something that may set it.
        if before.is_some_and(|(_, value)| value.is_none()) {
            return false;
        }
        let mut values = before.into_iter().chain(in_loops).filter_map(|(_, value)| *value);
        if values.any(|value| self.is_nullable_value(unit, value)) {
            return true;
        }
        if before.is_some() {
            return false;
        }
        let parameters = unit.parameters(function);
        match parameters.iter().position(|declared| declared.name == place) {
            Some(index) => {
                let null = self.null_arguments.get(&function.name);
                null.is_some_and(|null| null.contains(&index))
            }
            None => self.is_null_member(place),
        }
    }

    fn is_nullable_value(&self, unit: &Unit, value: &Tree) -> bool {
        let value = bare(value);
        match value.kind {
            "call_expression" => call(unit, value).is_some_and(|(name, _)| self.is_nullable(&name)),
            "field_expression" => self.is_null_member(&unit.flat(value)),
            "conditional_expression" => ["consequence", "alternative"]
                .iter()
                .any(|role| child(value, role).is_some_and(|v| self.is_nullable_value(unit, v))),
            _ => self.is_null(unit, value),
        }
    }

    fn is_null_member(&self, place: &str) -> bool {
        let member = place.rsplit(['>', '.']).next().filter(|member| *member != place);
        member.is_some_and(|member| self.null_members.contains(member))
    }
}

/// Whether a function allocates memory, by its name.
pub fn is_allocator(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_known = ["alloc", "strdup", "strndup"].iter().any(|part| lower.contains(part));
    is_known
        && !["free", "dealloc", "allocator", "size", "is_", "alloca"]
            .iter()
            .any(|part| lower.contains(part) && !(*part == "alloca" && lower.contains("allocat")))
}

/// Which argument a function releases, by its name and how the arguments are written: the last, as
/// in `free(p)` and `FREE(session, p)`, or the first where the last is what it is released with, as
/// in `lzma_free(p, allocator)`.
pub fn released(name: &str, arguments: &[String]) -> Option<usize> {
    let lower = name.to_ascii_lowercase();
    let is_counted = ["ref", "unlock", "is_", "isfree"].iter().any(|part| lower.contains(part));
    let is_release = (lower.ends_with("free") && !is_counted) || name == "fclose";
    let is_with = |argument: &String| {
        let is_name = argument == code::root(argument);
        let argument = argument.to_ascii_lowercase();
        is_name && ["alloc", "size", "opaque"].iter().any(|part| argument.contains(part))
    };
    match arguments {
        _ if !is_release => None,
        [_] => Some(0),
        [_, last] => Some(usize::from(!is_with(last))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> (Vec<Unit>, Facts) {
        let units = vec![Unit::parse(text.to_owned())];
        let facts = Facts::collect(&units);
        (units, facts)
    }

    #[test]
    fn what_may_be_null_is_said_by_the_text() {
        let (units, facts) = facts(
            "#define Z_NULL 0\n#define DROP(p) (free(p), \\\n  (p) = NULL)\n\
             char *find(int n) { if (n) return Z_NULL; return text; }\n\
             char *never(void) { return text; }\n\
             void set(struct s *s) { s->next = NULL; s->n = 0; use(NULL, s); }\n\
             void use(char *a, struct s *b) { char *p = find(1); char *q = never(); \
               char *r = b->next; struct s *t = b->n; for (t = b; t; t = t->next) t->n = 1; }\n",
        );
        let unit = &units[0];
        let function = unit.functions.last().unwrap();
        let end = function.bytes.end - 1;
        let null = |place| facts.may_be_null(unit, function, place, end);
        assert!(null("p") && null("r") && null("a"));
        assert!(!null("q") && !null("b"));
        assert!(facts.may_be_null(unit, function, "t", unit.text.find("t->n = 1").unwrap()));
        assert!(facts.is_setting("DROP") && !facts.is_setting("Z_NULL"));
    }

    #[test]
    fn allocators_and_releases_by_name() {
        assert!(["malloc", "ZALLOC", "LIBSSH2_ALLOC", "xstrdup"].iter().all(|n| is_allocator(n)));
        assert!(!["free", "dealloc", "alloc_size", "copy"].iter().any(|n| is_allocator(n)));
        let released = |name: &str, arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|text| text.to_string()).collect();
            super::released(name, &arguments)
        };
        assert_eq!(released("free", &["p"]), Some(0));
        assert_eq!(released("LIBSSH2_FREE", &["session", "p->a"]), Some(1));
        assert_eq!(released("FREE", &["session", "p->alloc"]), Some(1));
        assert_eq!(released("lzma_free", &["p->a", "allocator"]), Some(0));
        assert_eq!(released("unref_free", &["p"]), None);
        assert_eq!(released("luaM_free", &["L", "p", "n"]), None);
        assert_eq!(released("print", &["p"]), None);
    }

    #[test]
    fn lengths_of_members_are_kept_as_written() {
        let (_, facts) = facts("struct s { char name[MAX + 1]; int n; };");
        assert!(facts.member_lengths["name"].contains("MAX+1"));
        assert_eq!(facts.member_lengths.len(), 1);
    }
}
