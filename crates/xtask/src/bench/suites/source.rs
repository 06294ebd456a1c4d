//! C sources as far as expectations need them: where functions are, and which lines a
//! conditional leaves out.

use std::collections::BTreeSet;

use super::model::Function;

/// The definitions of functions, in the order of the file. Old-style parameter declarations
/// are not followed.
pub fn functions(text: &str) -> Vec<Function> {
    let code = code_only(text);
    let mut functions = Vec::new();
    let mut declaration = Declaration::default();
    let mut open: Option<(String, u32)> = None;
    let (mut line, mut braces, mut parens) = (1, 0_usize, 0_usize);
    let mut word = String::new();
    for c in code.chars() {
        if c.is_alphanumeric() || c == '_' {
            if braces == 0 {
                declaration.begins(line);
                word.push(c);
            }
            continue;
        }
        if braces == 0 && parens == 0 && !word.is_empty() {
            declaration.last_word = std::mem::take(&mut word);
        }
        word.clear();
        match c {
            '\n' => line += 1,
            '(' if braces == 0 => {
                if parens == 0 {
                    declaration.names_a_function();
                }
                parens += 1;
            }
            ')' if braces == 0 => parens = parens.saturating_sub(1),
            '{' => {
                if braces == 0 && parens == 0 && !declaration.is_initialised {
                    open = declaration.name.take().zip(declaration.line);
                }
                braces += 1;
            }
            '}' => {
                braces = braces.saturating_sub(1);
                if let Some((name, first)) = open.take_if(|_| braces == 0) {
                    functions.push(Function { name, first, last: line });
                    declaration = Declaration::default();
                }
            }
            ';' if braces == 0 && parens == 0 => declaration = Declaration::default(),
            '=' if braces == 0 && parens == 0 => declaration.is_initialised = true,
            _ => {}
        }
    }
    functions
}

/// The innermost definition around a line.
pub fn function_at(functions: &[Function], line: u32) -> Option<&Function> {
    functions.iter().find(|f| f.first <= line && line <= f.last)
}

#[derive(Default)]
struct Declaration {
    line: Option<u32>,
    last_word: String,
    name: Option<String>,
    is_initialised: bool,
}

impl Declaration {
    fn begins(&mut self, line: u32) {
        self.line.get_or_insert(line);
    }

    /// The word before the first list in parentheses that is no attribute.
    fn names_a_function(&mut self) {
        const NOT_NAMES: &[&str] =
            &["__attribute__", "__attribute", "__asm__", "asm", "__typeof__", "typeof", "_Alignas"];
        let word = std::mem::take(&mut self.last_word);
        if self.name.is_none() && !word.is_empty() && !NOT_NAMES.contains(&word.as_str()) {
            self.name = Some(word);
        }
    }
}

/// The text with comments, literals and preprocessor lines made blank; lines stay lines.
fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut is_line_start = true;
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|&c| c != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if c == '\n' {
                        code.push('\n');
                    }
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '"' | '\'' => {
                code.push(' ');
                while let Some(d) = chars.next_if(|&d| d != '\n') {
                    match d {
                        '\\' => drop(chars.next_if(|&e| e != '\n')),
                        d if d == c => break,
                        _ => {}
                    }
                }
            }
            '#' if is_line_start => {
                let mut last = ' ';
                while let Some(d) = chars.next_if(|&d| d != '\n' || last == '\\') {
                    if d == '\n' {
                        code.push('\n');
                    }
                    last = d;
                }
            }
            c => {
                is_line_start = c == '\n' || (is_line_start && c.is_whitespace());
                code.push(c);
                continue;
            }
        }
    }
    code
}

/// Which lines (the first is at 0) a simple conditional leaves out: `#ifdef`, `#ifndef` and
/// `#if defined` of one name that is a flag's, the file's own or `__cplusplus`, and `#if` with
/// a number. All branches of others stay.
pub fn left_out(text: &str, flags: &[String]) -> Vec<bool> {
    let mut defined: BTreeSet<String> = flags
        .iter()
        .filter_map(|flag| flag.strip_prefix("-D"))
        .map(|name| name.split('=').next().unwrap_or(name).to_owned())
        .collect();
    let own: BTreeSet<&str> = text.lines().filter_map(|line| directive(line, "define")).collect();
    // For each open conditional: whether this branch is left out, and whether its `#else` is.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_out = open.iter().any(|(is_out, _)| *is_out);
        lines.push(is_out);
        if let Some(name) = directive(line, "define").filter(|_| !is_out) {
            defined.insert(name.to_owned());
        } else if let Some(value) = condition(line, &defined, &own) {
            open.push(value.map_or((false, false), |holds| (!holds, holds)));
        } else if directive(line, "elif").is_some() {
            // Which of several branches counts is not followed.
            if let Some(top) = open.last_mut() {
                *top = (top.1, top.1);
            }
        } else if is_directive(line, "else") {
            if let Some(top) = open.last_mut() {
                top.0 = top.1;
            }
        } else if is_directive(line, "endif") {
            open.pop();
        }
    }
    lines
}

/// Whether the line opens a conditional, and whether its condition holds where that is known.
fn condition(line: &str, defined: &BTreeSet<String>, own: &BTreeSet<&str>) -> Option<Option<bool>> {
    let is_known = |name: &str| {
        if defined.contains(name) {
            return Some(true);
        }
        // Names with two underscores are the compiler's.
        (name == "__cplusplus" || own.contains(name) || !name.starts_with("__")).then_some(false)
    };
    if let Some(name) = directive(line, "ifdef") {
        return Some(is_known(name));
    }
    if let Some(name) = directive(line, "ifndef") {
        return Some(is_known(name).map(|holds| !holds));
    }
    if !is_directive(line, "if") {
        return None;
    }
    let words = line.trim_start().trim_start_matches('#').trim_start();
    let expression = words.strip_prefix("if")?.split("//").next()?.split("/*").next()?.trim();
    if let Ok(number) = expression.parse::<i64>() {
        return Some(Some(number != 0));
    }
    let (negated, rest) = match expression.strip_prefix('!') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, expression),
    };
    let name = rest.strip_prefix("defined").map(|n| n.trim().trim_matches(['(', ')']).trim());
    let is_name = |n: &&str| !n.is_empty() && n.chars().all(|c| c.is_alphanumeric() || c == '_');
    Some(name.filter(is_name).and_then(is_known).map(|holds| holds != negated))
}

/// The first word behind such a directive.
fn directive<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(name)?;
    if !rest.starts_with(|c: char| c.is_whitespace()) {
        return None;
    }
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn is_directive(line: &str, name: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
    rest.and_then(|rest| rest.strip_prefix(name))
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, u32, u32)> {
        functions(text).into_iter().map(|f| (f.name, f.first, f.last)).collect()
    }

    #[test]
    fn definitions_are_found_with_their_lines() {
        let text = "struct s { int x; };\n\
                    int table[] = { 1, 2 };\n\
                    int f(int a);\n\
                    static int\n\
                    f(int a)\n\
                    {\n\
                      if (a) { return '}'; } /* } */\n\
                      return 0;\n\
                    }\n\
                    __attribute__((noreturn)) void g(void) { char *s = \"}\"; }\n";
        assert_eq!(found(text), [("f".to_owned(), 4, 9), ("g".to_owned(), 10, 10)]);
    }

    #[test]
    fn a_file_that_ends_early_has_no_half_definitions() {
        assert_eq!(found("void f(void) {\n if (1) {\n"), []);
        assert_eq!(found("} } void f(void) {}"), [("f".to_owned(), 1, 1)]);
        assert_eq!(found("/* never closed"), []);
        assert_eq!(found("\"never closed"), []);
    }

    #[test]
    fn macros_are_no_code() {
        let text = "#define X(a) \\\n  void f##a(void) {\nvoid g(void) {\n}\n";
        assert_eq!(found(text), [("g".to_owned(), 3, 4)]);
    }

    #[test]
    fn conditionals_leave_lines_out() {
        let text = "#ifdef A\none\n#else\ntwo\n#endif\n#if 0\nthree\n#endif\n\
                    #if UNKNOWN > 3\nfour\n#else\nfive\n#endif\n#if !defined(A)\nsix\n#endif\n";
        let kept = |flags: &[String]| -> Vec<&str> {
            let out = left_out(text, flags);
            let lines = text.lines().zip(out).filter(|(line, out)| !out && !line.starts_with('#'));
            lines.map(|(line, _)| line).collect()
        };
        assert_eq!(kept(&[]), ["two", "four", "five", "six"]);
        assert_eq!(kept(&["-DA=1".to_owned()]), ["one", "four", "five"]);
        assert_eq!(left_out("#endif\n#else\nx\n", &[]), [false; 3]);
    }
}
