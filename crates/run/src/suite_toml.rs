//! `tests.toml`: a list of `[[test]]` tables. Paths are relative to the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::sandbox::Permissions;
use crate::suite::{Expected, Oracle, Suite, SuiteError, Test};
use crate::suite_folder::{exit_status, read};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestList {
    #[serde(default)]
    test: Vec<TestTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestTable {
    name: String,
    #[serde(default)]
    args: Vec<String>,
    /// A file, or `input` with the text itself.
    stdin: Option<PathBuf>,
    input: Option<String>,
    /// A file, or `output` with the text itself.
    stdout: Option<PathBuf>,
    output: Option<String>,
    stderr: Option<PathBuf>,
    exit: Option<u32>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Files copied into the working folder, under their own names.
    #[serde(default)]
    files: Vec<PathBuf>,
    /// Files the program must write: name, and the file with the expected contents.
    #[serde(default)]
    expect: BTreeMap<String, PathBuf>,
    script: Option<PathBuf>,
    /// It needs the machine's network.
    #[serde(default)]
    network: bool,
    /// Paths outside its folder that it writes.
    #[serde(default)]
    writes: Vec<PathBuf>,
}

pub(crate) fn load(path: &Path) -> Result<Suite, SuiteError> {
    let text =
        std::fs::read_to_string(path).map_err(|e| SuiteError::Unreadable(path.to_owned(), e))?;
    let list: TestList = toml::from_str(&text)
        .map_err(|e| SuiteError::Malformed(path.to_owned(), e.to_string().trim().to_string()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut suite = Suite::default();
    for table in list.test {
        let name = table.name.clone();
        match read_test(folder, table) {
            Ok(test) => suite.tests.push(test),
            Err(reason) => suite.unusable.push((name, reason)),
        }
    }
    Ok(suite)
}

fn read_test(folder: &Path, table: TestTable) -> Result<Test, String> {
    let either = |file: Option<PathBuf>, text: Option<String>| match (file, text) {
        (Some(file), None) => read(&folder.join(file)).map(Some),
        (None, text) => Ok(text.map(String::into_bytes)),
        (Some(_), Some(_)) => Err("both a file and the text itself are given".to_string()),
    };
    let stdin = either(table.stdin, table.input)?.unwrap_or_default();
    let oracle = if let Some(script) = table.script {
        Oracle::Script(std::path::absolute(folder.join(script)).map_err(|e| e.to_string())?)
    } else {
        let mut files = Vec::new();
        for (name, file) in table.expect {
            files.push((name, read(&folder.join(file))?));
        }
        let expected = Expected {
            stdout: either(table.stdout, table.output)?,
            stderr: table.stderr.map(|file| read(&folder.join(file))).transpose()?,
            exit: table.exit.map(|code| exit_status(&code.to_string())).transpose()?,
            files,
        };
        if expected == Expected::default() {
            return Err("nothing says what to expect: give stdout, output or exit".to_string());
        }
        Oracle::Output(expected)
    };
    let mut inputs = Vec::new();
    for file in table.files {
        let name = file.file_name().and_then(|n| n.to_str());
        let name = name.ok_or(format!("{}: not a file name", file.display()))?.to_string();
        inputs.push((name, folder.join(file)));
    }
    let mut writes = Vec::new();
    for path in table.writes {
        let path = folder.join(&path);
        let path = path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?;
        writes.push(path);
    }
    let permissions = Permissions { network: table.network, writes };
    let environment = table.env.into_iter().collect();
    Ok(Test { name: table.name, args: table.args, stdin, environment, inputs, oracle, permissions })
}

#[cfg(test)]
mod tests {
    use crate::{Allowed, Suite};

    fn load(text: &str) -> Suite {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tests.toml");
        std::fs::write(&path, text).expect("the folder is writable");
        Suite::load(&path, &Allowed::default()).expect("the list can be read")
    }

    /// What is wrong with the only test of the list.
    fn reason(test: &str) -> String {
        let suite = load(&format!("[[test]]\nname = \"odd\"\n{test}\n"));
        assert!(suite.tests.is_empty(), "{suite:?}");
        suite.unusable[0].1.clone()
    }

    #[test]
    fn odd_tests_are_named_with_what_is_wrong() {
        assert!(reason("").contains("nothing says what to expect"));
        assert!(reason("exit = 256").contains("no exit status"));
        assert!(reason("stdout = \"no.txt\"").contains("cannot read"));
        assert!(reason("stdout = \"a\"\noutput = \"b\"").contains("both a file and the text"));
        assert!(reason("output = \"\"\nfiles = [\"..\"]").contains("not a file name"));
    }

    /// The list comes with a project that may be hostile.
    #[test]
    fn what_a_test_declares_has_to_be_allowed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tests.toml");
        let test = |name, needs| format!("[[test]]\nname = \"{name}\"\nexit = 0\n{needs}\n");
        let list = test("net", "network = true") + &test("write", "writes = [\".\"]");
        std::fs::write(&path, list).expect("the folder is writable");
        let load = |allowed: &Allowed| Suite::load(&path, allowed).expect("it can be read");
        let none = load(&Allowed::default());
        assert!(none.tests.is_empty());
        assert!(
            none.unusable[0].1.contains("not run")
                && none.unusable[0].1.contains("--allow network")
        );
        assert!(none.unusable[1].1.contains("--allow write=/"), "{none:?}");
        let above = folder.path().parent().expect("it is somewhere").to_owned();
        let some = load(&Allowed { writes: vec![above], ..Allowed::default() });
        assert_eq!(some.tests.len(), 1);
        assert_eq!(some.tests[0].permissions.writes, [folder.path().canonicalize().unwrap()]);
        let all = load(&Allowed { declared: true, ..Allowed::default() });
        assert_eq!(all.tests.len(), 2);
    }

    #[test]
    fn of_two_tests_with_one_name_only_the_first_counts() {
        let test = |args| format!("[[test]]\nname = \"a\"\nargs = {args}\nexit = 0\n");
        let suite = load(&(test("[\"1\"]") + &test("[\"2\"]")));
        assert_eq!(suite.tests.len(), 1);
        assert_eq!(suite.tests[0].args, ["1"]);
        assert_eq!(suite.unusable.len(), 1);
        assert_eq!(suite.unusable[0].1, "another test has the same name");
    }
}
