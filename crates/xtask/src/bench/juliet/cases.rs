//! Which files of the suite are cases, and a sample of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Which rules are the right class for a CWE.
pub const CLASSES: &[(u32, &[&str])] = &[
    (121, &["buffer-overflow"]),
    (122, &["buffer-overflow"]),
    (124, &["buffer-underflow"]),
    (126, &["buffer-overread"]),
    (127, &["buffer-underflow", "buffer-overread"]),
    (190, &["integer-overflow"]),
    (191, &["integer-overflow"]),
    (194, &["integer-signedness", "integer-truncation"]),
    (195, &["integer-signedness"]),
    (197, &["integer-truncation"]),
    (369, &["divide-by-zero"]),
    (401, &["leak"]),
    (415, &["double-free"]),
    (416, &["use-after-free"]),
    (457, &["uninitialized-read"]),
    (476, &["null-dereference"]),
    (680, &["integer-overflow", "buffer-overflow"]),
    (690, &["null-dereference"]),
    (761, &["invalid-free"]),
    (773, &["leak"]),
    (775, &["leak"]),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub cwe: u32,
    pub file: PathBuf,
}

impl Case {
    pub fn rules(&self) -> &'static [&'static str] {
        CLASSES.iter().find(|(cwe, _)| *cwe == self.cwe).map_or(&[], |(_, rules)| rules)
    }

    pub fn stem(&self) -> String {
        self.file.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }
}

/// The single-file, plain C cases of these CWEs (of all where none is named).
pub fn of_suite(suite: &Path, cwes: &[u32]) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (cwe, _) in CLASSES.iter().filter(|(cwe, _)| cwes.is_empty() || cwes.contains(cwe)) {
        let suite = glob::Pattern::escape(&suite.to_string_lossy());
        let pattern = format!("{suite}/testcases/CWE{cwe}_*/**/*.c");
        for file in glob::glob(&pattern).context("the suite's path cannot be searched")? {
            let case = Case { cwe: *cwe, file: file.context("cannot read the suite")? };
            if is_single_and_portable(&case.stem()) {
                cases.push(case);
            }
        }
    }
    cases.sort_by(|a, b| (a.cwe, &a.file).cmp(&(b.cwe, &b.file)));
    Ok(cases)
}

/// Names of single-file cases end in the two digits of the flow variant; parts of others have
/// a letter behind them.
fn is_single_and_portable(stem: &str) -> bool {
    let bytes = stem.as_bytes();
    let [.., b'_', tens, ones] = bytes else { return false };
    tens.is_ascii_digit() && ones.is_ascii_digit() && !stem.contains("w32")
}

/// At most `n_each` cases of every CWE, chosen by the seed alone.
pub fn sample(cases: Vec<Case>, n_each: usize, seed: u64) -> Vec<Case> {
    let mut by_cwe: BTreeMap<u32, Vec<(u64, Case)>> = BTreeMap::new();
    for case in cases {
        by_cwe.entry(case.cwe).or_default().push((hash(seed, &case.stem()), case));
    }
    let mut chosen = Vec::new();
    for (_, mut cases) in by_cwe {
        cases.sort_by_key(|(hash, _)| *hash);
        chosen.extend(cases.into_iter().take(n_each).map(|(_, case)| case));
    }
    chosen.sort_by(|a, b| (a.cwe, &a.file).cmp(&(b.cwe, &b.file)));
    chosen
}

/// FNV-1a with a final mix, since names that end alike must not stay together.
pub fn hash(seed: u64, text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = text
        .bytes()
        .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_single_plain_files_are_cases() {
        assert!(is_single_and_portable("CWE121_Stack__char_alloca_cpy_01"));
        assert!(!is_single_and_portable("CWE121_Stack__char_alloca_cpy_51a"));
        assert!(!is_single_and_portable("CWE401_Leak__w32_char_01"));
        assert!(!is_single_and_portable("01"));
    }

    #[test]
    fn a_sample_depends_on_the_seed_alone() {
        let cases: Vec<Case> = (0..100)
            .map(|n| Case { cwe: 100 + n % 2, file: PathBuf::from(format!("case_{n:02}.c")) })
            .collect();
        let first = sample(cases.clone(), 5, 1);
        assert_eq!(first.len(), 10);
        assert_eq!(first, sample(cases.iter().rev().cloned().collect(), 5, 1));
        assert_ne!(first, sample(cases, 5, 2));
    }
}
