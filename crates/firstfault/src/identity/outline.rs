//! Comments and functions of a C file, found in its text alone.
//!
//! This is no parser: it has to work on text that does not compile, and only needs to know
//! what is a comment and where functions begin and end.

/// A file as far as comments and functions go.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Lines from 1, with the text of each comment that begins there.
    pub comments: Vec<(u32, String)>,
    pub functions: Vec<Extent>,
    /// By line from 0: whether anything but comments and blanks stands there.
    pub has_code: Vec<bool>,
}

/// A function's name, first and last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    pub name: String,
    pub first: u32,
    pub last: u32,
}

impl Outline {
    pub fn new(content: &[u8]) -> Self {
        let text = String::from_utf8_lossy(content);
        let (code, comments) = without_comments(&text);
        let has_code = code.lines().map(|line| !line.trim().is_empty()).collect();
        Self { comments, functions: functions(&code), has_code }
    }

    /// The function this line belongs to.
    pub fn function_at(&self, line: u32) -> Option<&Extent> {
        self.functions.iter().find(|function| (function.first..=function.last).contains(&line))
    }

    /// The first line from this one on that has code.
    pub fn code_from(&self, line: u32) -> Option<u32> {
        let start = line.saturating_sub(1) as usize;
        let at = self.has_code.iter().skip(start).position(|has_code| *has_code)?;
        u32::try_from(start + at + 1).ok()
    }
}

/// The text with comments and the content of literals blanked out, and the comments.
fn without_comments(text: &str) -> (String, Vec<(u32, String)>) {
    let mut code = String::with_capacity(text.len());
    let mut comments = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |at| at + 4),
            '"' | '\'' => literal(rest, first),
            first => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        if token.starts_with("//") || token.starts_with("/*") {
            comments.push((line, token.to_owned()));
        }
        if token.len() == first.len_utf8() {
            code.push(first);
        } else {
            code.extend(token.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            // A literal is code, whatever is in it.
            if first == '"' || first == '\'' {
                code.push('0');
            }
        }
        line += token.matches('\n').count() as u32;
        rest = after;
    }
    (code, comments)
}

/// The length of a literal; one that does not end in its line is only a quote.
fn literal(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' if !escaped => break,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    1
}

fn functions(code: &str) -> Vec<Extent> {
    let mut functions = Vec::new();
    let mut depth = 0u32;
    let mut header = String::new();
    let mut first = 0;
    let mut open: Option<Extent> = None;
    let mut in_directive = false;
    for (line, text) in (1..).zip(code.lines()) {
        let is_directive = in_directive || text.trim_start().starts_with('#');
        in_directive = is_directive && text.trim_end().ends_with('\\');
        if is_directive {
            continue;
        }
        // A brace in the first column ends a function, whatever conditional code left open.
        if text.starts_with('}') {
            depth = depth.min(1);
        }
        for c in text.chars() {
            match c {
                '{' => {
                    if depth == 0 {
                        let name = function_name(&header);
                        open = name.map(|name| Extent { name, first, last: line });
                    }
                    depth += 1;
                }
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        functions.extend(open.take().map(|open| Extent { last: line, ..open }));
                        header.clear();
                    }
                }
                ';' if depth == 0 && !is_old_style(&header) => header.clear(),
                c if depth == 0 => {
                    if header.is_empty() && !c.is_whitespace() {
                        first = line;
                    }
                    if !header.is_empty() || !c.is_whitespace() {
                        header.push(c);
                    }
                }
                _ => {}
            }
        }
        if depth == 0 && !header.is_empty() {
            header.push(' ');
        }
    }
    functions
}

/// `int f(a, b) int a` before the semicolon: the declaration of a parameter.
fn is_old_style(header: &str) -> bool {
    let after = header.rsplit(')').next().unwrap_or_default();
    header.contains(')') && after.contains(|c: char| c.is_alphanumeric()) && !header.contains('=')
}

/// The name before the parameters; `None` for what is no function.
fn function_name(header: &str) -> Option<String> {
    if header.contains('=') {
        return None;
    }
    let mut depth = 0;
    for (at, c) in header.char_indices() {
        match c {
            '(' => {
                let before = header[..at].trim_end();
                let start = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
                let name = &before[start.map_or(0, |at| at + 1)..];
                let is_attribute = matches!(name, "__attribute__" | "__declspec" | "_Alignas");
                if depth == 0 && !name.is_empty() && !is_attribute {
                    return Some(name.to_owned());
                }
                depth += 1;
            }
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "/* about\n * it */\n#define OPEN {\nstruct s { int x; };\n\
        static int table[] = { f(1), 2 };\n\n// says why\n__attribute__((cold)) static int\n\
        one(int a)\n{\n  char *s = \"}\\\"{\"; // inside\n  if (a) { return '}'; }\n  return 0;\n}\n\
        int old(a, b)\n  int a;\n  char *b;\n{\n  return a;\n}\nint proto(int);\n\
        #if X\nint two(void) {\n#else\nint two(int y) {\n#endif\n  return 1;\n}\n\
        int three(void) { return 3; }\n";

    #[test]
    fn functions_are_found() {
        let outline = Outline::new(TEXT.as_bytes());
        let found: Vec<(&str, u32, u32)> =
            outline.functions.iter().map(|f| (f.name.as_str(), f.first, f.last)).collect();
        let expected = [("one", 8, 14), ("old", 15, 20), ("two", 23, 28), ("three", 29, 29)];
        assert_eq!(found, expected);
        assert_eq!(outline.function_at(12).unwrap().name, "one");
        assert_eq!(outline.function_at(4), None);
    }

    #[test]
    fn comments_are_found_and_strings_are_none() {
        let outline = Outline::new(TEXT.as_bytes());
        let lines: Vec<u32> = outline.comments.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 7, 11]);
        assert_eq!(outline.code_from(7), Some(8));
        assert_eq!(outline.code_from(1), Some(3));
        assert_eq!(outline.code_from(99), None);
        let odd = Outline::new(b"char *s = \"// no\"; \xff\n/*/ never ends\nint x;");
        assert_eq!(odd.comments.len(), 1);
        assert_eq!(odd.has_code, [true, false, false]);
    }
}
