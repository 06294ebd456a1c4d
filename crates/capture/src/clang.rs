//! The clang we run: where it is, which it is, and which flags it turned down.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;

use base::child::Tool;

use crate::cache::{Cache, Key};
use crate::command::flags::role;
use crate::error::CaptureError;

/// Names tried in this order, after `$FIRSTFAULT_CLANG`.
const NAMES: &[&str] = &["clang-19", "/usr/lib/llvm-19/bin/clang"];

/// What holds clang in memory between units, built from `hook/serve.c`.
const SERVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/serve.so"));

/// A program that is loaded once and run many times, where that can be done.
pub fn hold(program: &Path) -> Tool {
    Tool::held(program, SERVE)
}

/// An installed clang 19.
#[derive(Debug)]
pub struct Clang {
    pub tool: Tool,
    /// Changes when another clang is installed. Found without starting it.
    pub identity: String,
    rejected: Mutex<BTreeSet<String>>,
}

impl Clang {
    pub fn find() -> Result<Self, CaptureError> {
        let chosen = std::env::var_os("FIRSTFAULT_CLANG").filter(|name| !name.is_empty());
        let found = match chosen {
            Some(name) => base::child::find_program(&name).ok(),
            None => NAMES.iter().find_map(|name| base::child::find_program(OsStr::new(name)).ok()),
        };
        Self::at(&found.ok_or(CaptureError::ClangMissing)?)
    }

    /// The clang at this path.
    pub(crate) fn at(program: &Path) -> Result<Self, CaptureError> {
        let real = fs::canonicalize(program).map_err(|_| CaptureError::ClangMissing)?;
        let metadata = fs::metadata(&real).map_err(|_| CaptureError::ClangMissing)?;
        let identity = format!("{} {} {}", real.display(), metadata.len(), metadata.mtime());
        Ok(Self { tool: Tool::plain(program), identity, rejected: Mutex::default() })
    }

    /// For many units: loaded once, where that can be done.
    pub fn held(self) -> Self {
        Self { tool: hold(self.tool.program()), ..self }
    }

    /// Recalls which of these flags earlier runs saw turned down.
    pub fn recall_rejected(&self, flags: &[String], cache: &Cache) {
        if !flags.is_empty()
            && let Some(list) = cache.get(&self.rejected_key(flags))
            && let (Ok(list), Ok(mut rejected)) = (String::from_utf8(list), self.rejected.lock())
        {
            rejected.extend(list.lines().map(str::to_owned));
        }
    }

    /// Remembers for later runs which of these flags were turned down.
    pub fn store_rejected(&self, flags: &[String], dropped: &[String], cache: &Cache) {
        if !dropped.is_empty() {
            cache.put(&self.rejected_key(flags), dropped.join("\n").as_bytes());
        }
    }

    /// The flags without those known to be turned down, and those.
    pub fn without_rejected(&self, flags: &[String]) -> (Vec<String>, Vec<String>) {
        let rejected = self.rejected.lock().map(|set| set.clone()).unwrap_or_default();
        let mut kept = Vec::with_capacity(flags.len());
        let mut dropped = Vec::new();
        let mut words = flags.iter();
        while let Some(word) = words.next() {
            let argument = if role(word).1 { words.next() } else { None };
            let target = if rejected.contains(word) { &mut dropped } else { &mut kept };
            target.push(word.clone());
            target.extend(argument.cloned());
        }
        (kept, dropped)
    }

    /// Learns from an error message which of `flags` clang does not take. Says whether
    /// there were any, that is, whether another try makes sense.
    pub fn learn_rejected(&self, flags: &[String], stderr: &str) -> bool {
        let culprits = rejected_flags(flags, stderr);
        let any = !culprits.is_empty();
        match self.rejected.lock() {
            Ok(mut rejected) => rejected.extend(culprits),
            Err(_) => return false,
        }
        any
    }

    fn rejected_key(&self, flags: &[String]) -> Key {
        let flags = flags.iter().map(String::as_bytes);
        Key::new("rejected flags", std::iter::once(self.identity.as_bytes()).chain(flags))
    }
}

/// The flags that the driver's error lines complain about. Such lines have no file and
/// line in front; what they complain about is quoted.
fn rejected_flags(flags: &[String], stderr: &str) -> Vec<String> {
    let mut culprits = Vec::new();
    for line in stderr.lines() {
        let message = match line.split_once("error: ") {
            Some((who, message)) if who.is_empty() || is_driver(who) => message,
            _ => continue,
        };
        let quoted: Vec<&str> = message.split('\'').skip(1).step_by(2).collect();
        let complained = |flag: &String| {
            quoted.iter().any(|&q| {
                *flag == q
                    || (q.starts_with('-') && q.ends_with('=') && flag.starts_with(q))
                    || (message.contains("CPU")
                        && flag.starts_with("-m")
                        && flag.split_once('=').is_some_and(|(_, value)| value == q))
            })
        };
        culprits.extend(flags.iter().filter(|flag| complained(flag)).cloned());
    }
    culprits
}

/// `clang-19: `, possibly with a folder in front.
fn is_driver(who: &str) -> bool {
    who.strip_suffix(": ").is_some_and(|who| !who.contains(':') && who.contains("clang"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(flags: &[&str], stderr: &str) -> Vec<String> {
        let flags: Vec<String> = flags.iter().map(|&f| f.to_owned()).collect();
        rejected_flags(&flags, stderr)
    }

    #[test]
    fn complaints_of_the_driver_name_the_flag() {
        let stderr = "clang-19: error: unknown argument: '-fconserve-stack'\n\
            clang-19: error: unsupported option '-mfoo=' for target 'x86_64-pc-linux-gnu'\n\
            error: unknown target CPU 'power99'\n\
            error: invalid value 'c45' in '-std=c45'\n";
        let flags =
            ["-fconserve-stack", "-mfoo=1", "-march=power99", "-std=c45", "-fwrapv", "-mbar=1"];
        assert_eq!(
            rejected(&flags, stderr),
            ["-fconserve-stack", "-mfoo=1", "-march=power99", "-std=c45"]
        );
    }

    #[test]
    fn complaints_about_the_code_do_not() {
        let stderr = "a.c:3:2: error: \"needs '-fwrapv'\"\nclang-19: warning: '-fwrapv' ignored\n";
        assert_eq!(rejected(&["-fwrapv"], stderr), Vec::<String>::new());
    }
}
