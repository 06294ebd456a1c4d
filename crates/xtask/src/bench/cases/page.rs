//! The result page of the open cases, and their figures for the ledger.

use super::dynamic::{RunScore, Verdict};
use super::peers::Peer;
use super::result::{Column, Measured, Score};
use super::tables;
use crate::bench::ledger::{Entry, Set};
use crate::bench::tool::Tool;

/// `bench/results/cases.md`.
pub fn text(
    command: &str,
    tool: &Tool,
    date: &str,
    peers: &[Peer],
    measured: &[Measured],
) -> String {
    let mut text = format!(
        "# Open cases\n\n`{command} --write`, firstfault of commit {}, {date}.\n\n\
         The programs of `bench/cases`, which are worked with: figures for finding mechanisms, \
         no measure of quality. A fault is found when a report of its family of rules names its \
         line, one beside it, or another accepted place; a corrected twin is hit by any report \
         in it. Reports that follow from a fault count neither way. CPU is user and system time \
         for one program, compilers included.\n\n",
        tool.commit
    );
    if !peers.is_empty() {
        text += "Other tools, their diagnostics mapped to our rules by `peer_rules.rs`; those \
                 without a rule of ours are counted apart:\n\n";
        for peer in peers {
            let (told, version) = (peer.told(), peer.version());
            text += &format!("- {}: {told}; {version}\n", peer.name());
        }
        text += "\n";
    }
    for part in measured {
        text += &tables::of_part(part);
    }
    format!("{}\n", text.trim_end())
}

/// Our own figures; those of other tools stand on the page.
pub fn entries(command: &str, tool: &Tool, date: &str, measured: &[Measured]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for part in measured {
        let ours: Vec<&Column> = part.columns.iter().filter(|column| column.is_ours).collect();
        for column in &ours {
            for (section, what, figure) in figures(&part.part, column) {
                let of_column = if column.name == "firstfault" {
                    String::new()
                } else {
                    format!(" ({})", column.name)
                };
                entries.push(Entry {
                    part: section.to_owned(),
                    set: Set::Open,
                    what: format!("{what}{of_column}"),
                    figure,
                    bar: String::new(),
                    commit: tool.commit.clone(),
                    date: date.to_owned(),
                    command: format!("{command} --write"),
                    page: "cases.md".to_owned(),
                });
            }
        }
    }
    entries
}

/// Part of the product, what was counted, and the figure.
fn figures(part: &str, column: &Column) -> Vec<(&'static str, String, String)> {
    let (n, total) = column.figure();
    let share = |n: usize, total: usize| {
        let percent = if total == 0 { 0.0 } else { 100.0 * n as f64 / total as f64 };
        format!("{n} of {total} ({percent:.0} %)")
    };
    match column.scores().next() {
        Some(Score::Pair(_)) => {
            let all = column.pairs();
            let hit = all.iter().filter(|pair| pair.twin_hit()).count();
            let right = all.iter().filter(|pair| pair.right()).count();
            let extra: usize = all.iter().map(|pair| pair.extra.len()).sum();
            vec![
                ("detection", format!("{part}: found"), share(n, total)),
                ("detection", format!("{part}: corrected twins hit"), share(hit, total)),
                ("detection", format!("{part}: pairs right"), share(right, total)),
                (
                    "detection",
                    format!("{part}: extra reports on flawed programs"),
                    extra.to_string(),
                ),
            ]
        }
        Some(Score::Edges(_)) => {
            let all = column.edges();
            let wrong: usize = all.iter().map(|score| score.n_wrong()).sum();
            let faults = share(
                all.iter().map(|score| score.n_found).sum(),
                all.iter().map(|score| score.n_faults).sum(),
            );
            vec![
                ("correlation", format!("{part}: edges found"), share(n, total)),
                ("correlation", format!("{part}: edges right of reported"), share(n, n + wrong)),
                ("correlation", format!("{part}: faults found"), faults),
            ]
        }
        Some(Score::Run(_)) => {
            let (harmful, benign): (Vec<_>, Vec<_>) =
                column.runs().into_iter().partition(|run| run.is_harmful);
            let first = harmful.iter().filter(|run| run.first == Verdict::Right).count();
            let mut figures =
                vec![("crash", format!("{part}: first corruption"), share(first, harmful.len()))];
            if harmful.iter().any(|run| run.race.is_some()) {
                let is_right = |run: &&&RunScore| run.race == Some(Verdict::Right);
                let named = harmful.iter().filter(is_right).count();
                let silent = benign.iter().filter(is_right).count();
                figures.extend([
                    ("crash", format!("{part}: harmful races named"), share(named, harmful.len())),
                    (
                        "crash",
                        format!("{part}: silent on benign ones"),
                        share(silent, benign.len()),
                    ),
                ]);
            }
            figures
        }
        Some(Score::Ranks(_)) => {
            let all = column.ranks();
            let decoys = all.iter().map(|base| base.n_decoys).sum();
            let above = all.iter().map(|base| base.decoys_above.len()).sum();
            let above = share(above, decoys);
            vec![
                ("beliefs", format!("{part}: planted deviations found"), share(n, total)),
                ("beliefs", format!("{part}: decoys above a deviation"), above),
            ]
        }
        Some(Score::Micro(_)) => {
            let extra = column.micros().iter().filter(|micro| !micro.extra.is_empty()).count();
            let mut figures = Vec::new();
            if total > 0 {
                figures.push(("micro", format!("{part}: found"), share(n, total)));
            }
            let with_extra = share(extra, column.scored.len());
            figures.push(("micro", format!("{part}: programs with other reports"), with_extra));
            figures
        }
        None => Vec::new(),
    }
}
