//! What a user sees of each kind of mistake: `mistakes.txt` holds specifications, and under each
//! the messages with place, caret and what was expected.
//!
//! `UPDATE=1 cargo test -p firstfault-spec --test mistakes` writes the messages anew.

use std::path::Path;

const BETWEEN: &str = "\n\n====\n";
const ANSWER: &str = "\n----\n";

fn rendered(text: &str) -> String {
    let (_, diagnostics) = spec::check::check(text);
    let messages: Vec<String> = diagnostics.iter().map(|d| d.render("my.fault", text)).collect();
    messages.concat().trim_end().to_owned()
}

#[test]
fn each_mistake_is_told_with_place_caret_and_what_was_expected() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes.txt");
    let known = std::fs::read_to_string(&path).expect("the mistakes can be read");
    let cases: Vec<&str> = known.trim_end().split(BETWEEN).collect();
    assert!(cases.len() >= 16, "only {} mistakes", cases.len());
    let now: Vec<String> = cases
        .iter()
        .map(|case| {
            let text = case.split(ANSWER).next().unwrap_or_default();
            let said = rendered(text);
            assert!(said.contains('^') && said.contains("my.fault:"), "no mistake: {text}");
            format!("{text}{ANSWER}{said}")
        })
        .collect();
    let now = format!("{}\n", now.join(BETWEEN));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &now).expect("the mistakes can be written");
    }
    let differs = now.lines().zip(known.lines()).find(|(now, known)| now != known);
    assert!(now == known, "mistakes.txt differs: {differs:?}");
}
