//! Fault and belief directories are complete: a specification, its doc, and fixtures that
//! show both what it finds and what it leaves alone.

use std::collections::BTreeSet;

use super::files::TextFile;

/// A folder whose sub-folders each describe one rule.
struct Shelf {
    folder: &'static str,
    specification: &'static str,
    /// Annotations that show what the rule finds, or should find and misses today.
    finds: &'static [&'static str],
}

const SHELVES: [Shelf; 2] = [
    Shelf {
        folder: "faults/",
        specification: "spec.fault",
        finds: &["fault(", "fault[", "missed["],
    },
    Shelf { folder: "beliefs/", specification: "template.toml", finds: &["deviates["] },
];

pub fn check(files: &[TextFile]) -> Vec<String> {
    SHELVES.iter().flat_map(|shelf| check_shelf(shelf, files)).collect()
}

fn check_shelf(shelf: &Shelf, files: &[TextFile]) -> Vec<String> {
    let below: Vec<&TextFile> = files.iter().filter(|f| f.path.starts_with(shelf.folder)).collect();
    let rules: BTreeSet<&str> = below
        .iter()
        .filter_map(|f| f.path[shelf.folder.len()..].split_once('/'))
        .map(|(rule, _)| rule)
        .collect();
    let mut complaints = Vec::new();
    for rule in rules {
        let folder = format!("{}{rule}/", shelf.folder);
        for needed in [shelf.specification, "doc.md"] {
            if !below.iter().any(|f| f.path == format!("{folder}{needed}")) {
                complaints.push(format!("{folder}: has no {needed}"));
            }
        }
        let fixtures = format!("{folder}fixtures/");
        for annotations in [shelf.finds, &["ok["]] {
            let shown = below.iter().any(|f| {
                f.path.starts_with(&fixtures)
                    && f.path.ends_with(".c")
                    && annotations.iter().any(|annotation| annotated(&f.text, annotation))
            });
            if !shown {
                let wanted = annotations.join(" or ");
                complaints.push(format!("{fixtures}: no fixture has an annotation {wanted}"));
            }
        }
    }
    complaints
}

/// Whether a line carries this annotation after `//~`.
fn annotated(text: &str, annotation: &str) -> bool {
    text.lines()
        .filter_map(|line| line.split_once("//~"))
        .any(|(_, after)| after.trim_start_matches(['^', ' ']).starts_with(annotation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_complete_directory_passes_and_each_missing_part_is_named() {
        let complete = || {
            vec![
                file("faults/leak/doc.md", ""),
                file("faults/leak/fixtures/a.c", "f(); //~ fault(a)[leak]\n"),
                file("faults/leak/fixtures/b.c", "f();\n//~^ ok[leak]\n"),
                file("faults/leak/spec.fault", ""),
            ]
        };
        assert_eq!(check(&complete()), Vec::<String>::new());
        for (index, word) in [(0, "doc.md"), (1, "fault("), (2, "ok["), (3, "spec.fault")] {
            let mut files = complete();
            files.remove(index);
            let complaints = check(&files);
            assert_eq!(complaints.len(), 1, "{complaints:?}");
            assert!(complaints[0].contains(word), "{complaints:?}");
        }
    }
}
