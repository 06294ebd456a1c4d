//! `cargo xtask bench overhead`: what instrumentation for `firstfault locate` costs while
//! nothing is replaced or recorded, on an interpreter and on compressors.
//!
//! The programs are corpora of `bench/corpora.toml`, with a `main` of our own where the corpus
//! is a library. CPU time of the same tests, as compiled at `-O0` and instrumented.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
use clap::Args;
use serde::Deserialize;

use super::obtain::Corpus;
use super::subject;
use super::table::Table;

#[derive(Args)]
pub struct Overhead {
    /// How often each program does its work
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// What `firstfault crash` costs instead: labels that suppress, and labels that track
    #[arg(long)]
    suppression: bool,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
}

/// A program, and something for it to do for a second or more.
struct Subject {
    corpus: &'static str,
    /// Units beside those of the corpus, by their text or by name.
    main: Main,
    without_flag: &'static str,
    args: &'static [&'static str],
    /// A file in its working folder, by name.
    file: (&'static str, fn() -> Vec<u8>),
}

enum Main {
    Text(&'static str),
    File(&'static str),
}

const SUBJECTS: &[Subject] = &[
    Subject {
        corpus: "lua",
        main: Main::Text(LUA_MAIN),
        without_flag: "",
        args: &["work.lua"],
        file: ("work.lua", || LUA_WORK.into()),
    },
    Subject {
        corpus: "zlib",
        main: Main::Text(DEFLATE_MAIN),
        without_flag: "",
        args: &["text"],
        file: ("text", || prose(6_000_000)),
    },
    Subject {
        corpus: "bzip2",
        main: Main::File("bzip2.c"),
        without_flag: "-DBZ_NO_STDIO",
        args: &["-k", "text"],
        file: ("text", || prose(2_000_000)),
    },
];

const LUA_MAIN: &str = r#"
#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"
#include <stdio.h>
int main(int argc, char **argv) {
  lua_State *lua = luaL_newstate();
  luaL_openlibs(lua);
  if (argc != 2 || luaL_dofile(lua, argv[1])) {
    puts(argc != 2 ? "which script?" : lua_tostring(lua, -1));
    return 1;
  }
  lua_close(lua);
  return 0;
}
"#;

/// Calls, tables, sorting, strings and patterns.
const LUA_WORK: &str = r#"
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local total = fib(27)
for round = 1, 6 do
  local numbers = {}
  for i = 1, 20000 do numbers[i] = (i * 7919 + round) % 10007 end
  table.sort(numbers)
  local counts, text = {}, string.rep("the quick brown fox jumps over the lazy dog ", 1500)
  for word in text:gmatch("%a+") do counts[word] = (counts[word] or 0) + 1 end
  local parts = {}
  for i = 1, 10000 do parts[#parts + 1] = tostring(i) .. ":" .. numbers[i] end
  total = total + counts.fox + #table.concat(parts, ",")
end
print(total)
"#;

/// What gzip does, without its format.
const DEFLATE_MAIN: &str = r#"
#include "zlib.h"
#include <stdio.h>
static unsigned char in[1 << 16], out[1 << 16];
int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  z_stream stream = {0};
  int flush;
  if (!file || deflateInit(&stream, 6) != Z_OK)
    return 1;
  do {
    stream.avail_in = fread(in, 1, sizeof in, file);
    stream.next_in = in;
    flush = feof(file) ? Z_FINISH : Z_NO_FLUSH;
    do {
      stream.next_out = out;
      stream.avail_out = sizeof out;
      deflate(&stream, flush);
    } while (stream.avail_out == 0);
  } while (flush != Z_FINISH);
  printf("%lu %lu\n", stream.total_out, stream.adler);
  return 0;
}
"#;

/// Words in an order that repeats only in part: it compresses about as text does.
fn prose(size: usize) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "the ",
        "of ",
        "fault ",
        "value ",
        "statement ",
        "run",
        "ning ",
        "a ",
        "fails ",
        "passes ",
        "where ",
        "it ",
        "is ",
        "replaced ",
        "and ",
        "ed, ",
        "another ",
        "in ",
        "test ",
        "\n",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut text = Vec::with_capacity(size + 16);
    while text.len() < size {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (state >> 33) as usize % (WORDS.len() + 4);
        match WORDS.get(at) {
            Some(word) => text.extend_from_slice(word.as_bytes()),
            None => text.push(b'a' + (state >> 40) as u8 % 26),
        }
    }
    text
}

/// What `--timings` wrote.
#[derive(Deserialize)]
struct Timings {
    cpu_seconds: BTreeMap<String, f64>,
}

pub const CORPORA: &[&str] = &["lua", "zlib", "bzip2"];

pub fn run(root: &Path, corpora: &[Corpus], options: &Overhead) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => std::path::absolute(path)?,
        None => subject::build(root)?,
    };
    let mut table = Table::new(&["program", "runs", "-O0 CPU s", "instrumented CPU s", "ratio"]);
    if options.suppression {
        table = Table::new(&["program", "runs", "-O0 CPU s", "kind", "CPU s", "ratio"]);
    }
    for subject in SUBJECTS {
        let corpus = corpora.iter().find(|corpus| corpus.name == subject.corpus);
        let corpus = corpus.with_context(|| format!("no corpus {}", subject.corpus))?;
        let timings = measure(&firstfault, subject, corpus, options)?;
        let cpu = |what: &str| timings.cpu_seconds.get(what).copied().unwrap_or(0.0);
        if options.suppression {
            suppression_rows(&mut table, subject.corpus, &timings);
            continue;
        }
        let (plain, instrumented) = (cpu("plain runs"), cpu("instrumented runs"));
        table.row(vec![
            subject.corpus.to_string(),
            options.runs.to_string(),
            format!("{plain:.2}"),
            format!("{instrumented:.2}"),
            format!("{:.2}", instrumented / plain.max(0.001)),
        ]);
    }
    if options.suppression {
        let timings = measure_threads(root, &firstfault)?;
        suppression_rows(&mut table, "four threads", &timings);
    }
    println!("{table}");
    Ok(())
}

fn suppression_rows(table: &mut Table, program: &str, timings: &Timings) {
    let cpu = |what: &str| timings.cpu_seconds.get(what).copied().unwrap_or(0.0);
    let plain = cpu("plain runs");
    for kind in ["suppressing", "tracking"] {
        let taken = cpu(&format!("{kind} runs"));
        table.row(vec![
            program.to_string(),
            "1".to_string(),
            format!("{plain:.2}"),
            kind.to_string(),
            format!("{taken:.2}"),
            format!("{:.2}", taken / plain.max(0.001)),
        ]);
    }
}

/// A program of our own whose threads share their work.
fn measure_threads(root: &Path, firstfault: &Path) -> Result<Timings> {
    let scratch = tempfile::tempdir()?;
    let timings = scratch.path().join("timings.json");
    let mut command = child::command(firstfault)?;
    command.arg("crash").arg(root.join("bench/overhead/threads.c"));
    command.args(["--time-limit", "1200", "-j", "1", "--timings"]).arg(&timings);
    let limits = Limits { deadline: Duration::from_secs(3600), ..Limits::default() };
    let done = child::run(command, b"", &limits, &Cancel::new())?;
    let Ok(written) = fs::read(&timings) else {
        bail!("threads: {}", String::from_utf8_lossy(&done.stderr).trim());
    };
    Ok(serde_json::from_slice(&written)?)
}

fn measure(
    firstfault: &Path,
    subject: &Subject,
    corpus: &Corpus,
    options: &Overhead,
) -> Result<Timings> {
    let scratch = tempfile::tempdir()?;
    let place = |name: &str| scratch.path().join(name);
    fs::write(place(subject.file.0), (subject.file.1)())?;
    fs::write(place("tests.toml"), tests(subject, options.runs))?;
    let main = match subject.main {
        Main::File(name) => corpus.folder.join(name),
        Main::Text(text) => {
            fs::write(place("main.c"), text)?;
            place("main.c")
        }
    };
    let units = corpus.units.iter().map(|unit| corpus.folder.join(&unit.file));
    let flags = corpus.units.first().map(|unit| unit.flags.clone()).unwrap_or_default();
    let mut command = child::command(firstfault)?;
    if options.suppression {
        command.arg("crash").args(units).arg(main).args(["--args", &subject.args.join(" ")]);
        command.arg("--input").arg(place(subject.file.0)).args(["--time-limit", "1200"]);
    } else {
        command.arg("locate").args(units).arg(main).arg("--tests").arg(place("tests.toml"));
        command.args(["--formula", "tarantula", "--time-limit", "1200"]);
        command.args(["--step-limit", "100000"]);
    }
    command.args(["-j", "1", "--timings"]).arg(place("timings.json"));
    command.arg("--").args(flags.iter().filter(|flag| *flag != subject.without_flag));
    command.current_dir(&corpus.folder);
    let limits = Limits { deadline: Duration::from_secs(3600), ..Limits::default() };
    let done = child::run(command, b"", &limits, &Cancel::new())?;
    let Ok(written) = fs::read(place("timings.json")) else {
        bail!("{}: {}", subject.corpus, String::from_utf8_lossy(&done.stderr).trim());
    };
    Ok(serde_json::from_slice(&written)?)
}

/// The work, and a test that fails, without which there is nothing to locate.
fn tests(subject: &Subject, runs: u32) -> String {
    let mut text =
        String::from("[[test]]\nname = \"fails\"\nargs = [\"--no-such\", \"x\"]\nexit = 77\n");
    for run in 0..runs {
        let _ = write!(
            text,
            "[[test]]\nname = \"work {run}\"\nargs = {:?}\nfiles = [{:?}]\nexit = 0\n",
            subject.args, subject.file.0
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_has_its_corpus_and_the_work_is_the_same_each_time() {
        let used: Vec<&str> = SUBJECTS.iter().map(|subject| subject.corpus).collect();
        assert_eq!(used, CORPORA);
        assert_eq!(prose(1000), prose(1000));
        let list = tests(&SUBJECTS[0], 2);
        assert!(list.contains("\"work 1\"") && list.contains("files = [\"work.lua\"]"), "{list}");
    }
}
