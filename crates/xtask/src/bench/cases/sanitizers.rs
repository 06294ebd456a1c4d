//! Programs built with sanitizers and run on the inputs of a set.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Ending, Finished, Limits};

use super::parts::{Subject, Task};
use super::peer_rules::{self, SANITIZERS};
use super::said::{At, Corruption, Reported, Said};
use super::truth::Input;

/// A run that waits is stopped after this; one that works after its processor time.
const DEADLINE: Duration = Duration::from_secs(20);
const CPU: Duration = Duration::from_secs(5);

/// How often a program with threads is run until a race shows.
const N_THREADED_RUNS: usize = 3;

pub fn address(folder: &Path, subject: &Subject, cpu_limit: Duration) -> Result<Said> {
    let scratch = tempfile::tempdir()?;
    let flags = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer"];
    let built = build(folder, subject, &flags, scratch.path(), cpu_limit)?;
    let program = match built {
        Ok(program) => program,
        Err(why) => return Ok(Said::failure(why)),
    };
    let mut said = Said::default();
    match &subject.task {
        Task::Check { inputs } => {
            for input in inputs {
                let command = child::command(&program)?;
                let done = run(command, input)?;
                said.cpu += done.cpu.as_secs_f64();
                add(reports(&text(&done), subject), &mut said);
                if done.ending == Ending::TimedOut {
                    said.failed = Some("a run took too long".to_owned());
                }
            }
        }
        Task::Crash { args, stdin, .. } => {
            let mut input = input_of(folder, args, stdin.as_deref())?;
            input.env.insert("ASAN_OPTIONS".to_owned(), "detect_leaks=0".to_owned());
            let done = run(child::command(&program)?, &input)?;
            said.cpu = done.cpu.as_secs_f64();
            let seen = events(&text(&done), subject);
            // A signal says where the program died, not what it died of.
            let first =
                seen.iter().find(|event| !["SEGV", "FPE", "ABRT"].contains(&event.kind.as_str()));
            said.corruption = first
                .map(|event| Corruption { at: event.places[0].clone(), kind: event.kind.clone() });
            if first.is_none() {
                let told = |e: &Event| format!("{} at {}", e.kind, e.places[0]);
                said.failed = Some(seen.first().map_or("nothing".to_owned(), told));
            }
        }
        Task::Beliefs => {}
    }
    Ok(said)
}

pub fn thread(folder: &Path, subject: &Subject, cpu_limit: Duration) -> Result<Said> {
    let scratch = tempfile::tempdir()?;
    let built = build(folder, subject, &["-fsanitize=thread"], scratch.path(), cpu_limit)?;
    let program = match built {
        Ok(program) => program,
        Err(why) => return Ok(Said::failure(why)),
    };
    let Task::Crash { args, stdin, .. } = &subject.task else { return Ok(Said::default()) };
    let input = input_of(folder, args, stdin.as_deref())?;
    let mut said = Said::default();
    for _ in 0..N_THREADED_RUNS {
        let mut command = child::command("setarch")?;
        command.arg("-R").arg(&program);
        let done = run(command, &input)?;
        said.cpu += done.cpu.as_secs_f64();
        said.race = races(&text(&done), subject).into_iter().next().unwrap_or_default();
        if !said.race.is_empty() {
            return Ok(said);
        }
    }
    said.failed = Some(format!("nothing in {N_THREADED_RUNS} runs"));
    Ok(said)
}

/// Builds the program, or says why that fails.
fn build(
    folder: &Path,
    subject: &Subject,
    flags: &[&str],
    scratch: &Path,
    cpu_limit: Duration,
) -> Result<Result<OsString, String>> {
    let program = scratch.join("program");
    let mut command = child::command("clang-19")?;
    command.args(["-O0", "-g", "-w", "-std=gnu11", "-pthread"]).args(flags);
    command.args(&subject.files).arg("-o").arg(&program).current_dir(folder);
    let limits = Limits::of_processor_time(cpu_limit);
    let done = child::run(command, b"", &limits, &Cancel::new())?;
    if done.ending.success() {
        return Ok(Ok(program.into_os_string()));
    }
    let log = text(&done);
    let line = log.lines().find(|line| line.contains("error")).unwrap_or_default();
    Ok(Err(format!("does not build with {}: {line}", flags[0])))
}

fn text(done: &Finished) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn input_of(folder: &Path, args: &[String], stdin: Option<&Path>) -> Result<Input> {
    let stdin = match stdin {
        Some(file) => {
            let file = folder.join(file);
            let bytes =
                std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            bytes.into_iter().map(char::from).collect()
        }
        None => String::new(),
    };
    Ok(Input { argv: args.to_vec(), stdin, ..Input::default() })
}

/// Runs a program on an input, in a folder of its own.
fn run(mut command: Command, input: &Input) -> Result<Finished> {
    let folder = tempfile::tempdir()?;
    for (name, content) in &input.files {
        let is_plain = Path::new(name).file_name() == Some(OsStr::new(name));
        if !is_plain {
            bail!("an input file is named {name}");
        }
        std::fs::write(folder.path().join(name), bytes(content)?)?;
    }
    for argument in &input.argv {
        command.arg(OsString::from_vec(bytes(argument)?));
    }
    for (name, value) in &input.env {
        command.env(name, OsString::from_vec(bytes(value)?));
    }
    command.env("LC_ALL", "C").current_dir(folder.path());
    let limits = Limits { deadline: DEADLINE, cpu: Some(CPU), ..Limits::default() };
    Ok(child::run(command, &bytes(&input.stdin)?, &limits, &Cancel::new())?)
}

/// A text with one character for each byte.
fn bytes(text: &str) -> Result<Vec<u8>> {
    let byte = |c: char| u8::try_from(c).with_context(|| format!("{c:?} is no byte"));
    text.chars().map(byte).collect()
}

/// One report of a sanitizer, at the program's own places, innermost first.
struct Event {
    kind: String,
    text: String,
    places: Vec<At>,
}

/// What sanitizers printed, in its order.
fn events(log: &str, subject: &Subject) -> Vec<Event> {
    let mut events = Vec::new();
    let mut lines = log.lines();
    while let Some(line) = lines.next() {
        if let Some((place, message)) = line.split_once(": runtime error: ") {
            let places: Vec<At> = own_place(place, subject).into_iter().collect();
            let kind = "runtime error".to_owned();
            events.push(Event { kind, text: message.to_owned(), places });
            continue;
        }
        let head = line.split_once("ERROR: AddressSanitizer: ").map(|(_, head)| head);
        let is_leak = line.starts_with("Direct leak of") || line.starts_with("Indirect leak of");
        let Some(head) = head.or(is_leak.then_some("leak")) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.trim().is_empty()).collect();
        let places: Vec<At> = block
            .iter()
            .filter(|line| line.trim_start().starts_with('#'))
            .filter_map(|line| own_place(line.rsplit(' ').next()?, subject))
            .collect();
        let text = format!("{head}\n{}", block.join("\n"));
        events.push(Event { kind: kind(head), text, places });
    }
    events.retain(|event| !event.places.is_empty());
    events
}

/// `heap-use-after-free` of `heap-use-after-free on address 0x...`.
fn kind(head: &str) -> String {
    let known = peer_rules::SANITIZERS.iter().map(|(kind, _, _)| *kind);
    let long = known.filter(|kind| kind.contains(' ')).find(|kind| head.starts_with(kind));
    if head.starts_with("requested allocation size") {
        return "allocation-size-too-big".to_owned();
    }
    let word = head.split([' ', ':']).next().unwrap_or_default();
    long.unwrap_or(word).to_owned()
}

/// A place in one of the program's files.
fn own_place(place: &str, subject: &Subject) -> Option<At> {
    let mut parts = place.split(':');
    let file = parts.next()?;
    let at = At::new(file, parts.next()?.parse().ok()?);
    let is_own = subject.files.iter().any(|own| own.file_name() == Some(OsStr::new(&at.file)));
    is_own.then_some(at)
}

fn reports(log: &str, subject: &Subject) -> Vec<Result<Reported, String>> {
    let report = |event: Event| match peer_rules::rule(SANITIZERS, &event.kind, &event.text) {
        // A leak may be told at its allocation or anywhere above it.
        Some("leak") => Ok(Reported {
            rule: "leak".to_owned(),
            level: "reproduced".to_owned(),
            places: event.places,
            ..Reported::default()
        }),
        Some(rule) => Ok(Reported {
            rule: rule.to_owned(),
            level: "reproduced".to_owned(),
            places: event.places.into_iter().take(1).collect(),
            ..Reported::default()
        }),
        None => Err(event.kind),
    };
    events(log, subject).into_iter().map(report).collect()
}

fn add(reports: Vec<Result<Reported, String>>, said: &mut Said) {
    for report in reports {
        match report {
            Ok(report) if said.reports.contains(&report) => {}
            Ok(report) => said.reports.push(report),
            Err(kind) => said.unmapped.push(kind),
        }
    }
}

/// The data races of which both accesses lie in the program.
fn races(log: &str, subject: &Subject) -> Vec<Vec<At>> {
    let mut races = Vec::new();
    for block in log.split("WARNING: ThreadSanitizer: data race").skip(1) {
        let mut accesses: Vec<At> = Vec::new();
        let mut is_access = false;
        for line in block.lines().take_while(|line| !line.starts_with("====")) {
            let line = line.trim();
            if line.contains(" of size ") {
                is_access = true;
            } else if is_access && line.starts_with('#') {
                let place = |word: &str| own_place(word, subject);
                // The innermost own frame of this access.
                if let Some(at) = line.split(' ').find_map(place) {
                    accesses.push(at);
                    is_access = false;
                }
            } else if line.is_empty() {
                is_access = false;
            }
        }
        if let [first, second, ..] = accesses.as_slice() {
            races.push(vec![first.clone(), second.clone()]);
        }
    }
    races
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn subject() -> Subject {
        let files = vec![PathBuf::from("a.c"), PathBuf::from("b/u.c")];
        Subject { name: "a".to_owned(), files, task: Task::Check { inputs: Vec::new() } }
    }

    #[test]
    fn reports_are_read_with_their_innermost_own_place() {
        let log = "/x/a.c:5:3: runtime error: index 4 out of bounds for type 'int[4]'\n\
            =================================\n\
            ==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc 0x55\n\
            READ of size 8 at 0x60 thread T0\n    \
            #0 0x55 in strlen (/x/program+0x1)\n    #1 0x55 in f /x/u.c:9:2\n    \
            #2 0x55 in main /x/a.c:30:1\n\nfreed by thread T0 here:\n    #0 0x5 in g /x/a.c:1:1\n\n\
            Direct leak of 8 byte(s) in 1 object(s) allocated from:\n    \
            #0 0x55 in malloc\n    #1 0x5 in h /x/a.c:12:1\n    #2 0x5 in main /x/a.c:40:1\n\n";
        let found: Vec<Reported> =
            reports(log, &subject()).into_iter().map(Result::unwrap).collect();
        let rules: Vec<&str> = found.iter().map(|report| report.rule.as_str()).collect();
        assert_eq!(rules, ["buffer-overflow", "use-after-free", "leak"]);
        assert_eq!(found[0].places, [At::new("a.c", 5)]);
        assert_eq!(found[1].places, [At::new("u.c", 9)]);
        assert_eq!(found[2].places, [At::new("a.c", 12), At::new("a.c", 40)]);
    }

    #[test]
    fn the_kinds_of_addresssanitizer_are_told_apart() {
        assert_eq!(kind("attempting double-free on 0x60"), "attempting double-free");
        assert_eq!(kind("SEGV on unknown address 0x00"), "SEGV");
        assert_eq!(kind("requested allocation size 0xff exceeds"), "allocation-size-too-big");
        assert_eq!(kind("heap-buffer-overflow on address"), "heap-buffer-overflow");
    }

    #[test]
    fn what_is_not_in_the_program_is_no_report() {
        let log = "==7==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n    \
                   #0 0x5 in f /x/other.c:3:1\n\n\x1b garbage: runtime error: \n";
        assert!(reports(log, &subject()).is_empty());
    }

    #[test]
    fn a_race_has_two_own_accesses() {
        let log = "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 4 at 0x5 by thread T2:\n    \
            #0 feed /x/a.c:55:3 (program+0x1)\n    #1 more /x/a.c:60:3 (p+0)\n\n  \
            Previous read of size 4 at 0x5 by thread T1:\n    #0 memcpy <null> (p+0)\n    \
            #1 get /x/a.c:28:3 (p+0)\n\n  Location is global 'x'\n\n==================\n";
        let found = races(log, &subject());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0], [At::new("a.c", 55), At::new("a.c", 28)]);
        let half = log.replace("/x/a.c:28", "/x/other.c:28");
        assert!(races(&half, &subject()).is_empty());
    }

    #[test]
    fn texts_are_bytes() {
        assert_eq!(bytes("a\u{ff}").unwrap(), [b'a', 0xff]);
        assert!(bytes("\u{100}").is_err());
    }
}
