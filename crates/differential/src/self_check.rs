//! Whether the idioms are what they say: wrong variants show what they do wrong on some input,
//! right forms show nothing on any.

use anyhow::{Context, Result};
use fixture::idioms::{Idiom, Spec, inputs};

use crate::case::Case;
use crate::judge::{Shown, family};
use crate::native::{Native, Sanitizer};

/// What came of one form of an idiom in a program of its own.
#[derive(Clone, Debug)]
pub struct Checked {
    /// `ring/does-not-wrap`, `ring (right)`.
    pub name: String,
    /// As it should be.
    pub is_right: bool,
    pub told: String,
}

/// Runs one form of an idiom, the right one where no variant is given.
pub fn self_check(
    idioms: &[Idiom],
    idiom: usize,
    variant: Option<usize>,
    seed: u64,
) -> Result<Checked> {
    let spec = Spec::of(idioms, idiom, variant, seed);
    let case = Case::new(idioms, &spec);
    let name = case.name(Some(0));
    let native = Native::new(&case)?;
    let rules = case.rules(Some(0));
    let mut n_runs = 0;
    for input in inputs(idioms, &spec, seed, 2) {
        for sanitizer in [Sanitizer::Address, Sanitizer::Memory] {
            let is_memory = sanitizer == Sanitizer::Memory;
            // Only this sanitizer sees values that were never set, and it sees nothing else.
            let is_meant = |rule: &String| (rule == "uninitialized-read") == is_memory;
            let is_wanted = rules.is_empty() || rules.iter().any(is_meant);
            if !is_wanted || is_memory && input.failing_allocation.is_some() {
                continue;
            }
            let showed = native.run(sanitizer, &input).with_context(|| name.clone())?;
            n_runs += 1;
            let shown = showed.seen.into_iter().map(|seen| Shown::new(&case, seen, &input));
            for shown in shown.filter(|shown| shown.counts(&case)) {
                let told = format!("line {}: {} ({input:?})", shown.line(), shown.seen.message);
                if rules.is_empty() {
                    return Ok(Checked { name, is_right: false, told });
                }
                let is_meant = rules.iter().any(|r| family(r) == family(shown.seen.rule));
                if is_meant && shown.part == Some(0) {
                    return Ok(Checked { name, is_right: true, told });
                }
            }
        }
    }
    let told = format!("nothing in {n_runs} runs");
    Ok(Checked { name, is_right: rules.is_empty(), told })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every idiom's right form and one wrong variant of every third; all of them are checked by
    /// `cargo xtask bench differential --self-check`.
    #[test]
    fn right_forms_show_nothing_and_wrong_ones_what_they_say() {
        let idioms = fixture::idioms::all();
        for idiom in (0..idioms.len()).step_by(3) {
            for variant in [None, Some(idiom % idioms[idiom].variants.len())] {
                let checked = self_check(&idioms, idiom, variant, 7).unwrap();
                assert!(checked.is_right, "{}: {}", checked.name, checked.told);
            }
        }
    }

    #[test]
    fn what_does_not_compile_is_an_error() {
        let text = "//: about x\n//: input x\nint $x(\n//: right\n//: wrong a leak\n//: end\n";
        let idioms = [fixture::idioms::parse("broken", text).unwrap()];
        let error = self_check(&idioms, 0, None, 1).unwrap_err();
        assert!(format!("{error:#}").contains("program.c:"), "{error:#}");
    }
}
