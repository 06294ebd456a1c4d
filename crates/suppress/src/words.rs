//! What was found, in words.

use findings::{Corruption, Notice, Place, RaceAccess, Step};
use llvm::suppress::{Site, SiteKind};
use run::Ending;
use run::suppressed::{Access, Failure, Role, SuppressedProgram, is_modelled};

use crate::isolate::{Isolated, Round, Suspect};
use crate::races::{HarmfulRace, RaceKind};

pub(crate) struct Words<'a> {
    pub program: &'a SuppressedProgram,
}

impl Words<'_> {
    /// The first corruption: what was suppressed last, or the last failure itself where
    /// nothing defined what it used.
    pub fn corruption(&self, isolated: &Isolated) -> Option<Corruption> {
        let last = isolated.rounds.last()?;
        let (site, kind, message) = match &last.suspect {
            _ if last.failure == Failure::Deadlock => {
                let message = "the program deadlocks: every thread waits for another";
                (self.site(last.site)?, "deadlock", message.to_string())
            }
            _ if isolated.race.is_some() => {
                let race = isolated.race.as_ref()?;
                let site = self.site(race.race.second.site)?;
                (site, "race", self.raced(race))
            }
            Some(suspect) => {
                let site = self.site(suspect.site)?;
                (site, kind_of(site), self.first(site, suspect))
            }
            None => {
                let site = self.site(last.site)?;
                let message = format!("uses a value that nothing defined: {}", self.failed(last));
                (site, "uninitialized", message)
            }
        };
        let chain = isolated.rounds.iter().rev().flat_map(|round| self.steps(round, isolated));
        Some(Corruption {
            place: place(site),
            kind: kind.to_string(),
            message,
            chain: chain.collect(),
            executions: isolated.executions,
            variable_order: isolated.variable_order.clone(),
            race: isolated.race.iter().flat_map(|race| self.accesses(race)).collect(),
        })
    }

    fn raced(&self, harmful: &HarmfulRace) -> String {
        let how = match harmful.kind {
            RaceKind::WriteAfterRead => "writes what another has read",
            RaceKind::WriteAfterWrite => "overwrites what another has written",
            RaceKind::ReadAfterWrite => "reads what another has written",
        };
        format!(
            "a data race does harm: one thread {how}, with no synchronisation in between; the \
             memory then holds {} if {} runs before the first access",
            difference(harmful),
            thread_name(harmful.instead)
        )
    }

    fn accesses(&self, harmful: &HarmfulRace) -> Vec<RaceAccess> {
        [&harmful.race.first, &harmful.race.second]
            .into_iter()
            .map(|access: &Access| RaceAccess {
                place: self.place_of(access.site),
                thread: match access.thread {
                    0 => "main".to_string(),
                    number => number.to_string(),
                },
                access: if access.is_write { "write" } else { "read" }.to_string(),
                stack: self.called_from(&access.stack),
            })
            .collect()
    }

    /// The calls that led somewhere: the last is where the thread was started.
    fn called_from(&self, stack: &[u32]) -> Vec<Place> {
        stack.iter().filter(|site| **site != 0).map(|site| self.place_of(*site)).collect()
    }

    fn place_of(&self, number: u32) -> Place {
        self.site(number).map(place).unwrap_or_default()
    }

    /// What the reader should know besides.
    pub fn notices(&self, isolated: &Isolated, plain_passed: bool, n_threads: u32) -> Vec<Notice> {
        let mut said = Vec::new();
        if isolated.is_stuck {
            said.push(
                "with everything found suppressed, threads wait for one another: what they would \
                 have done is not known",
            );
        }
        if plain_passed && n_threads > 1 {
            said.push(
                "the program as it is built does not fail with this input: its threads ran in \
                 another order",
            );
        } else if plain_passed && isolated.variable_order.is_empty() {
            said.push(
                "the program as it is built does not fail with this input: its variables lie \
                 otherwise",
            );
        }
        if !isolated.is_complete && isolated.race.is_none() {
            said.push(match isolated.rounds.last() {
                Some(Round { suspect: None, .. }) => {
                    "the last failure uses a value without a definition: the search ends there"
                }
                _ => "the program still fails with everything found suppressed",
            });
        }
        let notice = |message: &str| Notice { place: Place::default(), message: message.into() };
        said.into_iter().map(notice).collect()
    }

    fn site(&self, site: u32) -> Option<&Site> {
        self.program.sites.get(site as usize)
    }

    fn first(&self, site: &Site, suspect: &Suspect) -> String {
        let object = self.object(&suspect.object);
        let into = if object.is_empty() { String::new() } else { format!(", into {object}") };
        let what = quoted(&site.name);
        match site.kind {
            SiteKind::Store => format!("memory is first corrupted by this write{into}"),
            SiteKind::Call if is_copying(&site.name) => {
                format!(
                    "memory is first corrupted by {what}, which writes past what is meant{into}"
                )
            }
            SiteKind::Call => format!("the first wrong value comes from {what}"),
            SiteKind::Argument => format!("the first wrong value is passed to {what}"),
            SiteKind::Return => format!("the first wrong value is returned by {what}"),
            _ => format!("the first wrong value is given to {what}"),
        }
    }

    /// A failure with the definition it led to.
    fn steps(&self, round: &Round, isolated: &Isolated) -> Vec<Step> {
        let number = isolated.rounds.iter().position(|r| r == round).unwrap_or(0) + 1;
        let mut steps = Vec::new();
        if let Some(suspect) = &round.suspect
            && let Some(site) = self.site(suspect.site)
        {
            let event = suspect.event;
            let by = round
                .thread
                .map_or(String::new(), |_| format!(" of {}", thread_name(event.thread)));
            let note = format!("{} (definition {}{by})", self.defined(site), event.event);
            steps.push(Step { place: place(site), note, impact: true, depth: 0 });
        }
        for wait in &round.waits {
            let held = wait.holder.map_or(String::new(), |(thread, site)| {
                let at = self.place_of(site);
                format!(", which {} holds since {}:{}", thread_name(thread), at.file, at.line)
            });
            let note = format!("{} waits for {}{held}", thread_name(wait.thread), wait.what);
            steps.push(Step { place: self.place_of(wait.site), note, impact: false, depth: 0 });
        }
        let at = self.place_of(round.site);
        let by = round.thread.map_or(String::new(), |t| format!(" in {}", thread_name(t)));
        let note = format!("failure {number}{by}: {}", self.failed(round));
        steps.push(Step { place: at, note, impact: false, depth: 0 });
        steps
    }

    fn defined(&self, site: &Site) -> String {
        let what = quoted(&site.name);
        match site.kind {
            SiteKind::Store => format!("writes through {what}"),
            SiteKind::Call if is_copying(&site.name) => format!("{what} writes"),
            SiteKind::Call => format!("{what} gives the value"),
            SiteKind::Argument => format!("computes an argument of {what}"),
            SiteKind::Return => format!("{what} returns the value"),
            _ => format!("{what} gets the value"),
        }
    }

    fn failed(&self, round: &Round) -> String {
        let site = self.site(round.site);
        let name = site.map_or(String::new(), |site| quoted(&site.name));
        let how = match site.map(|site| site.kind) {
            Some(SiteKind::Load) => format!("reading {name}"),
            Some(SiteKind::Store) => format!("writing {name}"),
            Some(SiteKind::Call) => format!("in {name}"),
            Some(SiteKind::Assign) => "in a division".to_string(),
            _ => String::new(),
        };
        let through = match round.suspect.as_ref().map(|suspect| suspect.role) {
            Some(Role::Index) => ", by a wrong index",
            Some(Role::Base) => ", through a wrong pointer",
            _ => "",
        };
        let object = self.object(&round.object);
        match round.failure {
            Failure::Signal(signal) => format!("{} {how}{through}", signal_name(signal)),
            Failure::Abort => "the program aborts; a condition decided that".to_string(),
            Failure::DoubleFree => format!("{object} is freed a second time"),
            Failure::InvalidFree => format!("free of {object}"),
            Failure::HeapOverrun => {
                format!("the allocator finds memory overwritten behind {object}")
            }
            Failure::Return => {
                let function = site.map_or("", |site| site.function.as_str());
                format!("the return address of `{function}` is overwritten when it returns")
            }
            Failure::Output => "this output is not as expected".to_string(),
            Failure::Stack => "no stack is left".to_string(),
            Failure::Deadlock => "no thread can go on".to_string(),
            Failure::Memory
            | Failure::TooLong
            | Failure::Forked
            | Failure::Threads
            | Failure::Time => "the run does not end".to_string(),
        }
    }

    /// What the runtime said about an address: see `ff_describe`.
    fn object(&self, said: &str) -> String {
        let fields: Vec<&str> = said.split(' ').collect();
        match fields.as_slice() {
            ["G", name, offset, size] => format!("global `{name}` at byte {offset} of {size}"),
            ["H", site, offset, size, live] => {
                let from = site
                    .parse()
                    .ok()
                    .and_then(|site| self.site(site))
                    .map_or(String::new(), |site| {
                        format!(" allocated at {}:{}", site.at.file, site.at.line)
                    });
                let state = if *live == "1" { "" } else { "freed " };
                format!("the {state}block of {size} bytes{from}, at byte {offset}")
            }
            ["F", frame, variable, offset] => self.local(frame, variable, offset),
            _ => String::new(),
        }
    }

    fn local(&self, frame: &str, variable: &str, offset: &str) -> String {
        let frame = frame.parse::<usize>().ok().and_then(|frame| self.program.frames.get(frame));
        let Some(frame) = frame else { return String::new() };
        let variable = variable.parse::<usize>().ok().and_then(|v| frame.variables.get(v));
        match variable {
            Some(variable) => {
                format!("local `{}` of `{}` at byte {offset}", variable.name, frame.function)
            }
            None => format!("the return address of `{}`", frame.function),
        }
    }
}

/// What the memory held, and would hold; addresses say nothing to a reader.
fn difference(harmful: &HarmfulRace) -> String {
    let shown = |value: u64| match harmful.size {
        1 => Some(i64::from(value as i8)),
        2 => Some(i64::from(value as i16)),
        4 => Some(i64::from(value as i32)),
        _ => i64::try_from(value).ok().filter(|value| *value <= 0xffff),
    };
    match (shown(harmful.race.value), shown(harmful.other_value)) {
        (Some(value), Some(other)) => format!("{value}, but {other}"),
        (Some(value), None) => format!("{value}, but something else"),
        (None, _) => "another value than".to_string(),
    }
}

/// The first thread is `main`'s.
fn thread_name(thread: u32) -> String {
    if thread == 0 { "the main thread".to_string() } else { format!("thread {thread}") }
}

fn place(site: &Site) -> Place {
    let file = match std::env::current_dir() {
        Ok(folder) => std::path::Path::new(&site.at.file)
            .strip_prefix(&folder)
            .map_or_else(|_| site.at.file.clone(), |path| path.to_string_lossy().into_owned()),
        Err(_) => site.at.file.clone(),
    };
    Place { file, line: site.at.line, column: site.at.column, function: site.function.clone() }
}

fn quoted(name: &str) -> String {
    if name.is_empty() { "a value".to_string() } else { format!("`{name}`") }
}

fn is_copying(name: &str) -> bool {
    let allocates = ["malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup", "free"];
    !allocates.contains(&name) && is_modelled(name)
}

fn kind_of(site: &Site) -> &'static str {
    match site.kind {
        SiteKind::Store => "stray-write",
        SiteKind::Call if is_copying(&site.name) => "overflow",
        _ => "wrong-value",
    }
}

fn signal_name(signal: i32) -> String {
    match signal {
        4 => "illegal instruction".to_string(),
        6 => "abort".to_string(),
        7 => "bus error".to_string(),
        8 => "arithmetic exception".to_string(),
        11 => "segmentation fault".to_string(),
        other => format!("signal {other}"),
    }
}

pub(crate) fn ending(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signalled(signal) => signal_name(signal),
        Ending::OverLimit => "over its limits".to_string(),
    }
}
