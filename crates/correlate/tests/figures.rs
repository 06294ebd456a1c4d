//! The figures of the paper, and graphs of our own: exact nodes, edges and unique marks.
//!
//! Each program says what is expected: `// fault: NAME rule` on the faulty lines, and edges
//! `// NAME -> NAME [unique] direct|feasibility` at the top. `// only: RULE` leaves out others, as
//! the paper does for its figure 4.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use findings::{Findings, Via};
use program::Program;
use spec::rules::Rules;

use support::program;

/// What the comments of a program say.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    faults: BTreeSet<String>,
    edges: BTreeSet<String>,
}

fn expected(source: &str) -> Expected {
    let mut expected = Expected::default();
    let mut names = BTreeMap::new();
    for (number, line) in (1..).zip(source.lines()) {
        for fault in line.split("fault: ").skip(1) {
            let mut words = fault.split_whitespace();
            let (name, rule) = (words.next().unwrap(), words.next().unwrap());
            names.insert(name.to_owned(), format!("{rule} in line {number}"));
            expected.faults.insert(format!("{rule} in line {number}"));
        }
    }
    for line in source.lines().filter(|line| line.starts_with("// ") && line.contains(" -> ")) {
        let (from, to) = line[3..].split_once(" -> ").unwrap();
        let (to, marks) = to.split_once(' ').unwrap();
        expected.edges.insert(format!("{} -> {}: {marks}", names[from], names[to]));
    }
    expected
}

fn found(findings: &Findings) -> Expected {
    let name = |id: &str| {
        let fault = findings.faults.iter().find(|fault| fault.id == id).expect("an edge has ends");
        format!("{} in line {}", fault.rule, fault.place.line)
    };
    let edges = findings.correlations.iter().map(|edge| {
        let unique = if edge.unique { "unique " } else { "" };
        let via = if edge.via == Via::Direct { "direct" } else { "feasibility" };
        format!("{} -> {}: {unique}{via}", name(&edge.from), name(&edge.to))
    });
    Expected {
        faults: findings.faults.iter().map(|fault| name(&fault.id)).collect(),
        edges: edges.collect(),
    }
}

fn settings(source: &str) -> detect::Settings {
    let rules = source.lines().find_map(|line| line.strip_prefix("// only: "));
    detect::Settings {
        strict: source.contains("// flags: --strict"),
        rules: rules.map(|rule| vec![rule.to_owned()]).unwrap_or_default(),
        ..Default::default()
    }
}

fn check(program: &Program, rules: &Rules, settings: &detect::Settings, findings: &mut Findings) {
    let facts = settings.facts(program);
    correlate::check((program, &facts), rules, settings, findings);
}

/// Every root of every group, taken as corrected, removes what the graph says and no more.
fn unlike_promised(path: &Path, source: &str, rules: &Rules, findings: &Findings) -> Vec<String> {
    let name = |id: &String| {
        let fault =
            findings.faults.iter().find(|fault| fault.id == *id).expect("groups have faults");
        detect::report::fault_id(&fault.rule, &fault.place)
    };
    let mut wrong = Vec::new();
    for (root, removed) in
        findings.groups.iter().flat_map(|group| group.roots.iter().zip(&group.removes))
    {
        let mut settings = settings(source);
        settings.corrected.insert(name(root));
        let mut again = Findings::new();
        check(&program(path), rules, &settings, &mut again);
        let left: BTreeSet<String> =
            again.faults.iter().map(|f| detect::report::fault_id(&f.rule, &f.place)).collect();
        let gone: BTreeSet<String> = findings
            .faults
            .iter()
            .map(|fault| name(&fault.id))
            .filter(|name| !left.contains(name) && !settings.corrected.contains(name))
            .collect();
        let promised: BTreeSet<String> = removed.iter().map(name).collect();
        if gone != promised {
            wrong.push(format!(
                "{}: correcting {root} removes {gone:?}, not {promised:?}",
                path.display()
            ));
        }
    }
    wrong
}

#[test]
fn every_figure_has_its_graph() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/figures");
    let rules = spec::discover::rules(&[]).expect("the built-in specifications are right");
    let mut wrong = Vec::new();
    let mut n_figures = 0;
    for entry in std::fs::read_dir(&folder).expect("there are figures") {
        let path = entry.expect("figures can be read").path();
        let source = std::fs::read_to_string(&path).expect("figures can be read");
        let mut findings = Findings::new();
        check(&program(&path), &rules, &settings(&source), &mut findings);
        findings.finish();
        wrong.extend(unlike_promised(&path, &source, &rules, &findings));
        let (expected, found) = (expected(&source), found(&findings));
        if expected != found {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let missing = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
                a.difference(b).map(|line| format!("\n    {line}")).collect::<String>()
            };
            wrong.push(format!(
                "{name}\n  missing:{}{}\n  too much:{}{}",
                missing(&expected.faults, &found.faults),
                missing(&expected.edges, &found.edges),
                missing(&found.faults, &expected.faults),
                missing(&found.edges, &expected.edges),
            ));
        }
        n_figures += 1;
    }
    assert!(n_figures >= 8, "only {n_figures} figures");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A hand-written fix of the root, in place: what the fault becomes.
const PATCHES: [(&str, &str, &str); 5] = [
    ("fig2a.c", "strcpy(a, input);", "a[0] = 0;"),
    ("fig2b.c", "unsigned bytes = n * 4u;", "unsigned bytes = n < 1000000u ? n * 4u : n;"),
    (
        "fig4.c",
        "strcpy(filename, name);",
        "if (strlen(name) < 2048) strcpy(filename, name); else return 1;",
    ),
    ("fig7.c", "int i = u;", "int i = u < 100u ? (int)u : 100;"),
    ("chain.c", "strcpy(a, input);", "if (strlen(input) < 32) strcpy(a, input);"),
];

#[test]
fn a_fix_in_the_source_removes_what_the_graph_says() {
    let rules = spec::discover::rules(&[]).expect("the built-in specifications are right");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for (name, fault, fix) in PATCHES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/figures").join(name);
        let source = std::fs::read_to_string(&path).expect("figures can be read");
        assert!(source.contains(fault), "{name} has no {fault}");
        let mut before = Findings::new();
        check(&program(&path), &rules, &settings(&source), &mut before);
        before.finish();
        let group = &before.groups[0];
        let promised: BTreeSet<&String> =
            group.removes[0].iter().chain([&group.roots[0]]).collect();
        let label =
            |fault: &findings::Fault| format!("{} in line {}", fault.rule, fault.place.line);
        let left = before.faults.iter().filter(|fault| !promised.contains(&fault.id));
        let left: BTreeSet<String> = left.map(label).collect();
        let fixed = scratch.path().join(name);
        std::fs::write(&fixed, source.replace(fault, fix)).expect("the scratch folder is writable");
        let mut after = Findings::new();
        check(&program(&fixed), &rules, &settings(&source), &mut after);
        let after: BTreeSet<String> = after.faults.iter().map(label).collect();
        assert_eq!(after, left, "{name} after its fix");
    }
}
