//! Searches one failing test for replacements that make it pass.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use base::Scratch;
use llvm::instrument::ValueType;
use rt::layout::{MAX_LEAVES, Mode, activity, flags, status};

use crate::build::Program;
use crate::control::ControlFile;
use crate::profile::Profile;
use crate::runner::{Ending, Job, Runner};
use crate::suite::{Oracle, Test};

/// One value put in the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replacement {
    pub site: u32,
    /// The site's instance, by events since the start of the run, from 1.
    pub event: u64,
    /// The new value of the site.
    pub value: u64,
}

/// A replacement that made the test pass: an IVMP.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    pub replacement: Replacement,
    /// How often the site had been executed, this time included.
    pub instance: u64,
    pub original: u64,
    /// Which leaf's alternate led to the value; `None` for the site's own.
    pub leaf: Option<u32>,
    pub leaf_original: u64,
    pub leaf_alternate: u64,
    /// The leaves' original values.
    pub leaves: Vec<u64>,
    /// How the operands of the deciding comparison relate, where the search goes by that.
    pub relation: u32,
    pub change: Change,
}

/// How a replaced value follows from what the site computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is another value.
    #[default]
    Set,
    /// It is off by so much; a condition is inverted.
    Add,
}

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// A statement is done at its first IVMP.
    pub stop_at_first: bool,
    /// Only the four spanning values.
    pub spanning: bool,
    /// A process per replacement even where snapshots would do.
    pub force_fork: bool,
    /// Run equivalent alternates one by one.
    pub brute_force: bool,
    /// Replace at every later execution with the same operands too, as a change of the
    /// statement itself would.
    pub same_operands: bool,
    /// With `same_operands`: operands of a comparison count as the same if they relate
    /// alike (less, equal, greater), as a changed operator would have it.
    pub by_relation: bool,
    /// With `same_operands`: any operands count as the same, as a changed constant would
    /// have it.
    pub always: bool,
}

/// A statement made to compute another value from the same operands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mapping {
    pub site: u32,
    pub leaves: Vec<u64>,
    /// What the site computes by itself.
    pub original: u64,
    pub value: u64,
    /// Stands for the leaves where it is not 0.
    pub relation: u32,
    /// Whether it holds for any operands; then `leaves` and `original` say nothing.
    pub always: bool,
    pub change: Change,
}

impl Mapping {
    /// What a hit found by a search with these options says.
    pub fn new(hit: &Hit, options: SearchOptions) -> Self {
        let always = options.always;
        let has_leaves = hit.relation == 0 && !always;
        Mapping {
            site: hit.replacement.site,
            leaves: if has_leaves { hit.leaves.clone() } else { Vec::new() },
            relation: if always { 0 } else { hit.relation },
            original: if always { 0 } else { hit.original },
            value: match hit.change {
                Change::Set => hit.replacement.value,
                Change::Add => hit.leaf_alternate,
            },
            always,
            change: hit.change,
        }
    }
}

/// How replaced runs were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Memory copied away and back inside one process.
    #[default]
    Snapshot,
    /// A process forked at the instance.
    Fork,
    /// A run from the start.
    Rerun,
}

/// What a search found and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchOutcome {
    pub hits: Vec<Hit>,
    /// Hits that did not fit the log.
    pub n_lost: u64,
    pub n_replacements: u64,
    /// Alternates that needed no run of their own.
    pub n_equivalents: u64,
    pub n_crashes: u64,
    pub n_hangs: u64,
    pub cpu: Duration,
    pub engine: Engine,
    /// The event from which on the output printed so far was already wrong.
    pub hopeless_from: Option<u64>,
    /// Whether the search came to its end; otherwise what it asked for was too much.
    pub is_finished: bool,
}

/// What a search needs to know about the program, by site.
pub struct Plan<'a> {
    pub profile: &'a Profile,
    /// The statement of each site.
    pub statements: &'a [u32],
    pub n_statements: usize,
    /// Which statements to search.
    pub active: &'a BTreeSet<u32>,
    /// Statements of which only the conditions are searched.
    pub conditions: &'a BTreeSet<u32>,
    /// Events of the failing run, and events a replaced run may take.
    pub events: u64,
    pub steps_after: u64,
}

const LOG_SIZE: u64 = 64 << 20;

impl Runner<'_> {
    /// Tries every alternate of every active statement's sites at every instance.
    pub fn search(
        &self,
        test: &Test,
        plan: &Plan<'_>,
        options: SearchOptions,
    ) -> io::Result<SearchOutcome> {
        let needs_reruns =
            matches!(test.oracle, Oracle::Script(_)) || self.program.instrumented.has_threads;
        if needs_reruns {
            return self.search_by_rerun(test, plan, options);
        }
        let home = Scratch::in_memory()?;
        let control = self.search_control(test, plan, options, home.path())?;
        self.search_with(test, plan, options, control)
    }

    /// By snapshots where they serve, otherwise by forks.
    fn search_with(
        &self,
        test: &Test,
        plan: &Plan<'_>,
        options: SearchOptions,
        mut control: ControlFile,
    ) -> io::Result<SearchOutcome> {
        let mut by_snapshot = self.program.instrumented.can_snapshot && !options.force_fork;
        if !by_snapshot {
            control.control.flags |= flags::FORK;
        }
        control.finish(LOG_SIZE)?;
        let mut cpu = self.search_once(test, &control)?;
        control.read_header()?;
        // A search that says nothing was killed by what a replaced run did to its memory.
        let gave_up = control.control.status != status::SEARCHED;
        if by_snapshot && gave_up {
            by_snapshot = false;
            control.control.flags |= flags::FORK;
            // The failed attempt has already marked statements as done.
            control.control.active_at = control.table(&active_table(plan))?;
            control.finish(LOG_SIZE)?;
            cpu += self.search_once(test, &control)?;
            control.read_header()?;
        }
        let engine = if by_snapshot { Engine::Snapshot } else { Engine::Fork };
        outcome(&control, cpu, engine)
    }

    /// Which of the mappings break a test that passes.
    pub fn contradicted(
        &self,
        test: &Test,
        plan: &Plan<'_>,
        mappings: &BTreeSet<Mapping>,
        options: SearchOptions,
    ) -> io::Result<(BTreeSet<Mapping>, SearchOutcome)> {
        let home = Scratch::in_memory()?;
        let mut control = self.search_control(test, plan, options, home.path())?;
        control.control.flags |= flags::SAME | flags::CHECK;
        control.control.flags &= !flags::FIRST;
        control.control.mappings_at = control.table(&mapping_table(mappings))?;
        control.control.n_mappings = mappings.len() as u64;
        let found = self.search_with(test, plan, options, control)?;
        Ok((found.hits.iter().map(|hit| Mapping::new(hit, options)).collect(), found))
    }

    fn search_control(
        &self,
        test: &Test,
        plan: &Plan<'_>,
        options: SearchOptions,
        home: &Path,
    ) -> io::Result<ControlFile> {
        let mut control = ControlFile::create(&home.join("control"), self.program)?;
        write_plan(&mut control, self.program, plan)?;
        if let Oracle::Output(expected) = &test.oracle {
            control.expect(expected)?;
        }
        control.control.mode = Mode::Search as u32;
        control.control.budget = plan.events.saturating_add(2);
        control.control.replaced_budget = plan.steps_after;
        control.control.memory_limit = self.limits.memory;
        control.control.flags = option_flags(options);
        Ok(control)
    }

    fn search_once(&self, test: &Test, control: &ControlFile) -> io::Result<Duration> {
        // A search is as many runs as there are alternates: its own limits are in the
        // control file, and what it prints is cut back after each run.
        let mut limits = self.limits;
        limits.time = Duration::from_secs(24 * 3600);
        let job = Job {
            executable: &self.program.instrumented.path,
            control: Some(&control.path),
            limits,
        };
        Ok(self.start(test, &job)?.cpu)
    }

    /// A run from the start per replacement: for tests that only a script can judge, and
    /// for programs with threads, which a fork would lose.
    fn search_by_rerun(
        &self,
        test: &Test,
        plan: &Plan<'_>,
        options: SearchOptions,
    ) -> io::Result<SearchOutcome> {
        let home = Scratch::in_memory()?;
        let mut control = self.search_control(test, plan, options, home.path())?;
        control.control.flags |= flags::LIST;
        control.finish(LOG_SIZE)?;
        let cpu = self.search_once(test, &control)?;
        control.read_header()?;
        let mut found = outcome(&control, cpu, Engine::Rerun)?;
        let mut done = BTreeSet::new();
        let mut hits = Vec::new();
        for candidate in std::mem::take(&mut found.hits) {
            let statement = plan.statements[candidate.replacement.site as usize];
            if options.stop_at_first && done.contains(&statement) {
                continue;
            }
            let observation = self.run_replaced(test, &candidate.replacement, plan.steps_after)?;
            found.n_replacements += 1;
            if let Some(observation) = observation {
                found.cpu += observation.cpu;
                found.n_crashes += u64::from(matches!(observation.ending, Ending::Signalled(_)));
                found.n_hangs += u64::from(observation.ending == Ending::OverLimit);
                if observation.passed {
                    done.insert(statement);
                    hits.push(candidate);
                }
            }
        }
        found.hits = hits;
        Ok(found)
    }
}

fn option_flags(options: SearchOptions) -> u32 {
    let mut bits = 0;
    if options.stop_at_first {
        bits |= flags::FIRST;
    }
    if options.spanning {
        bits |= flags::SPANNING;
    }
    if options.same_operands {
        bits |= flags::SAME;
    }
    if options.by_relation {
        bits |= flags::RELATION;
    }
    if options.always {
        bits |= flags::ALWAYS;
    }
    if options.brute_force {
        bits |= flags::BRUTE_FORCE;
    }
    bits
}

fn outcome(control: &ControlFile, cpu: Duration, engine: Engine) -> io::Result<SearchOutcome> {
    let c = &control.control;
    Ok(SearchOutcome {
        hits: parse_hits(&control.log()?),
        n_lost: c.log_lost,
        n_replacements: c.replacements,
        n_equivalents: c.equivalents,
        n_crashes: c.crashes,
        n_hangs: c.hangs,
        cpu,
        engine,
        hopeless_from: (c.cut_short_at > 0).then_some(c.cut_short_at),
        // A program that crashes by itself leaves no word, and everything before is searched.
        is_finished: c.status != status::TOO_LARGE,
    })
}

fn write_plan(control: &mut ControlFile, program: &Program, plan: &Plan<'_>) -> io::Result<()> {
    let sites = site_table(program, |site| plan.statements[site]);
    let (lists, values) = lists_and_values(program, plan.profile);
    control.control.sites_at = control.table(&sites)?;
    control.control.lists_at = control.table(&lists)?;
    control.control.values_at = control.table(&values)?;
    control.control.active_at = control.table(&active_table(plan))?;
    Ok(())
}

fn active_table(plan: &Plan<'_>) -> Vec<u8> {
    let says = |s: &u32| match (plan.active.contains(s), plan.conditions.contains(s)) {
        (true, _) => activity::ACTIVE,
        (false, true) => activity::CONDITIONS,
        (false, false) => activity::PASSIVE,
    };
    (0..plan.n_statements as u32).map(|s| says(&s)).collect()
}

fn type_bytes(ty: ValueType) -> [u8; 4] {
    [ty.bits, u8::from(!ty.is_unsigned), u8::from(ty.is_float), 0]
}

/// How many leaves of a site have lists of their own.
pub(crate) fn n_listed_leaves(site: &llvm::instrument::Site) -> usize {
    if site.is_computed { site.leaves.len() } else { 0 }
}

/// `struct ff_site`, for every site.
pub(crate) fn site_table(program: &Program, statement: impl Fn(usize) -> u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(program.sites.len() * 16);
    let mut first_list = 0u32;
    for (index, site) in program.sites.iter().enumerate() {
        let n_leaves = n_listed_leaves(site);
        bytes.extend(statement(index).to_le_bytes());
        bytes.extend(first_list.to_le_bytes());
        bytes.extend(type_bytes(site.ty));
        bytes.extend([n_leaves as u8, 0, 0, 0]);
        first_list += 1 + n_leaves as u32;
    }
    bytes
}

/// `struct ff_list` for each root and leaf, and the values they index.
fn lists_and_values(program: &Program, profile: &Profile) -> (Vec<u8>, Vec<u8>) {
    let (mut lists, mut values) = (Vec::new(), Vec::new());
    let mut add = |seen: Option<&BTreeSet<u64>>, ty: ValueType| {
        let mut sorted: Vec<u64> = seen.map_or_else(Vec::new, |s| s.iter().copied().collect());
        if !ty.is_replaceable {
            sorted.clear();
        } else if ty.bits == 1 && !sorted.is_empty() {
            // A condition has two outcomes, whether or not some test saw both.
            sorted = vec![0, 1];
        }
        sorted.sort_by_key(|bits| order(*bits, ty));
        lists.extend(((values.len() / 8) as u32).to_le_bytes());
        lists.extend((sorted.len() as u32).to_le_bytes());
        lists.extend(type_bytes(ty));
        lists.extend([0; 4]);
        values.extend(sorted.iter().flat_map(|bits| bits.to_le_bytes()));
    };
    let groups = values_of_groups(program, profile);
    for (index, site) in program.sites.iter().enumerate() {
        let seen = profile.sites.get(&(index as u32));
        let of_group = site.is_constant.then(|| groups.get(&(site.group.as_str(), site.ty.bits)));
        add(of_group.flatten().or(seen.map(|s| &s.root)), site.ty);
        for (number, leaf) in site.leaves.iter().enumerate().take(n_listed_leaves(site)) {
            add(seen.and_then(|s| s.leaves.get(number)), leaf.ty);
        }
    }
    (lists, values)
}

/// What was seen at all sites of a group: a constant has no other value of its own.
fn values_of_groups<'p>(
    program: &'p Program,
    profile: &Profile,
) -> BTreeMap<(&'p str, u8), BTreeSet<u64>> {
    let mut groups: BTreeMap<(&str, u8), BTreeSet<u64>> = BTreeMap::new();
    for (index, site) in program.sites.iter().enumerate() {
        if let Some(seen) = profile.sites.get(&(index as u32)).filter(|_| !site.group.is_empty()) {
            let group = groups.entry((site.group.as_str(), site.ty.bits)).or_default();
            group.extend(&seen.root);
        }
    }
    groups
}

/// `struct ff_mapping`, in the order of the sites.
fn mapping_table(mappings: &BTreeSet<Mapping>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mapping in mappings {
        let n_leaves = mapping.leaves.len().min(MAX_LEAVES);
        bytes.extend(mapping.site.to_le_bytes());
        bytes.extend((n_leaves as u32).to_le_bytes());
        bytes.extend(mapping.original.to_le_bytes());
        bytes.extend(mapping.value.to_le_bytes());
        bytes.extend(u64::from(mapping.relation).to_le_bytes());
        bytes.extend((mapping.change as u64).to_le_bytes());
        for index in 0..MAX_LEAVES {
            let leaf = mapping.leaves.get(index).copied().unwrap_or(0);
            bytes.extend(leaf.to_le_bytes());
        }
    }
    bytes
}

/// As `order` in crates/rt/c/candidates.c: numbers whose order is that of the values.
pub fn order(bits: u64, ty: ValueType) -> u64 {
    if ty.is_float && ty.bits == 32 {
        let narrow = bits as u32;
        return u64::from(if narrow >> 31 == 1 { !narrow } else { narrow | 1 << 31 });
    }
    let top = 1u64 << (ty.bits.clamp(1, 64) - 1);
    if ty.is_float {
        if bits & top != 0 { !bits } else { bits | top }
    } else if ty.is_unsigned {
        bits
    } else {
        bits ^ top
    }
}

/// Reads `struct ff_hit` records.
fn parse_hits(log: &[u8]) -> Vec<Hit> {
    let words: Vec<u64> =
        log.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or([0; 8]))).collect();
    let mut hits = Vec::new();
    let mut at = 0;
    while let Some(head) = words.get(at..at + 9) {
        let n_leaves = head[7] as u32 as usize;
        let Some(leaves) = words.get(at + 9..at + 9 + n_leaves) else { break };
        let leaf = (head[0] >> 32) as i32;
        hits.push(Hit {
            replacement: Replacement { site: head[0] as u32, event: head[1], value: head[4] },
            instance: head[2],
            original: head[3],
            leaf: u32::try_from(leaf).ok(),
            leaf_original: head[5],
            leaf_alternate: head[6],
            leaves: leaves.to_vec(),
            relation: (head[7] >> 32) as u32,
            change: if head[8] == 1 { Change::Add } else { Change::Set },
        });
        at += 9 + n_leaves;
    }
    hits
}
