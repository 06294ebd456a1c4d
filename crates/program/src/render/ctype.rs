//! C types as C spells them: `char (*)[10]`, `struct node *const`.

use crate::{CType, Program, RecordId, RecordKind, TypeId};

/// Declarators nest as deep as the source had them; deeper than this is no C.
const MAX_NESTING: u32 = 100;

impl Program {
    /// The name of a type, as in a cast.
    pub fn type_name(&self, id: TypeId) -> String {
        self.declaration(id, "")
    }

    /// A declaration of `name` with the type: `char (*name)[10]`.
    pub fn declaration(&self, id: TypeId, name: &str) -> String {
        self.declare(id, name.to_owned(), String::new(), 0)
    }

    /// `struct tag`, or where a record without a tag stands.
    pub fn record_name(&self, id: RecordId) -> String {
        let record = &self.records[id];
        let keyword = match record.kind {
            RecordKind::Struct => "struct",
            RecordKind::Union => "union",
        };
        if !record.name.is_empty() {
            return format!("{keyword} {}", record.name);
        }
        match self.locs.get(record.loc).filter(|loc| loc.line > 0) {
            Some(loc) => {
                let path = self.files.get(loc.file).map_or("?", |file| &file.path);
                format!("{keyword} <unnamed at {path}:{}>", loc.line)
            }
            None => format!("{keyword} <unnamed>"),
        }
    }

    /// Wraps `inner`, the declarator so far, in the type; `qualifiers` end in a blank.
    fn declare(&self, id: TypeId, inner: String, qualifiers: String, depth: u32) -> String {
        if depth > MAX_NESTING {
            return join(&qualifiers, "...", &inner);
        }
        let with = |name: &str| format!("{name} {qualifiers}");
        match &self.types[id] {
            CType::Const(target) => self.declare(*target, inner, with("const"), depth + 1),
            CType::Volatile(target) => self.declare(*target, inner, with("volatile"), depth + 1),
            CType::Restrict(target) => self.declare(*target, inner, with("restrict"), depth + 1),
            CType::Atomic(target) => self.declare(*target, inner, with("_Atomic"), depth + 1),
            CType::Pointer(target) => {
                let blank = if inner.is_empty() { "" } else { " " };
                let qualifiers = match qualifiers.trim_end() {
                    "" => String::new(),
                    qualifiers => format!("{qualifiers}{blank}"),
                };
                let pointer = format!("*{qualifiers}{inner}");
                let binds_tighter = self.is_array_or_function(*target);
                let pointer = if binds_tighter { format!("({pointer})") } else { pointer };
                self.declare(*target, pointer, String::new(), depth + 1)
            }
            CType::Array { element, count } => {
                let count = count.map_or_else(String::new, |count| count.to_string());
                // Qualifiers of an array are its elements'.
                self.declare(*element, format!("{inner}[{count}]"), qualifiers, depth + 1)
            }
            CType::Function { result, params, variadic } => {
                let mut params: Vec<String> = params
                    .iter()
                    .map(|param| self.declare(*param, String::new(), String::new(), depth + 1))
                    .collect();
                if *variadic {
                    params.push("...".to_owned());
                } else if params.is_empty() {
                    params.push("void".to_owned());
                }
                let function = format!("{inner}({})", params.join(", "));
                self.declare(*result, function, String::new(), depth + 1)
            }
            CType::Vector { element, count } => {
                let vector = format!("__attribute__((vector_size({count} elements)))");
                let inner = if inner.is_empty() { vector } else { format!("{vector} {inner}") };
                self.declare(*element, inner, qualifiers, depth + 1)
            }
            CType::Unknown => join(&qualifiers, "<unknown type>", &inner),
            CType::Void => join(&qualifiers, "void", &inner),
            CType::Bool => join(&qualifiers, "_Bool", &inner),
            CType::Int { name, .. } | CType::Float { name, .. } | CType::Typedef { name, .. } => {
                join(&qualifiers, name, &inner)
            }
            CType::Complex { bits } => {
                let name = match bits {
                    64 => "float _Complex",
                    128 => "double _Complex",
                    _ => "long double _Complex",
                };
                join(&qualifiers, name, &inner)
            }
            CType::Enum { name, .. } if name.is_empty() => {
                join(&qualifiers, "enum <unnamed>", &inner)
            }
            CType::Enum { name, .. } => join(&qualifiers, &format!("enum {name}"), &inner),
            CType::Record(record) => join(&qualifiers, &self.record_name(*record), &inner),
        }
    }

    fn is_array_or_function(&self, mut id: TypeId) -> bool {
        for _ in 0..MAX_NESTING {
            match self.types[id] {
                CType::Const(inner) | CType::Volatile(inner) | CType::Atomic(inner) => id = inner,
                CType::Array { .. } | CType::Function { .. } => return true,
                _ => return false,
            }
        }
        false
    }
}

fn join(qualifiers: &str, base: &str, declarator: &str) -> String {
    let blank = if declarator.is_empty() { "" } else { " " };
    format!("{qualifiers}{base}{blank}{declarator}")
}
