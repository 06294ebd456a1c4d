//! Whether the first corruption of a failing run was named, and the race that does harm.

use serde::Serialize;

use super::said::{At, Said};
use super::truth::Run;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Verdict {
    Right,
    Wrong,
    Silent,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Verdict::Right => "right",
            Verdict::Wrong => "wrong",
            Verdict::Silent => "silent",
        })
    }
}

/// A run as one tool has it.
#[derive(Clone, Debug, Serialize)]
pub struct RunScore {
    pub name: String,
    /// The first corruption.
    pub first: Verdict,
    /// For programs with threads: the race. `Right` on a benign program is silence.
    pub race: Option<Verdict>,
    pub is_harmful: bool,
    pub named: String,
    pub why: String,
}

pub fn score(run: &Run, said: &Said) -> RunScore {
    let is_own = |at: &At| run.source.rsplit('/').next() == Some(at.file.as_str());
    let is_first = |at: &At| {
        let wanted = run.first_corruption_line.iter().chain(&run.first_corruption_also_accept);
        is_own(at) && wanted.into_iter().any(|line| *line == at.line)
    };
    let first = match &said.corruption {
        Some(found) if is_first(&found.at) => Verdict::Right,
        Some(_) => Verdict::Wrong,
        // Nothing is corrupted, and nothing is said.
        None if run.first_corruption_line.is_none() => Verdict::Right,
        None => Verdict::Silent,
    };
    let race = run.race.as_ref().map(|race| {
        let is_known = |at: &At| {
            let accesses = race.accesses.iter().map(|access| access.line);
            is_own(at) && accesses.chain(race.secondary_lines.iter().copied()).any(|l| l == at.line)
        };
        let is_told = said.corruption.is_some() || !said.race.is_empty();
        match (race.harmful, is_told) {
            (false, true) => Verdict::Wrong,
            (false, false) => Verdict::Right,
            (true, _) if said.race.is_empty() => Verdict::Silent,
            (true, _) if said.race.iter().all(is_known) => Verdict::Right,
            (true, _) => Verdict::Wrong,
        }
    });
    RunScore {
        name: run.id.clone(),
        first,
        race,
        is_harmful: run.race.as_ref().is_none_or(|race| race.harmful),
        named: named(said),
        why: match (&said.failed, &said.corruption) {
            (Some(why), None) => why.clone(),
            _ => String::new(),
        },
    }
}

fn named(said: &Said) -> String {
    let corruption = said.corruption.iter().map(|found| format!("{} {}", found.kind, found.at));
    let lines: Vec<String> = said.race.iter().map(|at| at.line.to_string()).collect();
    let race = (!lines.is_empty()).then(|| format!("accesses {}", lines.join(" and ")));
    corruption.chain(race).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases::said::Corruption;
    use crate::bench::cases::truth;

    fn run(harmful: bool) -> Run {
        let first = if harmful { "28" } else { "null" };
        let text = format!(
            r#"{{"programs": [{{"id": "t", "dir": "t", "source": "prog.c", "threads": true,
            "input": {{"args": []}}, "outcome": "signal", "first_corruption_line": {first},
            "first_corruption_also_accept": [31],
            "race": {{"harmful": {harmful}, "secondary_lines": [60],
                      "accesses": [{{"line": 55}}, {{"line": 28}}]}}}}]}}"#
        );
        truth::parse(&text).unwrap().programs.remove(0)
    }

    fn said(line: u32, race: &[u32]) -> Said {
        let race = race.iter().map(|line| At::new("prog.c", *line)).collect();
        let kind = "race".to_owned();
        let corruption = Some(Corruption { at: At::new("dir/prog.c", line), kind });
        Said { corruption, race, ..Said::default() }
    }

    fn verdicts(run: &Run, said: &Said) -> (Verdict, Verdict) {
        let score = score(run, said);
        (score.first, score.race.unwrap())
    }

    #[test]
    fn the_line_and_the_race_count_apart() {
        use Verdict::{Right, Silent, Wrong};
        assert_eq!(verdicts(&run(true), &said(28, &[55, 28])), (Right, Right));
        assert_eq!(verdicts(&run(true), &said(31, &[60, 28])), (Right, Right));
        assert_eq!(verdicts(&run(true), &said(29, &[55, 28])), (Wrong, Right));
        assert_eq!(verdicts(&run(true), &said(28, &[55, 29])), (Right, Wrong));
        assert_eq!(verdicts(&run(true), &said(28, &[])), (Right, Silent));
        assert_eq!(verdicts(&run(true), &Said::default()), (Silent, Silent));
        let race_alone = Said { corruption: None, ..said(28, &[55, 28]) };
        assert_eq!(verdicts(&run(true), &race_alone), (Silent, Right));
    }

    #[test]
    fn the_line_of_another_file_is_wrong() {
        let mut said = said(28, &[]);
        said.corruption.as_mut().unwrap().at.file = "other.c".to_owned();
        assert_eq!(score(&run(true), &said).first, Verdict::Wrong);
    }

    #[test]
    fn a_benign_race_must_not_be_called_harmful() {
        assert_eq!(verdicts(&run(false), &Said::default()), (Verdict::Right, Verdict::Right));
        assert_eq!(verdicts(&run(false), &said(28, &[55, 28])), (Verdict::Wrong, Verdict::Wrong));
    }
}
