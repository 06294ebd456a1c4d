//! Inputs as people give them: a command that can be typed, and its parts.

use findings::{EnvironmentVariable, InputFile, RunInput};
use interpret::{Asked, Input, Inputs, Limits, Stream};

use crate::judge::Given;
use crate::search::BOUNDS;
use crate::shell::{self, printed};

/// Values never set that are told.
const MAX_UNSET: usize = 8;
/// Results of a function outside that are told.
const MAX_RESULTS: usize = 12;

/// What a run from `entry` got, of which it asked for some.
pub fn describe(given: &Given, entry: &str, asked: &Asked) -> RunInput {
    let (mut input, bytes) = match given {
        Given::Test(test) => {
            let arguments: Vec<Vec<u8>> =
                test.arguments.iter().map(|text| text.clone().into_bytes()).collect();
            let stdin = asked.has_read.then(|| test.stdin.clone());
            let others = vec![format!("test {}", test.name)];
            (
                RunInput { others, ..RunInput::default() },
                Bytes { arguments, stdin, files: Vec::new() },
            )
        }
        Given::Found(inputs, limits) => found(inputs, limits, asked),
    };
    if entry == "main" {
        input.command = command(&input, &bytes, asked);
    }
    input.arguments = bytes.arguments.iter().map(|text| told(text)).collect();
    input.stdin = bytes.stdin.as_deref().map(told);
    input
}

/// What a run reads, byte by byte.
struct Bytes {
    arguments: Vec<Vec<u8>>,
    stdin: Option<Vec<u8>>,
    files: Vec<File>,
}

/// A file that has to be there, or must not.
struct File {
    name: Vec<u8>,
    kind: Kind,
}

enum Kind {
    Absent,
    Folder,
    Holds(Vec<u8>),
}

fn found(inputs: &Inputs, limits: &Limits, asked: &Asked) -> (RunInput, Bytes) {
    let n_arguments = (inputs.get(Input::ArgumentCount) as u32).min(BOUNDS[2].arguments);
    let arguments = (1..=n_arguments)
        .map(|index| text(inputs, limits, |byte| Input::Argument { index, byte }))
        .collect();
    let limit = limits.stdin_bytes as usize;
    let held = |stream: Stream| {
        let mut bytes = inputs.bytes_of(stream);
        bytes.truncate(limit);
        bytes
    };
    let stdin = asked.has_read.then(|| held(Stream::Stdin));
    let files = files(asked, &held);
    let unset = asked.unset.iter().map(|name| (told(name), None));
    let set = asked.set.iter().map(|(name, stream)| {
        let value = text(inputs, limits, |byte| stream.byte(byte));
        (told(name), Some(told(&value)))
    });
    let environment =
        unset.chain(set).map(|(name, value)| EnvironmentVariable { name, value }).collect();
    let mut others = others(inputs, asked);
    for number in 0..asked.n_connections {
        let bytes = held(Stream::Connection(number));
        others.push(format!("connection {} gives what {} writes", number + 1, printed(&bytes)));
    }
    let listed = files.iter().map(|file| InputFile {
        name: told(&file.name),
        content: match &file.kind {
            Kind::Holds(bytes) => Some(told(bytes)),
            Kind::Absent | Kind::Folder => None,
        },
        is_folder: matches!(file.kind, Kind::Folder),
    });
    let input = RunInput { environment, others, files: listed.collect(), ..RunInput::default() };
    (input, Bytes { arguments, stdin, files })
}

/// The files a run looks for, and those in the folders it reads.
fn files(asked: &Asked, held: &dyn Fn(Stream) -> Vec<u8>) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    let is_asked = |name: &[u8]| asked.files.iter().any(|file| file.name == name);
    for file in &asked.files {
        let name = file.name.clone();
        if !file.exists || !file.is_folder {
            let kind = if file.exists { Kind::Holds(held(file.stream)) } else { Kind::Absent };
            files.push(File { name, kind });
            continue;
        }
        let entries = held(file.stream);
        let entries = entries.split(|byte| matches!(byte, b'\n' | b'/' | 0));
        files.push(File { name: name.clone(), kind: Kind::Folder });
        for entry in entries.filter(|entry| !matches!(*entry, b"" | b"." | b"..")) {
            let name =
                if name == b"." { entry.to_vec() } else { [&name[..], b"/", entry].concat() };
            if !is_asked(&name) && files.iter().all(|file| file.name != name) {
                files.push(File { name, kind: Kind::Holds(Vec::new()) });
            }
        }
    }
    files
}

/// What no command line gives.
fn others(inputs: &Inputs, asked: &Asked) -> Vec<String> {
    let mut others = asked.parameters.clone();
    others.extend(outside(inputs, asked));
    others.extend(asked.failures.iter().cloned());
    let mut unset: Vec<i128> = Vec::new();
    for (input, value) in &inputs.0 {
        match input {
            Input::UnsetVariable(_) if *value != 0 => unset.push(*value as i32 as i128),
            Input::Unset { .. } if *value != 0 => unset.push(*value as i128),
            _ => {}
        }
    }
    if !unset.is_empty() {
        let more = if unset.len() > MAX_UNSET { ", ..." } else { "" };
        let values: Vec<String> = unset.iter().take(MAX_UNSET).map(i128::to_string).collect();
        others.push(format!("what was never set holds {}{more}", values.join(", ")));
    }
    others
}

/// What each function outside the program gives, call by call.
fn outside(inputs: &Inputs, asked: &Asked) -> Vec<String> {
    let mut functions: Vec<(&str, Vec<String>)> = Vec::new();
    for (index, name) in (0..).zip(&asked.outside) {
        let value = inputs.get(Input::Outside(index));
        let number = u32::try_from(value).map_or(value as i64, |value| i64::from(value as i32));
        let value = asked.shown.get(&index).map_or(number, |shown| *shown as i64);
        match functions.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value.to_string()),
            None => functions.push((name, vec![value.to_string()])),
        }
    }
    let told = |(name, mut values): (&str, Vec<String>)| {
        let more = if values.len() > MAX_RESULTS { ", ..." } else { "" };
        values.truncate(MAX_RESULTS);
        format!("{name} gives {}{more}", values.join(", "))
    };
    functions.into_iter().map(told).collect()
}

/// A text up to its zero.
fn text(inputs: &Inputs, limits: &Limits, input: impl Fn(u32) -> Input) -> Vec<u8> {
    let bytes = (0..limits.argument_bytes).map(|byte| inputs.get(input(byte)) as u8);
    bytes.take_while(|byte| *byte != 0).collect()
}

/// One character for each byte.
fn told(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// A name below the folder the program is run in.
fn is_below(name: &[u8]) -> bool {
    !name.starts_with(b"/") && name.split(|byte| *byte == b'/').all(|part| part != b"..")
}

/// What is typed before the program starts, so that its files are there; in words where they
/// lie in folders that are not ours.
fn prepare(files: &[File], words: &mut Vec<String>, remarks: &mut Vec<String>) {
    let folder_of =
        |name: &[u8]| name.iter().rposition(|byte| *byte == b'/').map(|end| name[..end].to_vec());
    let mut made: Vec<Vec<u8>> = Vec::new();
    for file in files {
        let name = shell::word(&file.name);
        if !is_below(&file.name) {
            remarks.push(match &file.kind {
                Kind::Absent => format!("there is no {name}"),
                Kind::Folder => format!("{name} is a folder"),
                Kind::Holds(bytes) => format!("{name} holds what {} writes", printed(bytes)),
            });
            continue;
        }
        let folder = match &file.kind {
            Kind::Folder if file.name != b"." => Some(file.name.clone()),
            Kind::Holds(_) => folder_of(&file.name),
            _ => None,
        };
        if let Some(folder) = folder.filter(|folder| !made.contains(folder)) {
            words.push(format!("mkdir -p {};", shell::operand(&folder)));
            made.push(folder);
        }
        match &file.kind {
            // A command that is copied must not remove anything.
            Kind::Absent => remarks.push(format!("there is no {name}")),
            Kind::Folder => {}
            Kind::Holds(bytes) => words.push(format!("{} > {name};", printed(bytes))),
        }
    }
}

fn command(input: &RunInput, bytes: &Bytes, asked: &Asked) -> String {
    let mut words = Vec::new();
    let mut remarks = input.others.clone();
    if !asked.guessed.is_empty() {
        let names = asked.guessed.join(", ");
        remarks.push(format!("what {names} do is not known, and was made up"));
    }
    let stdin = bytes.stdin.as_deref().unwrap_or_default();
    prepare(&bytes.files, &mut words, &mut remarks);
    if !stdin.is_empty() {
        words.extend([printed(stdin), "|".to_owned()]);
    }
    if !input.environment.is_empty() {
        words.push("env".to_owned());
        let bytes = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
        for variable in input.environment.iter().filter(|v| v.value.is_none()) {
            words.extend(["-u".to_owned(), shell::word(&bytes(&variable.name))]);
        }
        for variable in &input.environment {
            let Some(value) = &variable.value else { continue };
            words.push(shell::assignment(&bytes(&variable.name), &bytes(value)));
        }
    }
    words.push("./program".to_owned());
    words.extend(bytes.arguments.iter().map(|text| shell::word(text)));
    if bytes.stdin.is_some() && stdin.is_empty() {
        words.push("< /dev/null".to_owned());
    }
    if bytes.arguments.is_empty() && asked.takes_arguments {
        remarks.insert(0, "without arguments".to_owned());
    }
    let command = words.join(" ");
    if remarks.is_empty() { command } else { format!("{command}  # {}", remarks.join("; ")) }
}

#[cfg(test)]
mod tests {
    use interpret::{AskedFile, FileId, Name};

    use super::*;

    fn asked(name: &str, exists: bool, is_folder: bool) -> AskedFile {
        let stream = Stream::File(FileId::Named(Name::of(name.as_bytes())));
        AskedFile { name: name.as_bytes().to_vec(), stream, exists, is_folder }
    }

    fn described(files: Vec<AskedFile>, held: &[&[u8]], failures: &[&str]) -> RunInput {
        let mut inputs = Inputs::default();
        for (file, bytes) in files.iter().zip(held) {
            inputs.set_bytes(file.stream, bytes);
        }
        let failures = failures.iter().map(|text| (*text).to_owned()).collect();
        let asked = Asked { files, failures, ..Asked::default() };
        describe(&Given::Found(inputs, BOUNDS[2]), "main", &asked)
    }

    #[test]
    fn the_command_makes_the_files_that_a_run_reads() {
        let files = vec![
            asked("sub/it\'s -x", true, false),
            asked("-n", true, false),
            asked("list", true, true),
            asked("none", false, false),
        ];
        let input = described(files, &[b"a\0%\n", b"-", b"one\ntwo", b""], &[]);
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let command = input.command.replace("./program", "find . -type f | sort");
        let run = std::process::Command::new("bash")
            .args(["-c", &command])
            .current_dir(&folder)
            .output()
            .expect("bash starts");
        let found = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(found, "./-n\n./list/one\n./list/two\n./sub/it's -x\n", "{command}");
        let read = |name: &str| std::fs::read(folder.path().join(name)).expect("it is there");
        assert_eq!((read("sub/it's -x"), read("-n")), (b"a\0%\n".to_vec(), b"-".to_vec()));
        assert!(input.command.ends_with("# there is no none"), "{}", input.command);
        let contents: Vec<_> =
            input.files.iter().map(|f| (f.name.as_str(), f.content.is_some())).collect();
        let expected = [
            ("sub/it's -x", true),
            ("-n", true),
            ("list", false),
            ("list/one", true),
            ("list/two", true),
            ("none", false),
        ];
        assert_eq!(contents, expected);
    }

    #[test]
    fn files_of_other_folders_and_failures_are_told_in_words() {
        let files = vec![asked("/etc/x", true, false), asked("../y", true, false)];
        let input = described(files, &[b"1", b"2"], &["the 2nd call of malloc fails"]);
        let expected = "./program  # the 2nd call of malloc fails; /etc/x holds what printf '1' \
                        writes; ../y holds what printf '2' writes";
        assert_eq!(input.command, expected);
        assert_eq!(input.others, ["the 2nd call of malloc fails"]);
    }
}
