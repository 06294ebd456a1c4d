//! What came out of a part: each case as each tool has it.

use std::collections::BTreeMap;

use super::dynamic::{self, RunScore, Verdict};
use super::edges::{self, EdgeScore};
use super::micro::{self, MicroScore};
use super::parts::Case;
use super::ranks::{self, RankScore};
use super::said::{Reported, Said};
use super::score::{self, PairScore};

/// A case as one tool has it.
#[derive(Clone, Debug)]
pub enum Score {
    Pair(PairScore),
    Edges(EdgeScore),
    Run(RunScore),
    Ranks(RankScore),
    Micro(MicroScore),
}

/// One tool on one case: the score, and what it cost.
#[derive(Clone, Debug)]
pub struct Scored {
    pub score: Score,
    /// Seconds of processor time of each of its programs.
    pub cpu: Vec<f64>,
    pub n_unmapped: usize,
    /// Findings with an input, and those of them that the compiled program showed.
    pub n_witnesses: usize,
    pub n_reproduced: usize,
    /// What the compiled program did instead.
    pub differences: Vec<String>,
}

/// A tool on all cases of a part.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    /// The name without a seed.
    pub base: String,
    pub is_ours: bool,
    pub replays: bool,
    pub scored: Vec<Scored>,
}

#[derive(Clone, Debug)]
pub struct Measured {
    pub part: String,
    pub columns: Vec<Column>,
}

/// Scores what was said about the programs of a case, in their order.
pub fn scored(case: &Case, said: &[Said]) -> Scored {
    let score = match case {
        Case::Pair(pair) => Score::Pair(score::pair(pair, &said[0], &said[1])),
        Case::Correlated(case) => Score::Edges(edges::score(case, &said[0])),
        Case::Run(run) => Score::Run(dynamic::score(run, &said[0])),
        Case::Base(base) => Score::Ranks(ranks::score(base, &said[0])),
        Case::Marked(name, marks) => Score::Micro(micro::marked(name, marks, &said[0])),
        Case::MicroRun(wish) => Score::Micro(micro::crashed(wish, &said[0], said.get(1))),
        Case::MicroBeliefs(wish) => Score::Micro(micro::believed(wish, &said[0])),
    };
    let shown = |said: &Said| {
        let with_input = said.reports.iter().filter(|report| report.has_witness);
        with_input.map(|report| (report.clone(), difference(said, report))).collect::<Vec<_>>()
    };
    let shown: Vec<(Reported, String)> = said.iter().flat_map(shown).collect();
    let differs = |(report, _): &&(Reported, String)| report.level != "reproduced";
    Scored {
        score,
        cpu: said.iter().map(|said| said.cpu).collect(),
        n_unmapped: said.iter().map(|said| said.unmapped.len()).sum(),
        n_witnesses: shown.len(),
        n_reproduced: shown.len() - shown.iter().filter(differs).count(),
        differences: shown.iter().filter(differs).map(|(_, told)| told.clone()).collect(),
    }
}

/// What the compiled program did instead of a fault, as the report's notices tell it.
fn difference(said: &Said, report: &Reported) -> String {
    let Some(at) = report.places.first() else { return report.rule.clone() };
    let is_here = |text: &str| text.starts_with("not ") || text.starts_with("reproduced");
    let notices = said.notices.iter().filter(|n| n.at == *at && is_here(&n.text));
    let told: Vec<&str> = notices.map(|notice| notice.text.as_str()).collect();
    let told = if told.is_empty() { "no word of it".to_owned() } else { told.join("; ") };
    format!("{at} {}: {told}", report.rule)
}

impl Score {
    /// In a few words, for the row of the case.
    pub fn short(&self) -> String {
        match self {
            Score::Pair(pair) => {
                let mut words = vec![if pair.found() { "found" } else { "missed" }.to_owned()];
                if pair.twin_hit() {
                    words.push(format!(
                        "twin hit by {}",
                        counted(pair.on_twin.iter().map(|t| &t.0))
                    ));
                }
                if !pair.extra.is_empty() {
                    words.push(format!("extra {}", counted(&pair.extra)));
                }
                words.join(", ")
            }
            Score::Edges(edges) => format!(
                "faults {}/{}, edges {}/{}, wrong {}",
                edges.n_found,
                edges.n_faults,
                edges.n_right,
                edges.n_edges,
                edges.n_wrong()
            ),
            Score::Run(run) => {
                let race = run.race.map_or(String::new(), |race| format!(", race {race}"));
                let named = if run.named.is_empty() { &run.why } else { &run.named };
                format!("{}{race} ({named})", run.first)
            }
            Score::Ranks(base) => format!(
                "{}/{} planted, {} of {} decoys above",
                base.n_found(),
                base.planted.len(),
                base.decoys_above.len(),
                base.n_decoys
            ),
            Score::Micro(micro) => {
                let extra = match micro.extra.len() {
                    0 => String::new(),
                    _ => format!(", extra {}", counted(&micro.extra)),
                };
                format!("{}/{}{extra}", micro.n_found, micro.n_wanted)
            }
        }
    }

    /// What was missed, each with how the search for it ended.
    pub fn missed(&self) -> Vec<String> {
        match self {
            Score::Pair(pair) => pair
                .wanted
                .iter()
                .filter(|wanted| !wanted.found)
                .map(|wanted| format!("{}:{}: {}", wanted.rule, wanted.line, wanted.ending))
                .collect(),
            Score::Edges(edges) => edges.missed.clone(),
            Score::Run(run) if run.first != Verdict::Right && !run.why.is_empty() => {
                vec![run.why.clone()]
            }
            Score::Run(_) => Vec::new(),
            Score::Ranks(base) => base.missed.clone(),
            Score::Micro(micro) => micro.missed.clone(),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Score::Pair(score) => &score.name,
            Score::Edges(score) => &score.name,
            Score::Run(score) => &score.name,
            Score::Ranks(score) => &score.name,
            Score::Micro(score) => &score.name,
        }
    }

    fn failed(&self) -> bool {
        match self {
            Score::Pair(score) => score.failed,
            Score::Edges(score) => score.failed,
            Score::Run(_) => false,
            Score::Ranks(score) => score.failed,
            Score::Micro(score) => score.failed,
        }
    }
}

impl Column {
    pub fn scores(&self) -> impl Iterator<Item = &Score> {
        self.scored.iter().map(|scored| &scored.score)
    }

    pub fn pairs(&self) -> Vec<&PairScore> {
        self.scores().filter_map(|s| if let Score::Pair(s) = s { Some(s) } else { None }).collect()
    }

    pub fn edges(&self) -> Vec<&EdgeScore> {
        self.scores().filter_map(|s| if let Score::Edges(s) = s { Some(s) } else { None }).collect()
    }

    pub fn runs(&self) -> Vec<&RunScore> {
        self.scores().filter_map(|s| if let Score::Run(s) = s { Some(s) } else { None }).collect()
    }

    pub fn ranks(&self) -> Vec<&RankScore> {
        self.scores().filter_map(|s| if let Score::Ranks(s) = s { Some(s) } else { None }).collect()
    }

    pub fn micros(&self) -> Vec<&MicroScore> {
        self.scores().filter_map(|s| if let Score::Micro(s) = s { Some(s) } else { None }).collect()
    }

    /// Cases without a whole answer.
    pub fn n_failed(&self) -> usize {
        self.scores().filter(|score| score.failed()).count()
    }

    /// What one figure says of the column: found, of how many.
    pub fn figure(&self) -> (usize, usize) {
        let one = |score: &Score| match score {
            Score::Pair(score) => (usize::from(score.found()), 1),
            Score::Edges(score) => (score.n_right, score.n_edges),
            Score::Run(score) => (usize::from(score.first == Verdict::Right), 1),
            Score::Ranks(score) => (score.n_found(), score.planted.len()),
            Score::Micro(score) => (score.n_found, score.n_wanted),
        };
        self.scores().map(one).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Median and maximum of processor seconds, over programs.
    pub fn cpu(&self) -> (f64, f64) {
        let mut all: Vec<f64> =
            self.scored.iter().flat_map(|scored| &scored.cpu).copied().collect();
        all.sort_by(f64::total_cmp);
        let median = match all.len() {
            0 => 0.0,
            n if n % 2 == 1 => all[n / 2],
            n => (all[n / 2 - 1] + all[n / 2]) / 2.0,
        };
        (median, all.last().copied().unwrap_or(0.0))
    }
}

/// `leak 2, null-dereference 1`.
pub fn counted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let told: Vec<String> = counts.iter().map(|(name, n)| format!("{name} {n}")).collect();
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases::said::{At, Notice};

    fn report(level: &str, line: u32) -> Reported {
        Reported {
            rule: "leak".to_owned(),
            level: level.to_owned(),
            places: vec![At::new("a.c", line)],
            has_witness: true,
            ..Reported::default()
        }
    }

    #[test]
    fn what_was_not_reproduced_is_told() {
        let notice = |line, text: &str| Notice { at: At::new("a.c", line), text: text.to_owned() };
        let said = Said {
            reports: vec![report("reproduced", 1), report("proved", 2), report("proved", 3)],
            notices: vec![notice(2, "not reproduced: it exited"), notice(3, "runs do not go in")],
            cpu: 1.0,
            ..Said::default()
        };
        let scored = scored(&Case::Marked("a.c".to_owned(), Vec::new()), &[said]);
        assert_eq!((scored.n_witnesses, scored.n_reproduced), (3, 1));
        assert_eq!(
            scored.differences,
            ["a.c:2 leak: not reproduced: it exited", "a.c:3 leak: no word of it"]
        );
    }

    #[test]
    fn the_median_lies_between_two_programs() {
        let of = |cpu: Vec<f64>| {
            let said: Vec<Said> =
                cpu.iter().map(|cpu| Said { cpu: *cpu, ..Said::default() }).collect();
            let case = Case::Marked("a.c".to_owned(), Vec::new());
            let (name, base) = (String::new(), String::new());
            let scored =
                said.iter().map(|said| scored(&case, std::slice::from_ref(said))).collect();
            Column { name, base, is_ours: true, replays: false, scored }.cpu()
        };
        assert_eq!(of(vec![5.0, 1.0, 2.0]), (2.0, 5.0));
        assert_eq!(of(vec![4.0, 1.0, 2.0, 3.0]), (2.5, 4.0));
        assert_eq!(of(Vec::new()), (0.0, 0.0));
    }
}
