//! The tables of a part, for the terminal and for the result page.

use std::collections::BTreeSet;

use super::dynamic::Verdict;
use super::result::{Column, Measured, Score, counted};
use super::score::PairScore;
use crate::bench::table::Table;

/// Everything that is shown of a part.
pub fn of_part(measured: &Measured) -> String {
    let columns = &measured.columns;
    let n = columns.first().map_or(0, |column| column.scored.len());
    let mut text = format!("## {} ({n} case{})\n\n", measured.part, if n == 1 { "" } else { "s" });
    let first = columns.iter().flat_map(Column::scores).next();
    match first {
        Some(Score::Pair(_)) => text += &pairs(columns),
        Some(Score::Edges(_)) => text += &edges(columns),
        Some(Score::Run(_)) => text += &runs(columns),
        Some(Score::Ranks(_)) => text += &ranks(columns),
        Some(Score::Micro(_)) => text += &micros(columns),
        None => text += "Nothing was measured.\n",
    }
    text += &seeds(columns);
    text += &replays(columns);
    text += &missed(columns);
    text
}

fn of(n: usize, total: usize) -> String {
    format!("{n} of {total}")
}

fn seconds(column: &Column) -> [String; 2] {
    let (median, max) = column.cpu();
    [format!("{median:.2}"), format!("{max:.1}")]
}

fn pairs(columns: &[Column]) -> String {
    let mut table = Table::new(&[
        "tool",
        "found",
        "exact rule",
        "twins hit",
        "of them shown by a run",
        "pairs right",
        "path-correlated twins hit",
        "extra on flawed",
        "consequences",
        "no rule of ours",
        "failed",
        "CPU s median",
        "max",
    ]);
    for column in columns {
        let all = column.pairs();
        let n = all.len();
        let count = |is: &dyn Fn(&PairScore) -> bool| all.iter().filter(|pair| is(pair)).count();
        let faults: usize = all.iter().map(|pair| pair.wanted.len()).sum();
        let exact = all.iter().flat_map(|pair| &pair.wanted).filter(|wanted| wanted.exact).count();
        let [median, max] = seconds(column);
        table.row(vec![
            column.name.clone(),
            of(count(&|pair| pair.found()), n),
            of(exact, faults),
            of(count(&|pair| pair.twin_hit()), n),
            count(&|pair| pair.twin_shown()).to_string(),
            of(count(&|pair| pair.right()), n),
            of(
                count(&|pair| pair.is_path_correlated && pair.twin_hit()),
                count(&|pair| pair.is_path_correlated),
            ),
            all.iter().map(|pair| pair.extra.len()).sum::<usize>().to_string(),
            of(
                all.iter().map(|pair| pair.n_consequences_found).sum(),
                all.iter().map(|pair| pair.n_consequences).sum(),
            ),
            column.scored.iter().map(|scored| scored.n_unmapped).sum::<usize>().to_string(),
            column.n_failed().to_string(),
            median,
            max,
        ]);
    }
    format!("{table}\n{}\n{}\n{}", by_rule(columns), by_kind(columns), levels(columns))
}

/// Faults found of each rule, then reports on twins and extra ones.
fn by_rule(columns: &[Column]) -> String {
    let pairs = || columns.iter().flat_map(Column::pairs);
    let mut rules: BTreeSet<&str> =
        pairs().flat_map(|pair| &pair.wanted).map(|wanted| wanted.rule.as_str()).collect();
    rules.extend(pairs().flat_map(|pair| &pair.on_twin).map(|(rule, _)| rule.as_str()));
    rules.extend(pairs().flat_map(|pair| &pair.extra).map(String::as_str));
    let mut header = vec!["found / on twins / extra, by rule"];
    header.extend(columns.iter().map(|column| column.name.as_str()));
    let mut table = Table::new(&header);
    for rule in rules {
        let mut row = vec![rule.to_owned()];
        row.extend(columns.iter().map(|column| {
            let all = column.pairs();
            let wanted: Vec<bool> = all
                .iter()
                .flat_map(|pair| &pair.wanted)
                .filter(|wanted| wanted.rule == rule)
                .map(|wanted| wanted.found)
                .collect();
            let on_twins =
                all.iter().flat_map(|pair| &pair.on_twin).filter(|(r, _)| r == rule).count();
            let extra = all.iter().flat_map(|pair| &pair.extra).filter(|r| *r == rule).count();
            let found = wanted.iter().filter(|found| **found).count();
            format!("{} / {on_twins} / {extra}", of(found, wanted.len()))
        }));
        table.row(row);
    }
    table.to_string()
}

fn by_kind(columns: &[Column]) -> String {
    let kinds: BTreeSet<&str> =
        columns.iter().flat_map(Column::pairs).map(|pair| pair.kind.as_str()).collect();
    let mut header = vec!["found / twins hit / right / extra, by kind"];
    header.extend(columns.iter().map(|column| column.name.as_str()));
    let mut table = Table::new(&header);
    for kind in kinds {
        let mut row = vec![kind.to_owned()];
        row.extend(columns.iter().map(|column| {
            let all: Vec<&PairScore> =
                column.pairs().into_iter().filter(|pair| pair.kind == kind).collect();
            let count =
                |is: &dyn Fn(&PairScore) -> bool| all.iter().filter(|pair| is(pair)).count();
            let (found, hit) = (count(&|pair| pair.found()), count(&|pair| pair.twin_hit()));
            let extra: usize = all.iter().map(|pair| pair.extra.len()).sum();
            let right = count(&|pair| pair.right());
            format!("{} / {hit} / {right} / {extra}", of(found, all.len()))
        }));
        table.row(row);
    }
    table.to_string()
}

/// Reports on corrected twins by the evidence they claim.
fn levels(columns: &[Column]) -> String {
    let mut text = String::new();
    for column in columns.iter().filter(|column| column.is_ours) {
        let all = column.pairs();
        let on_twins = || all.iter().flat_map(|pair| &pair.on_twin);
        let shown = on_twins().filter(|(_, is_shown)| *is_shown).map(|(rule, _)| rule);
        let likely = on_twins().filter(|(_, is_shown)| !is_shown).map(|(rule, _)| rule);
        let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
        text += &format!(
            "{}: reports on twins, proved or reproduced: {}; likely: {}.\n\n",
            column.name,
            or_none(counted(shown)),
            or_none(counted(likely))
        );
    }
    text
}

fn edges(columns: &[Column]) -> String {
    let mut table = Table::new(&[
        "tool",
        "faults found",
        "reports",
        "extra",
        "edges right",
        "of reported",
        "neutral",
        "uniqueness right",
        "groups right",
        "failed",
        "CPU s median",
        "max",
    ]);
    for column in columns {
        let all = column.edges();
        let sum = |f: &dyn Fn(&super::edges::EdgeScore) -> usize| -> usize {
            all.iter().map(|score| f(score)).sum()
        };
        let [median, max] = seconds(column);
        let right = sum(&|score| score.n_right);
        table.row(vec![
            column.name.clone(),
            of(sum(&|score| score.n_found), sum(&|score| score.n_faults)),
            sum(&|score| score.n_reported).to_string(),
            sum(&|score| score.extra.len()).to_string(),
            of(right, sum(&|score| score.n_edges)),
            of(right, right + sum(&|score| score.n_wrong())),
            sum(&|score| score.n_neutral).to_string(),
            of(sum(&|score| score.n_unique_right), right),
            of(sum(&|score| score.n_groups_right), all.len()),
            column.n_failed().to_string(),
            median,
            max,
        ]);
    }
    format!("{table}\n")
}

fn runs(columns: &[Column]) -> String {
    let has_threads = columns.iter().flat_map(Column::runs).any(|run| run.race.is_some());
    let mut table = Table::new(&[
        "tool",
        "first corruption right",
        "wrong",
        "silent",
        "harmful races right",
        "wrong",
        "benign ones silent",
        "CPU s median",
        "max",
    ]);
    for column in columns {
        let all = column.runs();
        let harmful: Vec<_> = all.iter().filter(|run| run.is_harmful).collect();
        let first = |verdict| harmful.iter().filter(|run| run.first == verdict).count();
        let race = |is_harmful: bool, verdict: Verdict| {
            let of_kind = all.iter().filter(|run| run.is_harmful == is_harmful);
            of_kind.filter(|run| run.race == Some(verdict)).count()
        };
        let [median, max] = seconds(column);
        let threaded = |cell: String| if has_threads { cell } else { "-".to_owned() };
        table.row(vec![
            column.name.clone(),
            of(first(Verdict::Right), harmful.len()),
            first(Verdict::Wrong).to_string(),
            first(Verdict::Silent).to_string(),
            threaded(of(race(true, Verdict::Right), harmful.len())),
            threaded(race(true, Verdict::Wrong).to_string()),
            threaded(of(race(false, Verdict::Right), all.len() - harmful.len())),
            median,
            max,
        ]);
    }
    let mut header = vec!["program"];
    header.extend(columns.iter().map(|column| column.name.as_str()));
    let mut each = Table::new(&header);
    let n = columns.first().map_or(0, |column| column.scored.len());
    for index in 0..n {
        let mut row = vec![columns[0].scored[index].score.name().to_owned()];
        row.extend(columns.iter().map(|column| column.scored[index].score.short()));
        each.row(row);
    }
    format!("{table}\n{each}\n")
}

fn ranks(columns: &[Column]) -> String {
    let mut table = Table::new(&[
        "code base",
        "planted found",
        "ranks",
        "at the top",
        "decoys reported",
        "decoys above",
        "extra",
        "CPU s",
    ]);
    for column in columns {
        let mut total = [0; 7];
        for (base, scored) in column.ranks().iter().zip(&column.scored) {
            let ranks: Vec<String> = base.ranks().map(|rank| rank.to_string()).collect();
            let numbers = [
                base.n_found(),
                base.planted.len(),
                base.n_at_top(),
                base.n_decoys_reported,
                base.n_decoys,
                base.decoys_above.len(),
                base.extra.len(),
            ];
            total.iter_mut().zip(numbers).for_each(|(sum, n)| *sum += n);
            let cpu: f64 = scored.cpu.iter().sum();
            table.row(rank_row(&base.name, numbers, ranks.join(" "), format!("{cpu:.1}")));
        }
        let [median, _] = seconds(column);
        table.row(rank_row("all", total, String::new(), format!("{median} median")));
    }
    let mut text = format!("{table}\n");
    for column in columns {
        let extra: Vec<String> =
            column.ranks().iter().flat_map(|base| base.extra.iter().cloned()).collect();
        text += &format!("Extra reports, neither planted nor a decoy: {}.\n\n", counted(&extra));
    }
    text
}

fn rank_row(name: &str, numbers: [usize; 7], ranks: String, cpu: String) -> Vec<String> {
    let [found, planted, top, reported, decoys, above, extra] = numbers;
    vec![
        name.to_owned(),
        of(found, planted),
        ranks,
        of(top, planted),
        of(reported, decoys),
        above.to_string(),
        extra.to_string(),
        cpu,
    ]
}

fn micros(columns: &[Column]) -> String {
    let mut table = Table::new(&[
        "tool",
        "found",
        "programs with other reports",
        "failed",
        "CPU s median",
        "max",
    ]);
    for column in columns {
        let (found, wanted) = column.figure();
        let with_extra = column.micros().iter().filter(|micro| !micro.extra.is_empty()).count();
        let [median, max] = seconds(column);
        table.row(vec![
            column.name.clone(),
            if wanted == 0 { "-".to_owned() } else { of(found, wanted) },
            of(with_extra, column.scored.len()),
            column.n_failed().to_string(),
            median,
            max,
        ]);
    }
    let mut text = format!("{table}\n");
    for column in columns.iter().filter(|column| column.is_ours) {
        let micros = column.micros();
        let extra = micros.iter().filter(|micro| !micro.extra.is_empty());
        let told: Vec<String> =
            extra.map(|micro| format!("{} ({})", micro.name, counted(&micro.extra))).collect();
        if !told.is_empty() {
            text += &format!("{}, other reports: {}.\n\n", column.name, told.join("; "));
        }
    }
    text
}

/// The spread over seeds, where there are several.
fn seeds(columns: &[Column]) -> String {
    let mut text = String::new();
    let bases: BTreeSet<&str> = columns.iter().map(|column| column.base.as_str()).collect();
    for base in bases {
        let of_base: Vec<&Column> = columns.iter().filter(|column| column.base == base).collect();
        if of_base.len() < 2 {
            continue;
        }
        let figures: Vec<usize> = of_base.iter().map(|column| column.figure().0).collect();
        let (least, most) = (figures.iter().min(), figures.iter().max());
        let each: Vec<String> = of_base
            .iter()
            .map(|column| format!("{}: {}", column.name, of(column.figure().0, column.figure().1)))
            .collect();
        if let (Some(least), Some(most)) = (least, most) {
            text += &format!("{}; spread {least} to {most}.\n\n", each.join("; "));
        }
    }
    text
}

fn replays(columns: &[Column]) -> String {
    let mut text = String::new();
    for column in columns.iter().filter(|column| column.replays) {
        let sum = |f: &dyn Fn(&super::result::Scored) -> usize| -> usize {
            column.scored.iter().map(f).sum()
        };
        let (proved, reproduced) = (sum(&|s| s.n_witnesses), sum(&|s| s.n_reproduced));
        text += &format!(
            "{}: {proved} findings with an input, {reproduced} reproduced, {} different.\n\n",
            column.name,
            proved - reproduced
        );
        for difference in column.scored.iter().flat_map(|scored| &scored.differences) {
            text += &format!("- {difference}\n");
        }
        if proved > reproduced {
            text += "\n";
        }
    }
    text
}

/// How each of our misses ended.
fn missed(columns: &[Column]) -> String {
    let mut text = String::new();
    for column in columns.iter().filter(|column| column.is_ours) {
        let missed: Vec<String> = column
            .scores()
            .flat_map(|score| {
                score.missed().into_iter().map(move |told| format!("- {}: {told}\n", score.name()))
            })
            .collect();
        if !missed.is_empty() {
            text += &format!("Missed by {}:\n\n{}\n", column.name, missed.concat());
        }
    }
    text
}
