//! A project to put faults into: a folder with a `compile_commands.json`, whose own files are never
//! written to. Changed units lie in scratch, and a database of our own names them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
use serde::Deserialize;

pub struct Project {
    pub name: String,
    pub folder: PathBuf,
    pub units: Vec<Unit>,
}

/// One compiler command.
pub struct Unit {
    /// The source, absolute.
    pub source: PathBuf,
    directory: PathBuf,
    /// As the database has it.
    file: String,
    /// The compiler and everything after it.
    arguments: Vec<String>,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: String,
    arguments: Option<Vec<String>>,
    command: Option<String>,
}

impl Project {
    pub fn load(name: &str, folder: &Path) -> Result<Self> {
        let folder =
            folder.canonicalize().with_context(|| format!("cannot find {}", folder.display()))?;
        let path = folder.join("compile_commands.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let units = parse(&text, &folder).with_context(|| path.display().to_string())?;
        Ok(Self { name: name.to_owned(), folder, units })
    }

    /// A source as reports and tables name it.
    pub fn short(&self, source: &Path) -> String {
        source.strip_prefix(&self.folder).unwrap_or(source).display().to_string()
    }

    /// The database with other files in place of some sources.
    pub fn database(&self, changed: &BTreeMap<PathBuf, PathBuf>) -> Result<String> {
        let entries: Vec<serde_json::Value> = self
            .units
            .iter()
            .map(|unit| {
                let new = changed.get(&unit.source);
                let file = new.map_or(unit.source.clone(), |new| new.clone());
                serde_json::json!({
                    "directory": unit.directory, "file": file, "arguments": unit.arguments_for(new),
                })
            })
            .collect();
        Ok(serde_json::to_string_pretty(&entries)?)
    }
}

fn parse(text: &str, folder: &Path) -> Result<Vec<Unit>> {
    let entries: Vec<Entry> =
        serde_json::from_str(text).context("this is no list of compiler commands")?;
    let mut units = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let number = index + 1;
        let arguments = match (entry.arguments, entry.command) {
            (Some(arguments), _) => arguments,
            (None, Some(command)) => shlex::split(&command)
                .with_context(|| format!("the quotes of command {number} are not closed"))?,
            (None, None) => bail!("command {number} has neither `arguments` nor `command`"),
        };
        if arguments.is_empty() {
            bail!("command {number} is empty");
        }
        let directory = folder.join(&entry.directory);
        let source = directory.join(&entry.file);
        let source = source
            .canonicalize()
            .with_context(|| format!("command {number}: cannot find {}", source.display()))?;
        units.push(Unit { source, directory, file: entry.file, arguments });
    }
    if !units.iter().any(Unit::is_c) {
        bail!("no C unit is named");
    }
    Ok(units)
}

impl Unit {
    pub fn is_c(&self) -> bool {
        self.source.extension().is_some_and(|extension| extension == "c")
    }

    /// The command for the source itself, or for a file in its place: what the source includes
    /// from its own folder is still found.
    fn arguments_for(&self, new: Option<&PathBuf>) -> Vec<String> {
        let Some(new) = new else { return self.arguments.clone() };
        let mut arguments = vec![self.arguments[0].clone()];
        if let Some(folder) = self.source.parent() {
            arguments.extend(["-iquote".to_owned(), folder.display().to_string()]);
        }
        for argument in &self.arguments[1..] {
            let is_file = *argument == self.file
                || (argument.ends_with(".c")
                    && self.directory.join(argument).canonicalize().ok().as_ref()
                        == Some(&self.source));
            arguments.push(if is_file { new.display().to_string() } else { argument.clone() });
        }
        arguments
    }

    /// The flags without what names input and output.
    fn flags(&self, file: &Path) -> Vec<String> {
        let file = file.to_path_buf();
        let arguments = self.arguments_for(Some(&file));
        let mut flags = Vec::new();
        let mut arguments = arguments.into_iter().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "-o" | "-MF" | "-MT" | "-MQ" => drop(arguments.next()),
                "-c" | "-MMD" | "-MD" | "-MP" | "-M" | "-MM" => {}
                _ if argument == file.display().to_string() => {}
                _ => flags.push(argument),
            }
        }
        flags
    }

    /// clang-19 on a file in place of the source: whether it was content, and what it wrote to both
    /// outputs.
    pub fn clang(&self, file: &Path, options: &[&str]) -> Result<Compiled> {
        let mut command = child::command("clang-19").context("cannot run clang-19")?;
        command.args(self.flags(file)).args(["-w", "-Qunused-arguments"]).args(options).arg(file);
        command.current_dir(&self.directory);
        let limits = Limits { stdout_cap: 64 << 20, ..Limits::default() };
        let finished = child::run(command, b"", &limits, &Cancel::new())
            .with_context(|| format!("clang-19 on {}", file.display()))?;
        Ok(Compiled {
            is_content: finished.ending.success(),
            stdout: finished.stdout,
            stderr: String::from_utf8_lossy(&finished.stderr).into_owned(),
        })
    }

    /// The code of a file in place of the source, without what names files; `None` where it does
    /// not compile.
    pub fn code(&self, file: &Path, is_optimised: bool) -> Result<Option<String>> {
        let level = if is_optimised { "-O1" } else { "-O0" };
        let compiled = self.clang(file, &[level, "-g0", "-S", "-o", "-"])?;
        let text = String::from_utf8_lossy(&compiled.stdout).into_owned();
        let is_code = |line: &&str| {
            let line = line.trim_start();
            !line.starts_with(".file") && !line.starts_with(".ident")
        };
        let code = || text.lines().filter(is_code).collect::<Vec<_>>().join("\n");
        Ok(compiled.is_content.then(code))
    }
}

pub struct Compiled {
    pub is_content: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "").unwrap();
        std::fs::write(folder.path().join("compile_commands.json"), text).unwrap();
        match Project::load("x", folder.path()) {
            Ok(_) => String::new(),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn what_is_wrong_with_a_database_is_said() {
        let of = |rest: &str| format!(r#"[{{"directory": ".", "file": "a.c"{rest}}}]"#);
        assert_eq!(error(&of(r#", "command": "cc -c a.c""#)), "");
        assert!(error("{").contains("no list of compiler commands"));
        assert!(error("[]").contains("no C unit"));
        assert!(error(&of("")).contains("command 1 has neither"));
        assert!(error(&of(r#", "command": "cc 'a""#)).contains("not closed"));
        assert!(error(&of(r#", "arguments": []"#)).contains("command 1 is empty"));
        let gone = r#"[{"directory": ".", "file": "b.c", "command": "cc"}]"#;
        assert!(error(gone).contains("cannot find"));
        assert!(Project::load("x", Path::new("/no/such/folder")).is_err());
    }

    #[test]
    fn a_changed_unit_takes_the_place_of_its_source_and_finds_its_headers() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.h"), "#define ONE 1\n").unwrap();
        std::fs::write(root.join("src/a.c"), "#include \"a.h\"\nint f(void) { return ONE; }\n")
            .unwrap();
        let database = r#"[{"directory": ".", "file": "src/a.c",
                            "arguments": ["cc", "-Werror", "-o", "a.o", "-c", "src/a.c"]}]"#;
        std::fs::write(root.join("compile_commands.json"), database).unwrap();
        let project = Project::load("x", &root).unwrap();
        let unit = &project.units[0];
        let new = root.join("changed.c");
        std::fs::write(&new, "#include \"a.h\"\nint f(void) { return ONE + 1; }\n").unwrap();
        let code = |file: &Path| unit.code(file, true).unwrap();
        assert!(code(&new).is_some() && code(&new) != code(&unit.source));
        std::fs::write(&new, "#include \"a.h\"\nint f(void) { return TWO; }\n").unwrap();
        assert_eq!(code(&new), None);
        let changed = BTreeMap::from([(unit.source.clone(), new.clone())]);
        let text = project.database(&changed).unwrap();
        assert!(text.contains("changed.c") && !text.contains("a.c\""));
    }
}
