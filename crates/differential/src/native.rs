//! Generated programs built with sanitizers and run on inputs.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Ending, Finished, Limits};
use fixture::idioms::Input;
use report::sanitizer::{self, Seen};

use crate::case::Case;

/// The file every program is written to.
pub const SOURCE: &str = "program.c";

/// What clang builds with; a build has one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// Addresses, leaks, undefined behaviour, conversions that change the value, wrap.
    Address,
    /// Values that were never set.
    Memory,
}

impl Sanitizer {
    fn flag(self) -> &'static str {
        match self {
            Self::Address => {
                "-fsanitize=address,undefined,implicit-conversion,unsigned-integer-overflow"
            }
            Self::Memory => "-fsanitize=memory",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Memory => "memory",
        }
    }
}

/// Lets calls fail that the environment names: the n-th allocation of all, as inputs say it, or
/// calls counted for each function, as witnesses do: `,malloc:2,fopen:1,`. AddressSanitizer gives
/// allocations of no bytes one byte that may be used; here it may not.
const ALLOCATOR: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *__real_malloc(size_t); void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t); char *__real_strdup(const char *);
FILE *__real_fopen(const char *, const char *);
static int is_named(const char *name, int n) {
  const char *calls = getenv("FAILING_CALLS");
  char call[32];
  snprintf(call, sizeof call, ",%s:%d,", name, n);
  return calls && strstr(calls, call);
}
static int fails(const char *name, int n) {
  static long left = -1;
  if (left < 0) { const char *n = getenv("FAILING_ALLOCATION"); left = n ? atol(n) : 0; }
  return (left > 0 && --left == 0) || is_named(name, n);
}
#define FAILS(name) ({ static int n; fails(name, ++n); })
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
static void *sized(void *p, size_t n) {
  if (p && n == 0) __asan_poison_memory_region(p, 1);
  return p;
}
#else
#define sized(p, n) (p)
#endif
void *__wrap_malloc(size_t n) { return FAILS("malloc") ? NULL : sized(__real_malloc(n), n); }
void *__wrap_calloc(size_t n, size_t m) {
  return FAILS("calloc") ? NULL : sized(__real_calloc(n, m), n * m);
}
void *__wrap_realloc(void *p, size_t n) {
  return FAILS("realloc") ? NULL : sized(__real_realloc(p, n), n);
}
char *__wrap_strdup(const char *s) { return FAILS("strdup") ? NULL : __real_strdup(s); }
FILE *__wrap_fopen(const char *p, const char *m) {
  static int n;
  return is_named("fopen", ++n) ? NULL : __real_fopen(p, m);
}
"#;

const WRAPPED: &str = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=fopen";

/// Functions whose calls can be made to fail.
const CAN_FAIL: [&str; 5] = ["malloc", "calloc", "realloc", "strdup", "fopen"];

/// What a run is given beside its input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// In the folder of the run.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Functions and which of their calls, from 1, fails.
    pub failing: Vec<(String, u32)>,
}

/// `the 2nd call of malloc fails`, as witnesses say it, if it can be done here.
pub fn failing_call(told: &str) -> Option<(String, u32)> {
    let (number, name) = told.strip_prefix("the ")?.split_once(" call of ")?;
    let name = name.strip_suffix(" fails").filter(|name| CAN_FAIL.contains(name))?;
    let number = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    Some((name.to_owned(), number.parse().ok()?))
}

/// More than any generated program needs to end.
const CPU: Duration = Duration::from_secs(3);

/// A program in a folder, with its builds.
pub struct Native {
    folder: tempfile::TempDir,
    /// Which builds there are, as they are first needed.
    built: [OnceCell<()>; 2],
    symbolizer: Option<PathBuf>,
}

/// What a run showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Showed {
    /// Reports in their order; only calls in the program itself are in their stacks. A run that
    /// does not end is an `infinite-loop` without a place.
    pub seen: Vec<Seen>,
    pub cpu: Duration,
}

impl Native {
    /// Writes a program down; it is compiled when it is first run.
    pub fn new(case: &Case) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a scratch folder")?;
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path(SOURCE), case.text())?;
        std::fs::write(path("allocator.c"), ALLOCATOR)?;
        let symbolizers = ["llvm-symbolizer-19", "llvm-symbolizer"];
        let symbolizer = symbolizers.iter().find_map(|n| child::find_program(n.as_ref()).ok());
        Ok(Self { folder, built: Default::default(), symbolizer })
    }

    /// The build, which is made when it is first needed; an error where clang does not
    /// compile the program.
    fn built(&self, sanitizer: Sanitizer) -> Result<PathBuf> {
        let built = &self.built[sanitizer as usize];
        if built.get().is_none() {
            compile(self.folder.path(), sanitizer)?;
            let _ = built.set(());
        }
        Ok(self.folder.path().join(sanitizer.name()))
    }

    /// Runs one of the builds in a folder of its own.
    pub fn run(&self, sanitizer: Sanitizer, input: &Input) -> Result<Showed> {
        let files = input.file.iter().map(|text| (PathBuf::from("input"), text.clone()));
        let surroundings = Surroundings { files: files.collect(), ..Surroundings::default() };
        self.run_in(sanitizer, input, &surroundings)
    }

    /// The same with environment, files and failing calls.
    pub fn run_in(
        &self,
        sanitizer: Sanitizer,
        input: &Input,
        surroundings: &Surroundings,
    ) -> Result<Showed> {
        let folder = tempfile::tempdir_in(self.folder.path())?;
        for (name, text) in &surroundings.files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
            std::fs::write(path, text)?;
        }
        let program = self.built(sanitizer)?;
        let mut command = child::command(program).context("the build is gone")?;
        command.args(input.arguments.iter().map(|bytes| OsStr::from_bytes(bytes)));
        command.env_clear().envs(self.options(sanitizer)).current_dir(folder.path());
        let own = surroundings.environment.iter();
        command.envs(own.map(|(n, v)| (OsStr::from_bytes(n), OsStr::from_bytes(v))));
        let failing = surroundings.failing.iter().map(|(name, n)| format!(",{name}:{n},"));
        command.env("FAILING_CALLS", failing.collect::<String>());
        command.envs(input.failing_allocation.map(|n| ("FAILING_ALLOCATION", n.to_string())));
        let limits =
            Limits { stdout_cap: 1 << 20, stderr_cap: 1 << 20, ..Limits::of_processor_time(CPU) };
        let finished = child::run(command, &input.stdin, &limits, &Cancel::new())?;
        Ok(Showed { cpu: finished.cpu, seen: seen(&finished) })
    }

    fn options(&self, sanitizer: Sanitizer) -> Vec<(&'static str, String)> {
        let symbolizer = self.symbolizer.as_ref().map(|path| path.display().to_string());
        let common = format!(
            "external_symbolizer_path={}:hard_rss_limit_mb=1024",
            symbolizer.unwrap_or_default()
        );
        let (name, more) = match sanitizer {
            // Frames of returned functions are kept so that dangling pointers are seen.
            Sanitizer::Address => (
                "ASAN_OPTIONS",
                "detect_stack_use_after_return=1:allocator_may_return_null=1:handle_abort=1",
            ),
            Sanitizer::Memory => ("MSAN_OPTIONS", "allocator_may_return_null=1"),
        };
        // When `main` has returned, what only dead frames point to is lost.
        let leaks = "use_stacks=0:use_registers=0".to_owned();
        vec![(name, format!("{common}:{more}")), ("UBSAN_OPTIONS", common), ("LSAN_OPTIONS", leaks)]
    }
}

fn compile(folder: &Path, sanitizer: Sanitizer) -> Result<()> {
    let mut command = child::command("clang-19").context("cannot run clang-19")?;
    command.args(["-O0", "-g", "-w", "-fno-omit-frame-pointer", sanitizer.flag(), WRAPPED]);
    // It reads what lies before a function, which hides calls through null pointers.
    command.arg("-fno-sanitize=function");
    command.args([SOURCE, "allocator.c", "-o", sanitizer.name()]).current_dir(folder);
    let limits = Limits::of_processor_time(Duration::from_secs(60));
    let finished = child::run(command, b"", &limits, &Cancel::new())?;
    if !finished.ending.success() {
        bail!("clang-19 {}: {}", finished.ending, String::from_utf8_lossy(&finished.stderr));
    }
    Ok(())
}

/// The reports of a run, with frames of the program alone.
fn seen(finished: &Finished) -> Vec<Seen> {
    let mut seen = sanitizer::read(&String::from_utf8_lossy(&finished.stderr));
    for report in &mut seen {
        report.stack.retain(|place| place.file.ends_with(SOURCE));
        // Addresses are others in every run.
        let kept = report.message.find(" on address ").or(report.message.find(" on unknown "));
        report.message.truncate(kept.unwrap_or(report.message.len()));
    }
    if finished.ending == Ending::TimedOut {
        let message = "does not end".to_owned();
        seen.push(Seen { rule: "infinite-loop", stack: Vec::new(), message });
    }
    seen
}

/// Whether the text is a program, and taking lines away left no function without its result.
pub fn compiles(case: &Case) -> Result<bool> {
    let folder = tempfile::tempdir().context("cannot make a scratch folder")?;
    let mut command = child::command("clang-19").context("cannot run clang-19")?;
    command.args(["-O0", "-Wno-everything", "-Werror=return-type", "-Werror=uninitialized"]);
    command.args(["-Werror=implicit-function-declaration", "-xc", "-", "-o"]);
    command.arg(folder.path().join("program"));
    let limits = Limits::of_processor_time(Duration::from_secs(20));
    let finished = child::run(command, case.text().as_bytes(), &limits, &Cancel::new())?;
    Ok(finished.ending.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Line;

    #[test]
    fn allocations_of_no_bytes_have_none() {
        let text = "#include <stdlib.h>\nint main(int argc, char **argv) {\n\
                    char *p = malloc(argc - 1), *q = calloc(0, 4);\np = realloc(p, argc);\n\
                    p[argc - 1] = 0;\nif (argc > 1) q[0] = 0;\nfree(p); free(q);\n\
                    return argv == 0;\n}\n";
        let line = |text: &str| Line { text: text.to_owned(), part: None, is_wrong: false };
        let case = Case { lines: text.lines().map(line).collect(), parts: Vec::new() };
        let native = Native::new(&case).unwrap();
        let run = |arguments: &[&str]| {
            let arguments = arguments.iter().map(|text| text.as_bytes().to_vec()).collect();
            let input = Input { arguments, ..Input::default() };
            native.run(Sanitizer::Address, &input).unwrap().seen
        };
        assert_eq!(run(&[]), []);
        let seen = run(&["x"]);
        assert_eq!((seen[0].rule, seen[0].stack[0].line), ("buffer-overflow", 6));
    }

    #[test]
    fn failing_calls_of_witnesses_are_read() {
        let read = |told: &str| failing_call(told).map(|(name, n)| format!("{name} {n}"));
        assert_eq!(read("the 2nd call of malloc fails").as_deref(), Some("malloc 2"));
        assert_eq!(read("the 11th call of fopen fails").as_deref(), Some("fopen 11"));
        for told in
            ["the call of malloc fails", "the 1st call of gmtime fails", "malloc gives 0", ""]
        {
            assert_eq!(read(told), None, "{told}");
        }
    }
}
