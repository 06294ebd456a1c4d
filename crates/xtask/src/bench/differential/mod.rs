//! `cargo xtask bench differential`: generated programs, and three opinions on each.
//!
//! What the opinions are and which contradictions count is said in the crate `differential`.
//! Rows are kept in `--out`, so that a measurement goes on where it stopped; a folder for each
//! contradiction holds a program that was made small.

mod page;
mod row;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use differential::{Case, Contradiction, Effort, Kind, Tool};
use fixture::idioms::{self, Idiom, Spec};

use super::parallel;
use super::tool::ToolArgs;
use row::Row;

#[derive(Args)]
pub struct Differential {
    #[command(flatten)]
    tool: ToolArgs,
    /// The first program; each has a seed of its own
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Programs to examine
    #[arg(long, default_value_t = 200)]
    programs: u64,
    /// Begin no program after so many minutes
    #[arg(long)]
    minutes: Option<u64>,
    /// Programs at a time
    #[arg(short = 'j', long, default_value_t = 1)]
    jobs: usize,
    /// Native runs of each program, of either build
    #[arg(long, default_value_t = 120)]
    inputs: usize,
    /// Questions to the tool for making one contradiction small; 0 for none
    #[arg(long, default_value_t = 40)]
    shrink: u32,
    /// Where rows and reproducers are kept [default: differential in $FIRSTFAULT_BENCH]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also show what this commit, measured in the same folder, said of the same programs
    #[arg(long, value_name = "COMMIT")]
    before: Option<String>,
    /// Only run every form of every idiom natively, and see that it is what it says
    #[arg(long)]
    self_check: bool,
}

/// Processor time an engine has for one program.
const CPU: Duration = Duration::from_secs(120);

pub fn run(root: &Path, options: &Differential) -> Result<()> {
    let idioms = idioms::all();
    if options.self_check {
        return self_check(&idioms, options);
    }
    let named = options.tool.tool(root)?;
    let tool = Tool::new(&named.path, CPU)?;
    let out = options.out.clone().unwrap_or_else(|| super::scratch().join("differential"));
    std::fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let kept = row::kept(&out, &named.commit);
    let mut rows = row::load(&kept)?;
    let seeds = options.seed..options.seed.saturating_add(options.programs);
    let before = match &options.before {
        Some(commit) => {
            let mut rows = row::load(&row::kept(&out, commit))?;
            rows.retain(|row| seeds.contains(&row.seed));
            if rows.is_empty() {
                bail!("{} has no rows of {commit} on these programs", out.display());
            }
            Some((commit.as_str(), rows))
        }
        None => None,
    };
    rows.retain(|row| seeds.contains(&row.seed));
    let done: BTreeSet<u64> = rows.iter().map(|row| row.seed).collect();
    let missing: Vec<u64> = seeds.filter(|seed| !done.contains(seed)).collect();
    println!("{} programs of {} are done", done.len(), options.programs);
    let start = Instant::now();
    let limit = options.minutes.map(|minutes| Duration::from_secs(60 * minutes));
    let shared = Shared { idioms: &idioms, tool: &tool, options, out: &out };
    for seeds in missing.chunks(options.jobs.max(1)) {
        if limit.is_some_and(|limit| start.elapsed() >= limit) {
            break;
        }
        for (seed, row) in seeds.iter().zip(parallel::map(seeds, options.jobs, |s| shared.row(*s)))
        {
            let row = row.with_context(|| format!("program {seed}"))?;
            println!("{row}");
            row::append(&kept, &row)?;
            rows.push(row);
        }
    }
    rows.sort_by_key(|row| row.seed);
    if rows.is_empty() {
        bail!("no program was examined");
    }
    let before = before.as_ref().map(|(commit, rows)| (*commit, rows.as_slice()));
    page::write(root, &rows, before, &named.commit, options.seed)?;
    let n_defects = rows.iter().flat_map(|row| &row.contradictions);
    println!(
        "{} defects; reproducers are in {}",
        n_defects.filter(|c| c.is_defect()).count(),
        out.display()
    );
    Ok(())
}

struct Shared<'a> {
    idioms: &'a [Idiom],
    tool: &'a Tool,
    options: &'a Differential,
    out: &'a Path,
}

impl Shared<'_> {
    fn row(&self, seed: u64) -> Result<Row> {
        let spec = Spec::new(self.idioms, seed);
        let case = Case::new(self.idioms, &spec);
        let effort = Effort { n_rounds: 3, n_inputs: self.options.inputs };
        let examined = differential::examine(
            self.tool,
            &case,
            &differential::inputs(self.idioms, &spec, seed, effort),
        )?;
        for contradiction in &examined.contradictions {
            self.reproduce(seed, &spec, &case, contradiction)?;
        }
        Ok(Row::new(seed, &case, &examined))
    }

    /// A reproducer for the first contradiction of its kind, rule and idiom.
    fn reproduce(
        &self,
        seed: u64,
        spec: &Spec,
        case: &Case,
        contradiction: &Contradiction,
    ) -> Result<()> {
        let engine = contradiction.engine.map_or("both", differential::Engine::name);
        let about = case.name(contradiction.part).replace('/', "-").replace(" (right)", "");
        let name = [contradiction.kind.name(), engine, &contradiction.rule, &about];
        let name =
            name.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("-");
        let name = match contradiction.kind {
            Kind::False | Kind::Missed => name,
            // Each defect is kept.
            _ => format!("{name}-{seed}-{}", contradiction.line),
        };
        if self.options.shrink == 0 || self.out.join(&name).exists() {
            return Ok(());
        }
        let shrunk =
            differential::shrink(self.tool, self.idioms, spec, contradiction, self.options.shrink)?;
        differential::write(self.out, &name, self.tool, &shrunk.case, &shrunk.contradiction)?;
        Ok(())
    }
}

fn self_check(idioms: &[Idiom], options: &Differential) -> Result<()> {
    let forms = idioms.iter().enumerate().flat_map(|(idiom, about)| {
        let wrong = (0..about.variants.len()).map(Some);
        std::iter::once(None).chain(wrong).map(move |variant| (idiom, variant))
    });
    let forms: Vec<(usize, Option<usize>)> = forms.collect();
    let mut n_wrong = 0;
    for forms in forms.chunks(options.jobs.max(1)) {
        let checked = parallel::map(forms, options.jobs, |(idiom, variant)| {
            differential::self_check(idioms, *idiom, *variant, options.seed)
        });
        for checked in checked {
            let checked = checked?;
            let mark = if checked.is_right { "ok" } else { "WRONG" };
            println!("{mark:5} {}: {}", checked.name, checked.told);
            n_wrong += usize::from(!checked.is_right);
        }
        std::io::stdout().flush()?;
    }
    if n_wrong > 0 {
        bail!("{n_wrong} of {} forms are not what they say", forms.len());
    }
    println!("{} forms are what they say", forms.len());
    Ok(())
}
