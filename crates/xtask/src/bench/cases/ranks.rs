//! Planted deviations in the ranking of `firstfault beliefs`, and decoys above them.

use serde::Serialize;

use super::said::{At, Reported, Said};
use super::truth::{Base, Deviation};

/// A code base as the tool has it.
#[derive(Clone, Debug, Serialize)]
pub struct RankScore {
    pub name: String,
    /// Template and rank of each planted deviation, first is 1.
    pub planted: Vec<(String, Option<usize>)>,
    /// Ids of what was missed.
    pub missed: Vec<String>,
    pub n_decoys: usize,
    pub n_decoys_reported: usize,
    /// Decoys that stand above a deviation of their template, a missed one included.
    pub decoys_above: Vec<String>,
    /// Reports that are neither a deviation nor a decoy.
    pub extra: Vec<String>,
    pub failed: bool,
}

impl RankScore {
    pub fn n_found(&self) -> usize {
        self.planted.iter().filter(|(_, rank)| rank.is_some()).count()
    }

    /// Deviations within the first ranks, as many as were planted.
    pub fn n_at_top(&self) -> usize {
        let n = self.planted.len();
        self.planted.iter().filter(|(_, rank)| rank.is_some_and(|rank| rank <= n)).count()
    }

    pub fn ranks(&self) -> impl Iterator<Item = usize> + '_ {
        self.planted.iter().filter_map(|(_, rank)| *rank)
    }
}

fn names(report: &Reported, planted: &Deviation) -> bool {
    let is_template =
        report.rule == planted.template || planted.template_also_accept.contains(&report.rule);
    let is_place = |at: &At| {
        (at.file == planted.file && at.line == planted.line)
            || planted.also_accept.iter().any(|also| at.file == also.file && at.line == also.line)
    };
    is_template && report.places.iter().any(is_place)
}

pub fn score(base: &Base, said: &Said) -> RankScore {
    let rank_of = |planted: &Deviation| {
        said.reports.iter().position(|report| names(report, planted)).map(|index| index + 1)
    };
    let ranks: Vec<(&Deviation, Option<usize>)> =
        base.deviations.iter().map(|planted| (planted, rank_of(planted))).collect();
    let decoys: Vec<(&Deviation, usize)> =
        base.decoys.iter().filter_map(|decoy| Some((decoy, rank_of(decoy)?))).collect();
    let stands_above = |(decoy, rank): &&(&Deviation, usize)| {
        ranks.iter().any(|(planted, found)| {
            planted.template == decoy.template && found.is_none_or(|found| found > *rank)
        })
    };
    let is_listed = |report: &&Reported| {
        base.deviations.iter().chain(&base.decoys).any(|planted| names(report, planted))
    };
    let missed = ranks.iter().filter(|(_, rank)| rank.is_none());
    RankScore {
        name: base.base.clone(),
        planted: ranks.iter().map(|(d, rank)| (d.template.clone(), *rank)).collect(),
        missed: missed
            .map(|(d, _)| format!("{} {} {}:{}", d.id, d.template, d.file, d.line))
            .collect(),
        n_decoys: base.decoys.len(),
        n_decoys_reported: decoys.len(),
        decoys_above: decoys.iter().filter(stands_above).map(|(d, _)| d.id.clone()).collect(),
        extra: said.reports.iter().filter(|r| !is_listed(r)).map(|r| r.rule.clone()).collect(),
        failed: said.failed.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases::score::tests::report;
    use crate::bench::cases::truth;

    fn base() -> Base {
        let text = r#"{"bases": [{"base": "b", "files": [],
            "deviations": [
              {"id": "d1", "file": "x.c", "line": 5, "template": "can-fail",
               "template_also_accept": ["is-err"], "also_accept": [{"file": "x.c", "line": 9}]},
              {"id": "d2", "file": "y.c", "line": 7, "template": "user-pointer"}],
            "decoys": [
              {"id": "n1", "file": "x.c", "line": 50, "template": "can-fail"},
              {"id": "n2", "file": "y.c", "line": 60, "template": "user-pointer"}]}]}"#;
        truth::parse(text).unwrap().bases.remove(0)
    }

    fn scored(reports: Vec<Reported>) -> RankScore {
        score(&base(), &Said { reports, ..Said::default() })
    }

    #[test]
    fn the_line_and_the_template_must_be_those_planted() {
        assert_eq!(scored(vec![report("can-fail", "x.c", 5)]).n_found(), 1);
        assert_eq!(scored(vec![report("is-err", "x.c", 9)]).n_found(), 1);
        for wrong in [("can-fail", "x.c", 6), ("can-fail", "y.c", 5), ("user-pointer", "x.c", 5)] {
            let score = scored(vec![report(wrong.0, wrong.1, wrong.2)]);
            assert_eq!((score.n_found(), score.extra.len()), (0, 1), "{wrong:?}");
        }
    }

    #[test]
    fn a_decoy_above_a_deviation_of_its_template_counts() {
        let (deviation, decoy) = (report("can-fail", "x.c", 5), report("can-fail", "x.c", 50));
        let below = scored(vec![deviation.clone(), decoy.clone()]);
        assert!(below.decoys_above.is_empty());
        assert_eq!(below.n_decoys_reported, 1);
        let above = scored(vec![decoy, deviation.clone()]);
        assert_eq!(above.decoys_above, ["n1"]);
        assert_eq!(above.planted[0], ("can-fail".to_owned(), Some(2)));
        let other = scored(vec![report("user-pointer", "y.c", 60), deviation]);
        assert_eq!(other.decoys_above, ["n2"], "the deviation of its template is missed");
    }

    #[test]
    fn the_top_has_as_many_ranks_as_deviations() {
        let extra = report("context", "x.c", 1);
        let reports = vec![extra.clone(), extra, report("can-fail", "x.c", 5)];
        let score = scored(reports);
        assert_eq!((score.n_found(), score.n_at_top()), (1, 0));
        assert_eq!(score.missed, ["d2 user-pointer y.c:7"]);
    }
}
