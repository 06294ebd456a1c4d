//! A folder of one's own, and the binary run inside it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

/// The name of a compiler that a test put in clang's place.
const CLANG: &str = "fake-clang";

pub struct Sandbox {
    folder: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    /// A folder with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Self { folder: tempfile::tempdir().expect("a folder for the test") };
        for (name, text) in files {
            sandbox.write(name, text);
        }
        sandbox
    }

    /// A clean copy of an example of this repository.
    pub fn with_example(name: &str) -> Self {
        let sandbox = Self::new(&[]);
        sandbox.copy_clean(&examples().join(name), "");
        sandbox
    }

    /// Clean copies of all examples, in `examples/`.
    pub fn with_examples() -> Self {
        let sandbox = Self::new(&[]);
        for example in std::fs::read_dir(examples()).unwrap() {
            let example = example.unwrap();
            let name = example.file_name().into_string().unwrap();
            sandbox.copy_clean(&example.path(), &format!("examples/{name}"));
        }
        sandbox
    }

    /// Whoever tried an example may have left what it builds, and what we remember of it.
    fn copy_clean(&self, from: &Path, to: &str) {
        let to = self.path(to);
        std::fs::create_dir_all(&to).unwrap();
        let copied = Command::new("cp").arg("-r").arg(from.join(".")).arg(&to).status();
        assert!(copied.unwrap().success());
        let _ = std::fs::remove_dir_all(to.join(".firstfault"));
        if to.join("Makefile").exists() {
            let cleaned = Command::new("make").args(["-s", "clean"]).current_dir(&to).status();
            assert!(cleaned.unwrap().success());
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).unwrap();
        std::fs::write(&path, content).unwrap();
        // A file written this very second may be written again unnoticed, so that nothing
        // made from it is kept: real projects are older.
        let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
        std::fs::File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(an_hour_ago)
            .unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The binary, in this folder, with its state in `state/` and the compiler of
    /// [`set_clang`](Self::set_clang), if any.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_firstfault"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("FIRSTFAULT_STATE", self.path("state"))
            .env_remove("FIRSTFAULT_CLANG");
        if self.path(CLANG).exists() {
            command.env("FIRSTFAULT_CLANG", self.path(CLANG));
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().expect("the binary starts"))
    }

    /// From now on the compiler is a shell script. `"$@"` are clang's arguments.
    pub fn set_clang(&self, script: &str) {
        self.script(CLANG, script);
    }

    /// A script that can be run.
    pub fn script(&self, name: &str, body: &str) -> PathBuf {
        self.write(name, format!("#!/bin/sh\n{body}\n"));
        let path = self.path(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// All files below a folder of the sandbox, relative to it.
    pub fn files_below(&self, name: &str) -> Vec<PathBuf> {
        let mut files = Vec::new();
        collect(&self.path(name), &mut files);
        files.sort();
        files
    }
}

impl Run {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Fails the test with everything that was said unless the exit code is this.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Fails the test unless all of the input was analysed, with or without findings.
    #[track_caller]
    pub fn expect_analysed(self) -> Self {
        assert!(matches!(self.code, Some(0 | 1)), "{self:#?}");
        self
    }

    /// The first line on standard error.
    pub fn first_error(&self) -> &str {
        self.stderr.lines().next().unwrap_or("")
    }

    #[track_caller]
    pub fn json(&self) -> findings::Findings {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

/// A program of two units and a header.
pub const TWO_UNITS: &[(&str, &str)] = &[
    ("add.h", "int add(int a, int b);\n"),
    ("add.c", "#include \"add.h\"\nint add(int a, int b)\n{\n    return a + b;\n}\n"),
    (
        "main.c",
        "#include \"add.h\"\nint main(void)\n{\n    int sum = add(1, 2);\n    return sum;\n}\n",
    ),
];
