//! Judging sheets: findings with the source around each step, and templates for the verdicts.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::finding::{Finding, Step};
use super::verdicts::{self, CAUSES, Judged, Template, Verdict};

/// Lines shown before and after each step.
const AROUND: usize = 5;

/// Whose findings are on a sheet.
pub struct Subject<'a> {
    pub package: &'a str,
    pub version: &'a str,
    pub tool: &'a str,
    pub tree: &'a Path,
}

/// Writes `TOOL.md` and `TOOL.toml` into a folder. Verdicts that are there already stay, and those
/// the draw has are filled in; no sheet is begun where nothing is open. Returns how many are open.
pub fn write(
    folder: &Path,
    subject: &Subject<'_>,
    findings: &[Finding],
    judged: &[Judged],
) -> Result<usize> {
    let mut text = format!(
        "# {} {}, reported by {}\n\nThe whole source: `{}`\n",
        subject.package,
        subject.version,
        subject.tool,
        subject.tree.display()
    );
    let mut rows = Vec::new();
    for (n, finding) in (1..).zip(findings) {
        let row = row(subject, n, finding);
        describe(&mut text, &row, finding, subject.tree)?;
        rows.push(row);
    }
    let place = |ending: &str| folder.join(format!("{}.{ending}", subject.tool));
    let path = place("toml");
    let mut known: BTreeMap<_, Judged> = judged.iter().map(|f| (f.key(), f.clone())).collect();
    if path.exists() {
        let here = verdicts::template(&path)?.findings.into_iter();
        known.extend(here.filter(|f| f.verdict != Verdict::Open).map(|f| (f.key(), f)));
    }
    for row in &mut rows {
        if let Some(old) = known.get(&row.key()).filter(|old| is_same(old, row)) {
            *row = old.clone();
        }
    }
    let n_open = rows.iter().filter(|row| row.verdict == Verdict::Open).count();
    if n_open == 0 && !path.exists() {
        return Ok(0);
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write(&place("md"), &text)?;
    write(&path, &template(&rows))?;
    Ok(n_open)
}

fn is_same(old: &Judged, new: &Judged) -> bool {
    (&old.file, old.line, &old.rule, &old.message) == (&new.file, new.line, &new.rule, &new.message)
}

fn row(subject: &Subject<'_>, n: usize, finding: &Finding) -> Judged {
    let function = if finding.function.is_empty() {
        let source = source(subject.tree, &finding.file);
        head(&source, finding.line as usize).and_then(|head| name(&head.text)).unwrap_or_default()
    } else {
        finding.function.clone()
    };
    Judged {
        package: subject.package.to_owned(),
        version: subject.version.to_owned(),
        tool: subject.tool.to_owned(),
        id: format!("{}-{n:02}", subject.tool),
        rule: finding.rule.clone(),
        level: finding.level.clone(),
        file: finding.file.clone(),
        line: finding.line,
        function,
        message: finding.message.clone(),
        verdict: Verdict::Open,
        input: String::new(),
        cause: String::new(),
        why: String::new(),
    }
}

/// The template, with every field that is to be filled in, empty ones too.
fn template(rows: &[Judged]) -> String {
    let mut text = "# verdict: \"true\", \"false\" or \"unclear\".\n\
                    # input: for true, an input or sequence of calls that makes it happen.\n\
                    # why: for false and unclear, why it cannot happen or cannot be decided.\n\
                    # cause: for false, one of\n"
        .to_owned();
    for (cause, meaning) in CAUSES {
        let _ = writeln!(text, "#   {cause}: {meaning}");
    }
    for row in rows {
        let template = Template { findings: vec![row.clone()] };
        let entry = toml::to_string(&template).expect("strings and numbers can be written");
        let _ = write!(text, "\n{entry}");
        for (name, value) in [("input", &row.input), ("cause", &row.cause), ("why", &row.why)] {
            if value.is_empty() {
                let _ = writeln!(text, "{name} = \"\"");
            }
        }
    }
    text
}

fn describe(text: &mut String, row: &Judged, finding: &Finding, tree: &Path) -> Result<()> {
    let level = if row.level.is_empty() { String::new() } else { format!(", {}", row.level) };
    write!(text, "\n## {}: {} [{}{level}]\n\n", row.id, finding.message, finding.rule)?;
    writeln!(text, "`{}:{}` in `{}`", finding.file, finding.line, row.function)?;
    let end =
        Step { file: finding.file.clone(), line: finding.line, note: finding.message.clone() };
    let mut steps = finding.steps.clone();
    if steps.last().is_none_or(|last| (&last.file, last.line) != (&end.file, end.line)) {
        steps.push(end);
    }
    text.push('\n');
    for (n, step) in (1..).zip(&steps) {
        writeln!(text, "{n}. `{}:{}` {}", step.file, step.line, step.note)?;
    }
    for group in grouped(&steps) {
        let source = source(tree, &group.file);
        writeln!(text, "\n`{}`\n\n```c", group.file)?;
        let starts_before = |head: &Head| head.line + head.text.lines().count() <= group.first;
        if let Some(head) = head(&source, group.first).filter(starts_before) {
            for (n, line) in (head.line..).zip(head.text.lines()) {
                writeln!(text, "{n:6}   {line}")?;
            }
            writeln!(text, "         ...")?;
        }
        for n in group.first..=group.last {
            let Some(line) = source.get(n - 1) else { break };
            let mark = if group.marked.contains(&n) { '>' } else { ' ' };
            writeln!(text, "{n:6} {mark} {line}")?;
        }
        writeln!(text, "```")?;
    }
    Ok(())
}

/// Lines of a file that are shown together.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    file: String,
    first: usize,
    last: usize,
    marked: Vec<usize>,
}

/// The surroundings of the steps; those that touch become one, each place is shown once.
fn grouped(steps: &[Step]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for step in steps.iter().filter(|step| step.line > 0) {
        let line = step.line as usize;
        let (first, last) = (line.saturating_sub(AROUND).max(1), line + AROUND);
        let touching = |group: &Group| {
            group.file == step.file && first <= group.last + 1 && last + 1 >= group.first
        };
        let mut new = Group { file: step.file.clone(), first, last, marked: vec![line] };
        let at = groups.iter().position(touching).unwrap_or(groups.len());
        // What is added can join groups that did not touch before.
        while let Some(index) = groups.iter().position(touching) {
            let old = groups.remove(index);
            new.first = new.first.min(old.first);
            new.last = new.last.max(old.last);
            new.marked.extend(old.marked);
        }
        groups.insert(at.min(groups.len()), new);
    }
    groups
}

fn source(tree: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read(tree.join(file)).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

/// How a function starts.
struct Head {
    line: usize,
    text: String,
}

/// Most lines of a function's head.
const MAX_HEAD: usize = 12;

/// The head of the function a line lies in, as far as layout shows it: a body starts with a
/// brace in the first column, or at the end of a line that starts there.
fn head(source: &[String], line: usize) -> Option<Head> {
    let starts_here = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_start = |text: &str| {
        text.starts_with('{')
            || (starts_here(text) && text.trim_end().ends_with('{') && !text.starts_with("struct "))
    };
    let mut brace = line.min(source.len()).checked_sub(1)?;
    while !is_start(&source[brace]) {
        brace = brace.checked_sub(1)?;
    }
    let mut first = brace;
    while first > 0 && brace - first < MAX_HEAD {
        let before = source[first - 1].trim_end();
        let ends = before.is_empty()
            || before.starts_with(['#', '}'])
            || before.ends_with([';', '}'])
            || before.ends_with("*/");
        let is_parameter = before.starts_with([' ', '\t']) && before.ends_with(';');
        if ends && !is_parameter {
            break;
        }
        first -= 1;
    }
    let text = source[first..=brace].join("\n");
    text.contains('(').then(|| Head { line: first + 1, text })
}

/// The last word before the first parenthesis.
fn name(head: &str) -> Option<String> {
    let before = head.split('(').next()?.trim_end();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = before.rsplit(|c: char| !is_word(c)).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#include <x.h>\n\nstatic int\nouter(int a,\n      int b)\n{\n  int x;\n\n\n\n\
                          \n\n\n\n  return a;\n}\nint inner(void) {\n  return 1;\n}\n";

    fn step(line: u32) -> Step {
        Step { file: "a.c".to_owned(), line, note: format!("note {line}") }
    }

    #[test]
    fn the_head_of_a_function_is_found() {
        let lines: Vec<String> = SOURCE.lines().map(str::to_owned).collect();
        let outer = head(&lines, 15).unwrap();
        assert_eq!((outer.line, name(&outer.text).as_deref()), (3, Some("outer")));
        let inner = head(&lines, 18).unwrap();
        assert_eq!((inner.line, name(&inner.text).as_deref()), (17, Some("inner")));
        assert!(head(&lines, 2).is_none());
        assert!(head(&[], 2).is_none());
    }

    #[test]
    fn touching_surroundings_become_one() {
        let lines = |steps: &[u32]| -> Vec<(usize, usize)> {
            let steps: Vec<Step> = steps.iter().map(|&line| step(line)).collect();
            grouped(&steps).iter().map(|group| (group.first, group.last)).collect()
        };
        assert_eq!(lines(&[100, 2, 104]), [(95, 109), (1, 7)]);
        assert_eq!(lines(&[100, 120, 110]), [(95, 125)]);
        assert_eq!(lines(&[0]), []);
    }

    #[test]
    fn sheets_show_the_source_and_keep_verdicts() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), SOURCE).unwrap();
        let made = |line: u32| Finding {
            file: "a.c".to_owned(),
            line,
            rule: "leak".to_owned(),
            message: "x is lost".to_owned(),
            steps: vec![step(7)],
            ..Finding::default()
        };
        let subject = Subject { package: "ant", version: "1", tool: "gcc", tree: folder.path() };
        write(folder.path(), &subject, &[made(15)], &[]).unwrap();
        let sheet = std::fs::read_to_string(folder.path().join("gcc.md")).unwrap();
        assert!(sheet.contains("## gcc-01: x is lost [leak]"), "{sheet}");
        assert!(sheet.contains("`a.c:15` in `outer`"), "{sheet}");
        assert!(sheet.contains("1. `a.c:7` note 7\n2. `a.c:15` x is lost\n"), "{sheet}");
        assert!(sheet.contains("\n    15 >   return a;\n"), "{sheet}");

        let path = folder.path().join("gcc.toml");
        let empty = std::fs::read_to_string(&path).unwrap();
        assert_eq!(verdicts::template(&path).unwrap().findings[0].verdict, Verdict::Open);
        let filled = empty
            .replace("verdict = \"\"", "verdict = \"true\"")
            .replace("\ninput = \"\"", "\ninput = \"outer(1, 2)\"");
        std::fs::write(&path, filled).unwrap();
        assert_eq!(write(folder.path(), &subject, &[made(15), made(18)], &[]).unwrap(), 1);
        let findings = verdicts::template(&path).unwrap().findings;
        assert_eq!(findings.len(), 2);
        assert_eq!(findings[0].input, "outer(1, 2)");
        assert_eq!(findings[1].verdict, Verdict::Open);
        let judged = findings;
        write(folder.path(), &subject, &[made(18)], &judged).unwrap();
        let findings = verdicts::template(&path).unwrap().findings;
        assert_eq!(findings[0].verdict, Verdict::Open, "another finding has that number now");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(write(folder.path(), &subject, &[made(15)], &judged).unwrap(), 0);
        assert!(!path.exists(), "nothing is left to judge");
        assert_eq!(write(folder.path(), &subject, &[made(15), made(7)], &judged).unwrap(), 1);
        let findings = verdicts::template(&path).unwrap().findings;
        assert_eq!(findings[0].input, "outer(1, 2)", "the draw's verdict is filled in");
    }
}
