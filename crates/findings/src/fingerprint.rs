//! Names for findings that survive edits elsewhere in the file.
//!
//! A fingerprint is made of what stays when lines move: the rule, the file, the function
//! and the text of the line with its blanks squeezed. Equal ones are counted, in source
//! order, so that two of a kind on equal lines stay apart.

use std::collections::BTreeMap;

/// Hands out fingerprints; ask in source order.
#[derive(Debug, Default)]
pub struct Fingerprints {
    seen: BTreeMap<String, u32>,
}

impl Fingerprints {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn of(&mut self, rule: &str, file: &str, function: &str, line_text: &str) -> String {
        let name = fingerprint(&[rule, file, function, &squeeze(line_text)]);
        let nth = self.seen.entry(name.clone()).or_insert(0);
        *nth += 1;
        if *nth == 1 { name } else { format!("{name}-{nth}") }
    }
}

/// A stable hash of some texts: the same on every machine and in every version.
pub fn fingerprint(parts: &[&str]) -> String {
    // FNV-1a over 128 bits: the names only have to differ, not to resist an attacker.
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in parts {
        // The separator keeps ("ab", "c") and ("a", "bc") apart.
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
    format!("{hash:032x}")
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_do_not_matter_and_everything_else_does() {
        let of = |rule, text| Fingerprints::new().of(rule, "a.c", "f", text);
        assert_eq!(of("leak", "  p =  malloc(4);"), of("leak", "p = malloc(4);\t"));
        assert_ne!(of("leak", "p = malloc(4);"), of("leak", "p = malloc(8);"));
        assert_ne!(of("leak", "p = malloc(4);"), of("double-free", "p = malloc(4);"));
    }

    #[test]
    fn equal_lines_of_one_function_are_counted() {
        let mut fingerprints = Fingerprints::new();
        let first = fingerprints.of("leak", "a.c", "f", "x = 1;");
        let second = fingerprints.of("leak", "a.c", "f", "x = 1;");
        assert_eq!(second, format!("{first}-2"));
    }

    #[test]
    fn a_fingerprint_never_changes() {
        assert_eq!(fingerprint(&["a", "bc"]), fingerprint(&["a", "bc"]));
        assert_ne!(fingerprint(&["a", "bc"]), fingerprint(&["ab", "c"]));
        assert_eq!(fingerprint(&["leak", "a.c"]), "e4115f506b05d29df8bee369c0bc24a2");
    }
}
