//! The JSON contract, pretty-printed: reports are read by people too, and kept in git.

use findings::Findings;

pub fn render(findings: &Findings) -> String {
    let mut json =
        serde_json::to_string_pretty(findings).expect("findings hold nothing JSON cannot express");
    json.push('\n');
    json
}
