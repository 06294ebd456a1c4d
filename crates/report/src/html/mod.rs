//! The report as one HTML file that needs nothing else: no network, no other file.
//!
//! Everything that comes from outside reaches the page as JSON in a block browsers do not run,
//! and is shown by `textContent` alone. A content security policy lets only the page's own
//! script and style act: their nonce is a hash over all the content, which text inside that
//! content cannot guess.

mod data;

use findings::Findings;

use crate::rules::{Rule, of_report};
use crate::sources::Sources;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");

/// In the order in which they use each other.
const SCRIPTS: [&str; 7] = [
    include_str!("dom.js"),
    include_str!("model.js"),
    include_str!("source.js"),
    include_str!("graph.js"),
    include_str!("detail.js"),
    include_str!("list.js"),
    include_str!("main.js"),
];

pub fn render(findings: &Findings, sources: &mut Sources, rules: &[Rule]) -> String {
    let data = data::data(findings, sources, &of_report(findings, rules));
    let data = escaped(&serde_json::to_string(&data).expect("values are JSON"));
    let script = SCRIPTS.concat();
    let nonce = blake3::hash(format!("{data}{script}").as_bytes()).to_hex();
    // In one pass: what is filled in may hold the name of another gap.
    let mut page = String::with_capacity(data.len() + script.len() + STYLE.len() + PAGE.len());
    for part in PAGE.split("{{") {
        let Some((gap, rest)) = part.split_once("}}") else {
            page.push_str(part);
            continue;
        };
        page.push_str(match gap {
            "nonce" => &nonce,
            "style" => STYLE,
            "data" => &data,
            _ => &script,
        });
        page.push_str(rest);
    }
    page
}

/// JSON that cannot end the element it stands in, whatever its strings hold.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{7f}'..='\u{9f}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_data() {
        let text = escaped(&serde_json::to_string("</script><!-- & \u{2028}").unwrap());
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let back: String = serde_json::from_str(&text).unwrap();
        assert_eq!(back, "</script><!-- & \u{2028}");
    }

    #[test]
    fn gaps_in_the_data_are_not_filled() {
        let mut findings = Findings::new();
        findings.rules.push("{{script}}".to_owned());
        let page = render(&findings, &mut Sources::default(), &[]);
        assert_eq!(page.matches("'use strict'").count(), 1);
        assert!(page.contains("{{script}}"));
    }
}
