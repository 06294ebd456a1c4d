//! Putting arguments into a macro's body: `#`, `##`, `__VA_OPT__` and GNU's `, ##args`.

use std::borrow::Cow;

use super::expand::{From, PpToken};
use super::lexer::{Dialect, Kind, as_single_token};
use super::macros::{BodyToken, Macro};

/// The arguments of one invocation.
pub struct Arguments<'a> {
    /// As written, one list for each parameter.
    pub raw: Vec<Vec<PpToken<'a>>>,
    /// Completely macro-expanded, for those that the body needs so.
    pub expanded: Vec<Option<Vec<PpToken<'a>>>>,
}

pub struct Substitution<'a, 'm> {
    pub definition: &'m Macro<'a>,
    pub arguments: &'m Arguments<'a>,
    /// Where tokens of the body are said to come from.
    pub from: From,
    pub dialect: Dialect,
}

/// Something `##` can stand beside: the tokens, and how many body tokens it takes up.
/// No tokens is what the standard calls a placemarker.
struct Element<'a> {
    tokens: Vec<PpToken<'a>>,
    length: usize,
    is_variadic_param: bool,
}

pub fn is_paste(token: &BodyToken) -> bool {
    matches!(token.text, b"##" | b"%:%:") && token.kind == Kind::Punct
}

fn is_hash(token: &BodyToken) -> bool {
    matches!(token.text, b"#" | b"%:") && token.kind == Kind::Punct
}

/// Which parameters of the macro are needed in expanded form.
pub fn needs_expansion(definition: &Macro) -> Vec<bool> {
    let n_params = definition.params.as_ref().map_or(0, Vec::len);
    let mut needed = vec![false; n_params];
    for (index, token) in definition.body.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &definition.body[before]);
        let after = definition.body.get(index + 1);
        if let Some(param) = token.param
            && !before.is_some_and(|before| is_hash(before) || is_paste(before))
            && !after.is_some_and(is_paste)
        {
            needed[param] = true;
        }
        if token.text == b"__VA_OPT__" && definition.is_variadic {
            needed[n_params - 1] = true;
        }
    }
    needed
}

impl<'a> Substitution<'a, '_> {
    /// The body with arguments in place and pastes done, ready to be scanned again.
    pub fn run(&self) -> Vec<PpToken<'a>> {
        self.substitute(&self.definition.body)
    }

    fn substitute(&self, body: &[BodyToken<'a>]) -> Vec<PpToken<'a>> {
        let mut output: Vec<PpToken<'a>> = Vec::new();
        // How many tokens at the end of `output` the latest element gave.
        let mut n_latest = 0;
        let mut index = 0;
        while index < body.len() {
            let pastes = is_paste(&body[index]) && index > 0 && index + 1 < body.len();
            if !pastes {
                let element = self.element(body, index);
                index += element.length;
                n_latest = element.tokens.len();
                output.extend(element.tokens);
                continue;
            }
            let element = self.element(body, index + 1);
            let after_comma = n_latest > 0 && output.last().is_some_and(|t| &*t.text == b",");
            index += 1 + element.length;
            if element.is_variadic_param && after_comma {
                n_latest = element.tokens.len();
                let keeps_comma = self.dialect.keeps_lone_comma && self.arguments.raw.len() < 2;
                if element.tokens.is_empty() && !keeps_comma {
                    output.pop();
                }
                output.extend(element.tokens);
            } else if n_latest == 0 || element.tokens.is_empty() {
                n_latest += element.tokens.len();
                output.extend(element.tokens);
            } else {
                let n_right = element.tokens.len();
                n_latest = self.paste(&mut output, element.tokens) + n_right - 1;
            }
        }
        output
    }

    /// The element of the body at `index`, a neighbour of `##` or not.
    fn element(&self, body: &[BodyToken<'a>], index: usize) -> Element<'a> {
        let token = &body[index];
        let is_function = self.definition.params.is_some();
        if is_function && is_hash(token) && index + 1 < body.len() {
            let next = &body[index + 1];
            if let Some(param) = next.param {
                let string = self.stringify(&self.arguments.raw[param], token.space);
                return Element { tokens: vec![string], length: 2, is_variadic_param: false };
            }
            if let Some((tokens, length)) = self.va_opt(body, index + 1) {
                let string = self.stringify(&tokens, token.space);
                return Element {
                    tokens: vec![string],
                    length: length + 1,
                    is_variadic_param: false,
                };
            }
        }
        if let Some((tokens, length)) = self.va_opt(body, index) {
            return Element { tokens, length, is_variadic_param: false };
        }
        let Some(param) = token.param else {
            let tokens = vec![self.body_token(token)];
            return Element { tokens, length: 1, is_variadic_param: false };
        };
        let beside_paste =
            (index > 0 && is_paste(&body[index - 1])) || body.get(index + 1).is_some_and(is_paste);
        let mut tokens = match (&self.arguments.expanded[param], beside_paste) {
            (Some(expanded), false) => expanded.clone(),
            _ => self.arguments.raw[param].clone(),
        };
        if let Some(first) = tokens.first_mut() {
            first.space = token.space;
        }
        let is_variadic_param =
            self.definition.is_variadic && param + 1 == self.arguments.raw.len();
        Element { tokens, length: 1, is_variadic_param }
    }

    /// `__VA_OPT__(content)` at `index`: its tokens and its length in the body.
    fn va_opt(&self, body: &[BodyToken<'a>], index: usize) -> Option<(Vec<PpToken<'a>>, usize)> {
        if !self.definition.is_variadic
            || body[index].text != b"__VA_OPT__"
            || body.get(index + 1)?.text != b"("
        {
            return None;
        }
        let mut depth = 0usize;
        let close = (index + 1..body.len()).find(|&at| {
            match body[at].text {
                b"(" => depth += 1,
                b")" => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        let variadic = self.arguments.expanded.last()?.as_ref()?;
        let mut tokens = match variadic.is_empty() {
            true => Vec::new(),
            false => self.substitute(&body[index + 2..close]),
        };
        if let Some(first) = tokens.first_mut() {
            first.space = body[index].space;
        }
        Some((tokens, close + 1 - index))
    }

    fn body_token(&self, token: &BodyToken<'a>) -> PpToken<'a> {
        PpToken {
            text: Cow::Borrowed(token.text),
            kind: token.kind,
            space: token.space,
            no_expand: false,
            wild: false,
            from: self.from,
        }
    }

    /// Pastes the last token of `output` with the first of `right`, appends the rest, and
    /// tells how many tokens the paste itself gave.
    fn paste(&self, output: &mut Vec<PpToken<'a>>, right: Vec<PpToken<'a>>) -> usize {
        let mut right = right.into_iter();
        let (Some(left), Some(first)) = (output.pop(), right.next()) else { return 0 };
        let text = [&*left.text, &*first.text].concat();
        let wild = left.wild || first.wild;
        // What cannot be pasted stays two tokens, as the compiler leaves it.
        let n_pasted = match as_single_token(&text, self.dialect) {
            Some(kind) => {
                let (space, from) = (left.space, self.from);
                let text = Cow::Owned(text);
                output.push(PpToken { text, kind, space, no_expand: false, wild, from });
                1
            }
            None => {
                output.extend([left, first]);
                2
            }
        };
        output.extend(right);
        n_pasted
    }

    fn stringify(&self, tokens: &[PpToken], space: bool) -> PpToken<'a> {
        let mut text = vec![b'"'];
        for (index, token) in tokens.iter().enumerate() {
            if index > 0 && token.space {
                text.push(b' ');
            }
            for &byte in &*token.text {
                if token.kind == Kind::Literal && matches!(byte, b'"' | b'\\') {
                    text.push(b'\\');
                }
                text.push(byte);
            }
        }
        text.push(b'"');
        let wild = tokens.iter().any(|token| token.wild);
        let (text, kind) = (Cow::Owned(text), Kind::Literal);
        PpToken { text, kind, space, no_expand: false, wild, from: self.from }
    }
}
