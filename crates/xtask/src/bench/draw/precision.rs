//! `bench draw --report`: how much of what was reported on fresh code is true.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::verdicts::{self, Draw, Judged, Package, Verdict};
use crate::bench::ledger::{self, Entry, Set};
use crate::bench::table::Table;

/// True of those judged that is wanted, in percent.
const BAR_PERCENT: u64 = 60;

const COMMAND: &str = "cargo xtask bench draw --report";

/// Verdicts counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub n_true: u64,
    pub n_false: u64,
    pub n_unclear: u64,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::True => self.n_true += 1,
            Verdict::False => self.n_false += 1,
            Verdict::Unclear => self.n_unclear += 1,
            Verdict::Open => {}
        }
    }

    fn n_judged(&self) -> u64 {
        self.n_true + self.n_false + self.n_unclear
    }

    /// True of all judged: what is unclear to a reader is not taken for true.
    fn precision(&self) -> String {
        match self.n_judged() {
            0 => "-".to_owned(),
            n => format!("{} of {n} ({} %)", self.n_true, (self.n_true * 100 + n / 2) / n),
        }
    }

    fn cells(&self) -> [String; 4] {
        [
            self.precision(),
            self.n_true.to_string(),
            self.n_false.to_string(),
            self.n_unclear.to_string(),
        ]
    }
}

/// What counts of all draws: of a package drawn twice, only the first reading.
struct Counted<'a> {
    draws: Vec<(&'a str, &'a Draw)>,
    packages: Vec<(&'a str, &'a Package)>,
    findings: Vec<(&'a str, &'a Judged)>,
}

impl<'a> Counted<'a> {
    fn of(draws: &'a [(String, Draw)]) -> Self {
        let mut by_date: Vec<(&str, &Draw)> =
            draws.iter().map(|(name, draw)| (name.as_str(), draw)).collect();
        by_date.sort_by_key(|(name, draw)| (&draw.date, *name));
        let mut counted = Self { draws: by_date, packages: Vec::new(), findings: Vec::new() };
        let mut seen = BTreeSet::new();
        for (name, draw) in &counted.draws {
            for package in draw.packages.iter().filter(|p| seen.insert(&p.name)) {
                counted.packages.push((name, package));
                let of_package = draw.findings.iter().filter(|f| f.package == package.name);
                counted.findings.extend(of_package.map(|finding| (*name, finding)));
            }
        }
        counted
    }

    fn count<K: Ord>(&self, key: impl Fn(&str, &Judged) -> Option<K>) -> BTreeMap<K, Counts> {
        let mut counts: BTreeMap<K, Counts> = BTreeMap::new();
        for (draw, finding) in &self.findings {
            if let Some(key) = key(draw, finding) {
                counts.entry(key).or_default().add(finding.verdict);
            }
        }
        counts
    }

    /// Reports of a tool, and the lines of the packages it was run on.
    fn density(&self, tool: &str, of_draw: impl Fn(&str) -> bool) -> (u64, u64) {
        let mut sum = (0, 0);
        for (_, package) in self.packages.iter().filter(|(draw, _)| of_draw(draw)) {
            if let Some(n) = package.reports.get(tool) {
                sum.0 += *n as u64;
                sum.1 += package.lines;
            }
        }
        sum
    }

    /// The draws that measured the same commit as the last one.
    fn latest(&self) -> Vec<&'a str> {
        let commit = self.draws.last().map(|(_, draw)| &draw.commit);
        let of_commit = self.draws.iter().filter(|(_, draw)| Some(&draw.commit) == commit);
        of_commit.map(|(name, _)| *name).collect()
    }
}

fn per_kloc((n, lines): (u64, u64)) -> String {
    if lines == 0 { "-".to_owned() } else { format!("{:.2}", n as f64 * 1000.0 / lines as f64) }
}

pub fn run(root: &Path) -> Result<()> {
    let draws = verdicts::all(root)?;
    if draws.is_empty() {
        bail!("bench/draws has no draw yet; see cargo xtask bench draw --help");
    }
    let counted = Counted::of(&draws);
    let text = page(&counted);
    print!("{text}");
    let path = root.join("bench/results/draws.md");
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    ledger::record(root, entries(&counted))
}

const TOOLS: &[(&str, &str)] = &[
    ("firstfault", "firstfault check"),
    ("beliefs", "firstfault beliefs"),
    ("clang", "clang-19 --analyze"),
    ("gcc", "gcc -fanalyzer"),
];

fn page(counted: &Counted<'_>) -> String {
    let mut text = format!(
        "# Fresh packages, judged\n\n`{COMMAND}`. Source packages of Debian drawn by a seed, mostly \
         C, 3 to 80 KLOC, that had never been looked at before; of each package up to twelve \
         findings (and six of each other tool, and the first ten deviations from beliefs) were \
         chosen by the seed and read by hand. *True* has an input or a sequence of calls; what \
         stayed *unclear* does not count as true. A package counts only for its first reading. \
         Clang's reports of useless code (`deadcode`) claim no fault and do not count. CPU seconds of \
         `check` are without preprocessing, which the watched build has paid for. \
         The bar is {BAR_PERCENT} % true.\n"
    );
    section(&mut text, "Draws", &draws_table(counted));
    section(&mut text, "By tool", &tools_table(counted));
    let rules = counted.count(|_, f| (f.tool == "firstfault").then(|| f.rule.clone()));
    section(&mut text, "By rule", &by("rule", rules));
    let levels = counted.count(|_, f| {
        let level = if f.level.is_empty() { "none" } else { &f.level };
        (f.tool == "firstfault").then(|| level.to_owned())
    });
    section(&mut text, "By level", &by("level", levels));
    let causes = counted.count(|_, f| {
        (f.tool == "firstfault" && f.verdict == Verdict::False).then(|| f.cause.clone())
    });
    let mut table = Table::new(&["cause", "findings"]);
    for (cause, counts) in causes {
        table.row(vec![cause, counts.n_false.to_string()]);
    }
    section(&mut text, "Why findings were false", &table);
    let peers = counted.count(|_, f| {
        ["clang", "gcc"].contains(&f.tool.as_str()).then(|| format!("{} {}", f.tool, f.rule))
    });
    section(&mut text, "Other tools by rule", &by("rule", peers));
    let templates = counted.count(|_, f| (f.tool == "beliefs").then(|| f.rule.clone()));
    section(&mut text, "Deviations by template", &by("template", templates));
    section(&mut text, "Packages", &packages_table(counted));
    let mut table = Table::new(&["not measured", "draw", "stage"]);
    for (name, draw) in &counted.draws {
        for failed in &draw.failed {
            let package = format!("{} {}", failed.name, failed.version);
            table.row(vec![package, (*name).to_owned(), failed.stage.clone()]);
        }
    }
    section(&mut text, "Others drawn in their place", &table);
    text
}

fn section(text: &mut String, title: &str, table: &Table) {
    *text += &format!("\n## {title}\n\n{table}");
}

fn by(what: &str, counts: BTreeMap<String, Counts>) -> Table {
    let mut table = Table::new(&[what, "true of judged", "true", "false", "unclear"]);
    for (name, counts) in counts {
        table.row([name].into_iter().chain(counts.cells()).collect());
    }
    table
}

fn draws_table(counted: &Counted<'_>) -> Table {
    let header = ["draw", "date", "commit", "seed", "packages", "check", "beliefs", "clang", "gcc"];
    let mut table = Table::new(&header);
    let counts = counted.count(|draw, f| Some((draw.to_owned(), f.tool.clone())));
    for (name, draw) in &counted.draws {
        let n = counted.packages.iter().filter(|(of, _)| of == name).count();
        let mut row = vec![
            (*name).to_owned(),
            draw.date.clone(),
            draw.commit.clone(),
            draw.seed.to_string(),
            n.to_string(),
        ];
        row.extend(TOOLS.iter().map(|(tool, _)| {
            let key = ((*name).to_owned(), (*tool).to_owned());
            counts.get(&key).copied().unwrap_or_default().precision()
        }));
        table.row(row);
    }
    table
}

fn tools_table(counted: &Counted<'_>) -> Table {
    let header = ["tool", "true of judged", "true", "false", "unclear", "reports", "per KLOC"];
    let mut table = Table::new(&header);
    let counts = counted.count(|_, f| Some(f.tool.clone()));
    for (tool, title) in TOOLS {
        let density = counted.density(tool, |_| true);
        let counts = counts.get(*tool).copied().unwrap_or_default();
        let cells = [(*title).to_owned()].into_iter().chain(counts.cells());
        table.row(cells.chain([density.0.to_string(), per_kloc(density)]).collect());
    }
    table
}

fn packages_table(counted: &Counted<'_>) -> Table {
    let header = ["package", "draw", "units", "KLOC", "check", "CPU s", "beliefs", "clang", "gcc"];
    let mut table = Table::new(&header);
    for (draw, package) in &counted.packages {
        let reports =
            |tool: &str| package.reports.get(tool).map_or("-".to_owned(), usize::to_string);
        let cpu = package.cpu_seconds.get("firstfault").map_or("-".to_owned(), u64::to_string);
        table.row(vec![
            format!("{} {}", package.name, package.version),
            (*draw).to_owned(),
            package.units.to_string(),
            format!("{:.1}", package.lines as f64 / 1000.0),
            reports("firstfault"),
            cpu,
            reports("beliefs"),
            reports("clang"),
            reports("gcc"),
        ]);
    }
    table
}

/// Figures of the commit that was measured last.
fn entries(counted: &Counted<'_>) -> Vec<Entry> {
    let latest = counted.latest();
    let Some((_, last)) = counted.draws.last() else { return Vec::new() };
    let counts = counted.count(|draw, f| latest.contains(&draw).then(|| f.tool.clone()));
    let mut entries = Vec::new();
    let mut add = |part: &str, what: String, figure: String, bar: String| {
        entries.push(Entry {
            part: part.to_owned(),
            set: Set::Fresh,
            what,
            figure,
            bar,
            commit: last.commit.clone(),
            date: last.date.clone(),
            command: COMMAND.to_owned(),
            page: "draws.md".to_owned(),
        });
    };
    for (tool, title) in TOOLS {
        let (part, bar) = match *tool {
            "firstfault" => ("detection", format!("{BAR_PERCENT} %")),
            "beliefs" => ("beliefs", String::new()),
            _ => ("detection", String::new()),
        };
        if let Some(counts) = counts.get(*tool).filter(|counts| counts.n_judged() > 0) {
            add(part, format!("reports of {title}: true of judged"), counts.precision(), bar);
        }
        let density = counted.density(tool, |draw| latest.contains(&draw));
        if density.1 > 0 {
            let what = format!("reports of {title} per KLOC");
            add(part, what, per_kloc(density), String::new());
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::super::verdicts::tests::{draw, judged};
    use super::*;

    fn two_draws() -> Vec<(String, Draw)> {
        let mut first = draw(vec![
            judged("firstfault", 1, Verdict::True),
            judged("firstfault", 2, Verdict::False),
            judged("firstfault", 3, Verdict::Unclear),
            judged("clang", 1, Verdict::True),
        ]);
        first.findings[1].rule = "double-free".to_owned();
        // The same package again, which does not count, and a new one.
        let mut second = draw(vec![judged("firstfault", 1, Verdict::False)]);
        let mut bee = judged("firstfault", 1, Verdict::True);
        bee.package = "bee".to_owned();
        bee.level = "proved".to_owned();
        second.findings.push(bee);
        let mut package = second.packages[0].clone();
        package.name = "bee".to_owned();
        package.lines = 1_000;
        second.packages.push(package);
        second.date = "2026-02-01".to_owned();
        second.commit = "def5678".to_owned();
        // Read before the other by date, whatever the names say.
        vec![("001".to_owned(), second), ("002".to_owned(), first)]
    }

    #[test]
    fn unclear_is_not_true() {
        let mut counts = Counts::default();
        assert_eq!(counts.precision(), "-");
        for verdict in [Verdict::True, Verdict::True, Verdict::False, Verdict::Unclear] {
            counts.add(verdict);
        }
        assert_eq!(counts.precision(), "2 of 4 (50 %)");
        counts.add(Verdict::Open);
        counts.add(Verdict::False);
        counts.add(Verdict::True);
        assert_eq!(counts, Counts { n_true: 3, n_false: 2, n_unclear: 1 });
        assert_eq!(Counts { n_true: 2, n_false: 1, n_unclear: 0 }.precision(), "2 of 3 (67 %)");
    }

    #[test]
    fn a_package_counts_for_its_first_reading() {
        let draws = two_draws();
        let counted = Counted::of(&draws);
        let counts = counted.count(|_, f| Some(f.tool.clone()));
        assert_eq!(counts["firstfault"], Counts { n_true: 2, n_false: 1, n_unclear: 1 });
        assert_eq!(counts["clang"], Counts { n_true: 1, ..Counts::default() });
        assert_eq!(counted.density("firstfault", |_| true), (16, 5_000));
        assert_eq!(counted.density("gcc", |_| true), (0, 0));
    }

    #[test]
    fn tables_break_it_down() {
        let draws = two_draws();
        let text = page(&Counted::of(&draws));
        let row = |start: &str| -> String {
            let line = text.lines().find(|line| line.starts_with(&format!("| {start} ")));
            let line = line.unwrap_or_else(|| panic!("no row {start} in {text}"));
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(row("leak"), "| leak | 2 of 3 (67 %) | 2 | 0 | 1 |");
        assert_eq!(row("double-free"), "| double-free | 0 of 1 (0 %) | 0 | 1 | 0 |");
        assert_eq!(row("proved"), "| proved | 1 of 1 (100 %) | 1 | 0 | 0 |");
        assert_eq!(row("none"), "| none | 1 of 3 (33 %) | 1 | 1 | 1 |");
        assert_eq!(
            row("firstfault check"),
            "| firstfault check | 2 of 4 (50 %) | 2 | 1 | 1 | 16 | 3.20 |"
        );
        assert_eq!(
            row("001"),
            "| 001 | 2026-02-01 | def5678 | 1 | 1 | 1 of 1 (100 %) | - | - | - |"
        );
    }

    #[test]
    fn the_ledger_gets_the_last_commit() {
        let draws = two_draws();
        let entries = entries(&Counted::of(&draws));
        let figure = |what: &str| {
            entries.iter().find(|e| e.what.starts_with(what)).map(|e| e.figure.as_str())
        };
        assert_eq!(figure("reports of firstfault check: true"), Some("1 of 1 (100 %)"));
        assert_eq!(figure("reports of firstfault check per KLOC"), Some("8.00"));
        assert_eq!(figure("reports of clang-19 --analyze: true"), None);
        assert!(entries.iter().all(|e| e.commit == "def5678" && e.set == Set::Fresh));
        assert_eq!(entries[0].bar, "60 %");
    }
}
