//! Formulas that rank statements by coverage alone.

use std::collections::BTreeSet;

use crate::StatementId;

/// How often a statement ran in failing and passing tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spectrum {
    pub failed: u32,
    pub passed: u32,
    pub total_failed: u32,
    pub total_passed: u32,
}

impl Spectrum {
    pub fn of<'a>(
        statement: StatementId,
        failing: impl Iterator<Item = &'a BTreeSet<StatementId>>,
        passing: impl Iterator<Item = &'a BTreeSet<StatementId>>,
    ) -> Self {
        let mut spectrum = Spectrum::default();
        for covered in failing {
            spectrum.total_failed += 1;
            spectrum.failed += u32::from(covered.contains(&statement));
        }
        for covered in passing {
            spectrum.total_passed += 1;
            spectrum.passed += u32::from(covered.contains(&statement));
        }
        spectrum
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    Tarantula,
    Ochiai,
    /// With the usual exponent 2.
    DStar,
    Op2,
}

impl Formula {
    pub const ALL: [Formula; 4] =
        [Formula::Tarantula, Formula::Ochiai, Formula::DStar, Formula::Op2];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Formula::Tarantula => "tarantula",
            Formula::Ochiai => "ochiai",
            Formula::DStar => "dstar",
            Formula::Op2 => "op2",
        }
    }

    /// Larger is more suspicious. Infinite where no passing test ran the statement and
    /// the formula divides by that.
    pub fn suspiciousness(self, s: &Spectrum) -> f64 {
        let (failed, passed) = (f64::from(s.failed), f64::from(s.passed));
        let (total_failed, total_passed) = (f64::from(s.total_failed), f64::from(s.total_passed));
        if s.failed == 0 {
            return if self == Formula::Op2 { -passed / (total_passed + 1.0) } else { 0.0 };
        }
        match self {
            Formula::Tarantula => {
                let failed_share = failed / total_failed;
                let passed_share = if s.total_passed == 0 { 0.0 } else { passed / total_passed };
                failed_share / (failed_share + passed_share)
            }
            Formula::Ochiai => failed / (total_failed * (failed + passed)).sqrt(),
            Formula::DStar => failed * failed / (passed + (total_failed - failed)),
            Formula::Op2 => failed - passed / (total_passed + 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECTRUM: Spectrum = Spectrum { failed: 2, passed: 1, total_failed: 2, total_passed: 4 };

    #[test]
    fn the_formulas_give_the_published_values() {
        let value = |formula: Formula| formula.suspiciousness(&SPECTRUM);
        assert_eq!(value(Formula::Tarantula), 0.8);
        assert!((value(Formula::Ochiai) - 2.0 / 6f64.sqrt()).abs() < 1e-12);
        assert_eq!(value(Formula::DStar), 4.0);
        assert_eq!(value(Formula::Op2), 1.8);
    }

    #[test]
    fn a_statement_no_failing_test_runs_is_not_suspicious() {
        let spectrum = Spectrum { failed: 0, ..SPECTRUM };
        for formula in [Formula::Tarantula, Formula::Ochiai, Formula::DStar] {
            assert_eq!(formula.suspiciousness(&spectrum), 0.0);
        }
        assert!(Formula::Op2.suspiciousness(&spectrum) < 0.0);
    }

    #[test]
    fn no_passing_test_is_no_division_by_zero() {
        let spectrum = Spectrum { failed: 2, passed: 0, total_failed: 2, total_passed: 0 };
        assert_eq!(Formula::Tarantula.suspiciousness(&spectrum), 1.0);
        assert_eq!(Formula::DStar.suspiciousness(&spectrum), f64::INFINITY);
    }
}
