//! Which macros are defined at the current point of the preprocessor's output.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::lexer::{Dialect, Kind, Lexer, Token};

/// Index of a definition; definitions are never dropped, so an index stays valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacroId(u32);

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Defined(MacroId),
    /// `__LINE__` and the like: one token the compiler makes up.
    Builtin,
    /// `__has_builtin(x)` and the like.
    BuiltinCall,
}

#[derive(Debug)]
pub struct Macro<'a> {
    /// `None` for an object-like macro.
    pub params: Option<Vec<&'a [u8]>>,
    /// The last parameter takes all remaining arguments.
    pub is_variadic: bool,
    pub body: Rc<[BodyToken<'a>]>,
}

#[derive(Clone, Debug)]
pub struct BodyToken<'a> {
    pub text: &'a [u8],
    pub kind: Kind,
    pub space: bool,
    pub param: Option<usize>,
}

struct Definition<'a> {
    /// What follows `#define `, kept until the macro is first used.
    source: &'a [u8],
    parsed: Option<Rc<Macro<'a>>>,
    /// How many expansions of it are being rescanned; while there are any, its own name
    /// is not expanded.
    active: u32,
    is_hopeless: bool,
}

pub struct MacroTable<'a> {
    names: FxHashMap<&'a [u8], MacroId>,
    definitions: Vec<Definition<'a>>,
    pushed: FxHashMap<Vec<u8>, Vec<Option<MacroId>>>,
    is_strict: bool,
    /// The value of `__STDC_VERSION__`; C89 has none.
    standard: &'a [u8],
}

impl<'a> MacroTable<'a> {
    pub fn new() -> Self {
        Self {
            names: FxHashMap::default(),
            definitions: Vec::new(),
            pushed: FxHashMap::default(),
            is_strict: false,
            standard: b"",
        }
    }

    pub fn dialect(&self) -> Dialect {
        let is_c23 = self.standard > &b"201710L"[..];
        let is_c99 = self.standard >= &b"199901L"[..];
        Dialect {
            trigraphs: self.is_strict && !is_c23,
            digit_separators: is_c23,
            no_line_comments: self.is_strict && !is_c99,
            keeps_lone_comma: self.is_strict && is_c99,
        }
    }

    /// Takes the text after `#define `.
    pub fn define(&mut self, source: &'a [u8]) {
        let name = leading_name(source);
        match name {
            b"__STRICT_ANSI__" => self.is_strict = true,
            b"__STDC_VERSION__" => self.standard = source[name.len()..].trim_ascii(),
            _ => {}
        }
        let id = MacroId(self.definitions.len() as u32);
        self.definitions.push(Definition { source, parsed: None, active: 0, is_hopeless: false });
        self.names.insert(name, id);
    }

    pub fn undefine(&mut self, source: &'a [u8]) {
        self.names.remove(leading_name(source.trim_ascii_start()));
    }

    /// Acts on `push_macro("X")` and `pop_macro("X")`.
    pub fn push_or_pop(&mut self, pragma: &'a [u8]) {
        let quoted = || {
            let start = memchr::memchr(b'"', pragma)? + 1;
            let length = memchr::memchr(b'"', &pragma[start..])?;
            Some(&pragma[start..start + length])
        };
        if pragma.starts_with(b"push_macro") {
            if let Some(name) = quoted() {
                let current = self.names.get(name).copied();
                self.pushed.entry(name.to_vec()).or_default().push(current);
            }
        } else if pragma.starts_with(b"pop_macro")
            && let Some(name) = quoted()
            && let Some(saved) = self.pushed.get_mut(name).and_then(Vec::pop)
        {
            match saved {
                Some(id) => self.names.insert(name, id),
                None => self.names.remove(name),
            };
        }
    }

    pub fn lookup(&self, name: &[u8]) -> Option<Named> {
        match self.names.get(name) {
            Some(&id) => Some(Named::Defined(id)),
            None if name.starts_with(b"__") => builtin(name),
            None => None,
        }
    }

    pub fn get(&mut self, id: MacroId) -> Rc<Macro<'a>> {
        let dialect = self.dialect();
        let definition = &mut self.definitions[id.0 as usize];
        let source = definition.source;
        definition.parsed.get_or_insert_with(|| Rc::new(parse(source, dialect))).clone()
    }

    pub fn is_active(&self, id: MacroId) -> bool {
        self.definitions[id.0 as usize].active > 0
    }

    /// Whether expanding the macro once took too much work.
    pub fn is_hopeless(&self, name: &[u8]) -> bool {
        self.names.get(name).is_some_and(|id| self.definitions[id.0 as usize].is_hopeless)
    }

    pub fn give_up(&mut self, name: &[u8]) {
        if let Some(id) = self.names.get(name) {
            self.definitions[id.0 as usize].is_hopeless = true;
        }
    }

    pub fn enter(&mut self, id: MacroId) {
        self.definitions[id.0 as usize].active += 1;
    }

    pub fn leave(&mut self, id: MacroId) {
        let active = &mut self.definitions[id.0 as usize].active;
        *active = active.saturating_sub(1);
    }
}

fn leading_name(source: &[u8]) -> &[u8] {
    let end = source.iter().position(|&byte| !super::lexer::is_ident_byte(byte) && byte != b'\\');
    &source[..end.unwrap_or(source.len())]
}

fn builtin(name: &[u8]) -> Option<Named> {
    match name {
        b"__LINE__"
        | b"__FILE__"
        | b"__FILE_NAME__"
        | b"__BASE_FILE__"
        | b"__INCLUDE_LEVEL__"
        | b"__DATE__"
        | b"__TIME__"
        | b"__TIMESTAMP__"
        | b"__COUNTER__"
        | b"__FLT_EVAL_METHOD__" => Some(Named::Builtin),
        b"__has_feature"
        | b"__has_extension"
        | b"__has_builtin"
        | b"__has_constexpr_builtin"
        | b"__has_attribute"
        | b"__has_c_attribute"
        | b"__has_cpp_attribute"
        | b"__has_declspec_attribute"
        | b"__has_warning"
        | b"__is_identifier"
        | b"__is_target_arch"
        | b"__is_target_vendor"
        | b"__is_target_os"
        | b"__is_target_environment"
        | b"__is_target_variant_os"
        | b"__is_target_variant_environment"
        | b"__building_module" => Some(Named::BuiltinCall),
        _ => None,
    }
}

/// Parses `NAME body` or `NAME(params) body` as clang prints definitions.
fn parse(source: &[u8], dialect: Dialect) -> Macro<'_> {
    let rest = &source[leading_name(source).len()..];
    let (params, is_variadic, body) = match rest.first() {
        Some(b'(') => {
            let close = memchr::memchr(b')', rest).unwrap_or(rest.len() - 1);
            let (params, is_variadic) = parse_params(&rest[1..close.max(1)]);
            (Some(params), is_variadic, &rest[close + 1..])
        }
        _ => (None, false, rest),
    };
    let param_of = |name: &[u8]| {
        params.as_ref().and_then(|params| params.iter().position(|&param| param == name))
    };
    let mut lexer = Lexer::new(body, dialect);
    let body = std::iter::from_fn(|| lexer.next_token())
        .map(|Token { start, end, kind, space, .. }| {
            let text = &body[start..end];
            let param = if kind == Kind::Ident { param_of(text) } else { None };
            BodyToken { text, kind, space, param }
        })
        .collect();
    Macro { params, is_variadic, body }
}

fn parse_params(list: &[u8]) -> (Vec<&[u8]>, bool) {
    let mut params = Vec::new();
    let mut is_variadic = false;
    for param in list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
        if param == b"..." {
            is_variadic = true;
            params.push(&b"__VA_ARGS__"[..]);
        } else if let Some(named) = param.strip_suffix(b"...") {
            is_variadic = true;
            params.push(named.trim_ascii());
        } else if !param.is_empty() {
            params.push(param);
        }
    }
    (params, is_variadic)
}
