//! One declaration at file scope, as far as deciding whether it is needed asks.

use super::super::lexer::Kind;
use super::Word;

/// What becomes of a declaration.
pub enum Role<'a> {
    /// It defines something, or is not understood.
    Kept,
    /// It only declares these names, besides its tags and enumerators.
    Declares(Vec<&'a [u8]>),
}

/// `struct`, `union` or `enum` and a name, at file scope.
pub struct Tag<'a> {
    pub name: &'a [u8],
    pub is_defined: bool,
}

/// A token outside all parentheses and braces, or a group of these.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item<'a> {
    Name(&'a [u8]),
    Keyword(&'a [u8]),
    /// With the first name inside, where that may be a declarator.
    Parentheses(Option<&'a [u8]>),
    Braces,
    Brackets,
    Other(&'a [u8]),
}

pub struct Outline<'a> {
    items: Vec<Item<'a>>,
    pub tags: Vec<Tag<'a>>,
    pub enumerators: Vec<&'a [u8]>,
    /// An attribute makes the compiler emit what nothing refers to.
    is_emitted: bool,
}

impl<'a> Outline<'a> {
    pub fn of(words: &[Word<'a>]) -> Self {
        let mut outline = Outline {
            items: Vec::new(),
            tags: Vec::new(),
            enumerators: Vec::new(),
            is_emitted: false,
        };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at = match word.text {
                text if begins_attribute(text) => outline.attribute(words, at),
                b"(" => outline.parentheses(words, at),
                b"{" | b"<%" => outline.braces(words, at),
                b"[" | b"<:" => {
                    outline.items.push(Item::Brackets);
                    group_end(words, at)
                }
                text => {
                    outline.tag(words, at);
                    outline.items.push(match word.kind {
                        Kind::Ident if is_keyword(text) => Item::Keyword(text),
                        Kind::Ident => Item::Name(text),
                        _ => Item::Other(text),
                    });
                    at + 1
                }
            };
        }
        outline
    }

    fn attribute(&mut self, words: &[Word<'a>], at: usize) -> usize {
        let end = attribute_end(words, at);
        self.is_emitted |= words[at..end].iter().any(|word| makes_emitted(word.text));
        end
    }

    fn parentheses(&mut self, words: &[Word<'a>], at: usize) -> usize {
        let end = group_end(words, at);
        let inside = &words[at + 1..end.max(at + 2) - 1];
        let begins_declarator =
            |word: &Word| matches!(word.text, b"*" | b"^" | b"(") || begins_attribute(word.text);
        let may_declare = inside.len() == 1
            || inside.first().is_some_and(begins_declarator)
            || words.get(end).is_some_and(|word| matches!(word.text, b"(" | b"[" | b"<:"));
        let is_name = |word: &&Word| word.kind == Kind::Ident && !is_keyword(word.text);
        let declared = inside.iter().find(is_name).filter(|_| may_declare);
        self.items.push(Item::Parentheses(declared.map(|word| word.text)));
        end
    }

    /// Braces of a tag hold members and enumerators; what a function's hold is its own.
    fn braces(&mut self, words: &[Word<'a>], at: usize) -> usize {
        let end = group_end(words, at);
        if !ends_in_function_head(&words[..at]) && !self.has_other(b"=") {
            let is_enum = |at: usize| words[at].text == b"enum";
            for inner in at..end {
                self.tag(words, inner);
                let opens = matches!(words[inner].text, b"{" | b"<%");
                let mut before = (0..inner).rev().take(HEAD_OF_ENUM);
                let stop =
                    |&at: &usize| matches!(words[at].text, b"{" | b"}" | b";" | b"<%" | b"%>");
                if opens && before.by_ref().take_while(|at| !stop(at)).any(is_enum) {
                    let body = &words[inner..group_end(words, inner)];
                    let names = body.iter().filter(|word| word.kind == Kind::Ident);
                    self.enumerators.extend(names.map(|word| word.text));
                }
            }
        }
        self.items.push(Item::Braces);
        end
    }

    /// Notes the tag that follows the keyword at `at`.
    fn tag(&mut self, words: &[Word<'a>], at: usize) {
        if !matches!(words[at].text, b"struct" | b"union" | b"enum") {
            return;
        }
        let mut next = at + 1;
        while words.get(next).is_some_and(|word| begins_attribute(word.text)) {
            next = attribute_end(words, next);
        }
        if let Some(name) = words.get(next).filter(|word| word.kind == Kind::Ident) {
            let follows = words.get(next + 1).map(|word| word.text);
            let is_defined = matches!(follows, Some(b"{" | b"<%" | b";" | b":"));
            self.tags.push(Tag { name: name.text, is_defined });
        }
    }

    pub fn role(&self, has_body: bool) -> Role<'a> {
        let names = match has_body {
            _ if self.is_emitted || self.has_other(b"=") => None,
            true => self.function().filter(|_| self.has_keyword(b"static")),
            false => self.declaration(),
        };
        names.map_or(Role::Kept, Role::Declares)
    }

    /// `int f(a, b) int a;`: the first parameter of a function in the old style.
    pub fn begins_old_function(&self) -> bool {
        let is_old = |pair: &[Item]| {
            let [Item::Name(_), Item::Parentheses(_), after] = pair else { return false };
            matches!(after, Item::Name(_) | Item::Keyword(_))
        };
        !self.has_keyword(b"typedef") && self.items.windows(3).any(is_old)
    }

    /// The name of the one function declared; none where there is doubt.
    fn function(&self) -> Option<Vec<&'a [u8]>> {
        let [head @ .., Item::Name(name), Item::Parentheses(None), _] = self.items.as_slice()
        else {
            return None;
        };
        let is_group = |item: &Item| matches!(item, Item::Parentheses(_));
        (!head.iter().any(is_group)).then(|| vec![*name])
    }

    fn declaration(&self) -> Option<Vec<&'a [u8]>> {
        match self.items.as_slice() {
            [.., Item::Other(b";")] if self.has_keyword(b"typedef") => Some(self.declarators()),
            [Item::Keyword(b"_Static_assert" | b"static_assert"), Item::Parentheses(_), _] => {
                Some(Vec::new())
            }
            [head @ .., Item::Other(b";")] if self.is_only_tag(head) => Some(Vec::new()),
            [.., Item::Other(b";")] => {
                let is_extern = self.has_keyword(b"extern");
                self.function().or_else(|| is_extern.then(|| self.declarators()))
            }
            _ => None,
        }
    }

    fn is_only_tag(&self, head: &[Item]) -> bool {
        let is_tag = |word: &[u8]| matches!(word, b"struct" | b"union" | b"enum");
        match head {
            [Item::Keyword(word), Item::Name(_)] => is_tag(word),
            [Item::Keyword(word), Item::Braces] => is_tag(word),
            [Item::Keyword(word), Item::Name(_), Item::Braces] => is_tag(word),
            _ => false,
        }
    }

    /// Every name that may be a declarator's; those of types come along.
    fn declarators(&self) -> Vec<&'a [u8]> {
        let name = |item: &Item<'a>| match *item {
            Item::Name(name) => Some(name),
            Item::Parentheses(declared) => declared,
            _ => None,
        };
        self.items.iter().filter_map(name).collect()
    }

    fn has_keyword(&self, keyword: &[u8]) -> bool {
        self.items.contains(&Item::Keyword(keyword))
    }

    fn has_other(&self, text: &[u8]) -> bool {
        self.items.contains(&Item::Other(text))
    }
}

/// Tokens between `enum` and its brace that are looked through.
const HEAD_OF_ENUM: usize = 32;

/// Whether a brace after `words` begins the body of a function.
pub fn ends_in_function_head(words: &[Word]) -> bool {
    let mut end = 0;
    let mut at = 0;
    // Attributes may stand between the parameters and the body.
    while at < words.len() {
        if begins_attribute(words[at].text) {
            at = attribute_end(words, at);
        } else {
            at += 1;
            end = at;
        }
    }
    match words[..end].last() {
        None => true,
        Some(word) => word.text == b")",
    }
}

/// Where the group that opens at `at` ends; the end of all where it does not close.
fn group_end(words: &[Word], at: usize) -> usize {
    let mut depth = 0_u32;
    for (index, word) in words.iter().enumerate().skip(at) {
        match word.text {
            b"{" | b"<%" | b"(" | b"[" | b"<:" => depth += 1,
            b"}" | b"%>" | b")" | b"]" | b":>" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    words.len()
}

fn begins_attribute(text: &[u8]) -> bool {
    matches!(
        text,
        b"__attribute__"
            | b"__attribute"
            | b"__declspec"
            | b"__extension__"
            | b"asm"
            | b"__asm"
            | b"__asm__"
    )
}

/// Where the attribute or label at `at` ends, with its parentheses if it has any.
fn attribute_end(words: &[Word], at: usize) -> usize {
    match words.get(at + 1) {
        Some(word) if word.text == b"(" => group_end(words, at + 1),
        _ => at + 1,
    }
}

fn makes_emitted(attribute: &[u8]) -> bool {
    let bare = attribute.strip_prefix(b"__").and_then(|rest| rest.strip_suffix(b"__"));
    matches!(
        bare.unwrap_or(attribute),
        b"used" | b"retain" | b"constructor" | b"destructor" | b"alias" | b"ifunc" | b"weakref"
    )
}

/// Words that are no names; a missing one costs nothing but work.
pub fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"auto"
            | b"break"
            | b"case"
            | b"char"
            | b"const"
            | b"continue"
            | b"default"
            | b"do"
            | b"double"
            | b"else"
            | b"enum"
            | b"extern"
            | b"float"
            | b"for"
            | b"goto"
            | b"if"
            | b"inline"
            | b"int"
            | b"long"
            | b"register"
            | b"restrict"
            | b"return"
            | b"short"
            | b"signed"
            | b"sizeof"
            | b"static"
            | b"struct"
            | b"switch"
            | b"typedef"
            | b"union"
            | b"unsigned"
            | b"void"
            | b"volatile"
            | b"while"
            | b"typeof"
            | b"__typeof__"
            | b"__typeof"
            | b"_Bool"
            | b"_Complex"
            | b"_Noreturn"
            | b"_Thread_local"
            | b"__thread"
            | b"_Atomic"
            | b"_Alignas"
            | b"_Alignof"
            | b"_Generic"
            | b"_Static_assert"
            | b"static_assert"
            | b"__inline"
            | b"__inline__"
            | b"__restrict"
            | b"__restrict__"
            | b"__const"
            | b"__const__"
            | b"__volatile__"
            | b"__volatile"
            | b"__signed__"
            | b"__signed"
            | b"__int128"
            | b"_Float16"
            | b"_Float32"
            | b"_Float64"
            | b"_Float128"
            | b"_Float32x"
            | b"_Float64x"
            | b"__float128"
            | b"__builtin_va_list"
    )
}
