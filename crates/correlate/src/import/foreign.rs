//! Rules of other tools by name: a table of data, `foreign.txt`.

/// One line of the table.
struct Line {
    rule: &'static str,
    words: Option<&'static str>,
    ours: &'static str,
}

fn lines() -> impl Iterator<Item = Line> {
    include_str!("foreign.txt").lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (theirs, ours) = line.split_once(" = ")?;
        let mut parts = theirs.splitn(3, '"');
        let rule = parts.next()?.trim();
        Some(Line { rule, words: parts.next(), ours })
    })
}

/// Our rules that a rule of another tool may be; none where nobody knows it.
pub fn ours(rule: &str, message: &str) -> impl Iterator<Item = &'static str> {
    let message = message.to_ascii_lowercase();
    let fits = |line: &Line| {
        is_like(line.rule, rule) && line.words.is_none_or(|words| message.contains(words))
    };
    lines().find(fits).into_iter().flat_map(|line| line.ours.split_whitespace())
}

/// Whether a name is like a pattern in which a star stands for any text.
fn is_like(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_names_rules_of_ours() {
        let known = spec::discover::FAULTS;
        assert!(lines().count() > 80);
        for line in lines() {
            for ours in line.ours.split_whitespace() {
                assert!(known.iter().any(|fault| fault.id == ours), "{}: {ours}", line.rule);
            }
        }
    }

    #[test]
    fn rules_are_found_by_name_and_words() {
        let found = |rule, message| ours(rule, message).collect::<Vec<_>>();
        assert_eq!(found("unix.Malloc", "Attempt to free released memory"), ["double-free"]);
        assert_eq!(found("unix.Malloc", "Use of memory after it is freed"), ["use-after-free"]);
        assert_eq!(found("unix.Malloc", "Potential leak of memory"), ["leak"]);
        assert_eq!(found("core.uninitialized.Assign", ""), ["uninitialized-read"]);
        assert_eq!(found("-Wanalyzer-possible-null-argument", ""), ["null-dereference"]);
        assert_eq!(found("-Wmaybe-uninitialized", ""), ["uninitialized-read"]);
        assert_eq!(found("PULSE_RESOURCE_LEAK", ""), ["leak"]);
        assert_eq!(found("BUFFER_OVERRUN_L1", "").len(), 3);
        assert_eq!(found("zerodivcond", ""), ["divide-by-zero"]);
        assert_eq!(found("deadcode.DeadStores", "Value stored").len(), 0);
        assert_eq!(found("nullable", "").len(), 0);
    }
}
