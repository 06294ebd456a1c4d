//! Flags for building a program to be run: what of a command line reaches the compiler and the
//! linker.
//!
//! A linker can load plugins, read scripts and write files wherever its options say, and the
//! compiler driver can be told which linker to run. So there is an allowlist for linking as
//! there is one for compiling, and what stands in neither is left out.

use std::path::Path;

use super::flags::{Role, role};

/// What is left of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeFlags {
    pub compile: Vec<String>,
    /// Libraries, objects and options of the linker, in order.
    pub link: Vec<String>,
    /// Left out although they may matter.
    pub unknown: Vec<String>,
}

/// Options of the linker itself that only say what is linked and how.
const LINKER: &[&str] = &[
    "-(",
    "-)",
    "--start-group",
    "--end-group",
    "--whole-archive",
    "--no-whole-archive",
    "--as-needed",
    "--no-as-needed",
    "-Bstatic",
    "-Bdynamic",
    "--export-dynamic",
    "-E",
    "--allow-multiple-definition",
    "--allow-shlib-undefined",
    "--gc-sections",
    "--no-gc-sections",
    "--no-undefined",
];

/// Those with an argument, which is a name: joined by `=`, or the next word.
const LINKER_WITH_NAME: &[&str] = &["--wrap", "-wrap", "--undefined", "-u", "-z"];

/// Those with an argument that is a path programs are searched for libraries when they run.
const LINKER_WITH_PATH: &[&str] = &["-rpath", "--rpath", "-rpath-link", "--rpath-link"];

/// Mean nothing for a program that is only to be run.
const MEANINGLESS: &[&str] =
    &["--build-id", "--hash-style", "--sort-common", "--fatal-warnings", "-s", "-S", "-x", "-O"];

/// Likewise, of the driver.
const MEANINGLESS_DRIVER: &[&str] = &[
    "-fuse-ld=",
    "-shared",
    "-static",
    "-pie",
    "-no-pie",
    "-nopie",
    "-r",
    "-s",
    "-symbolic",
    "-t",
    "-z",
    "-h",
    "-soname",
    "-shared-libgcc",
    "-rdynamic",
];

/// Sorts a command line. Files that are linked have to be of the kind their names say: ask
/// `is_object`, since a linker takes any other file for a script.
pub fn native_flags(flags: &[String], is_object: &dyn Fn(&Path) -> bool) -> NativeFlags {
    let mut result = NativeFlags::default();
    let mut words = flags.iter();
    let mut for_linker: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            // `@file` too: what is in it nobody has looked at.
            let is_file = is_linked(word) && is_object(Path::new(word));
            if is_file { &mut result.link } else { &mut result.unknown }.push(word.clone());
            continue;
        }
        let (role, takes_next) = role(word);
        let argument = if takes_next { words.next() } else { None };
        let both = || [word].into_iter().chain(argument).cloned();
        if role != Role::ForLinker {
            linker_words(std::mem::take(&mut for_linker), &mut result);
        }
        match role {
            Role::Preprocess | Role::Compile => result.compile.extend(both()),
            // The linker of another tree may be a program of another tree.
            Role::CompileAndLink if word != "-pthread" => result.compile.extend(both()),
            Role::CompileAndLink => {
                result.compile.extend(both());
                result.link.extend(both());
            }
            Role::ForLinker => for_linker.extend(argument.cloned()),
            Role::Link if word.starts_with("-l") || word.starts_with("-L") => {
                // `-l:name` is a file by its name, `-lname` one by a library's: both are searched
                // for, not opened by a path.
                result.link.extend(both());
            }
            Role::Link => match word.strip_prefix("-Wl,") {
                Some(parts) => {
                    linker_words(parts.split(',').map(str::to_owned).collect(), &mut result);
                }
                None if word.starts_with("-u") => result.link.extend(both()),
                None if is_one_of(MEANINGLESS_DRIVER, word) => {}
                None => result.unknown.extend(both()),
            },
            Role::Unknown => result.unknown.extend(both()),
            Role::ForPreprocessor => result.unknown.extend(both()),
            Role::Dropped
            | Role::Output
            | Role::Language
            | Role::StopAtObject
            | Role::StopAtAssembler
            | Role::StopEarlier
            | Role::Query => {}
        }
    }
    linker_words(for_linker, &mut result);
    result
}

/// Objects and libraries, by their names.
fn is_linked(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("a" | "o" | "so")) || name.contains(".so.")
}

fn is_one_of(table: &[&str], word: &str) -> bool {
    table.iter().any(|option| {
        word.strip_prefix(option)
            .is_some_and(|rest| rest.is_empty() || option.ends_with('=') || rest.starts_with('='))
    })
}

/// Words as the linker itself would get them.
fn linker_words(words: Vec<String>, result: &mut NativeFlags) {
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let named = LINKER_WITH_NAME.contains(&option);
        if named || LINKER_WITH_PATH.contains(&option) {
            let Some(value) = joined.or_else(|| words.next()) else { continue };
            // A comma would end the argument, and start another option.
            let is_fine = |c: char| c.is_ascii_graphic() && c != ',' && (!named || c != '/');
            if value.chars().all(is_fine) && !value.starts_with(['-', '@']) {
                result.link.push(format!("-Wl,{option},{value}"));
            } else {
                result.unknown.push(format!("-Wl,{option},{value}"));
            }
        } else if LINKER.contains(&word.as_str()) {
            result.link.push(format!("-Wl,{word}"));
        } else if let Some(name) = word.strip_prefix("-l").filter(|name| !name.is_empty()) {
            result.link.push(format!("-l{name}"));
        } else if let Some(folder) = word.strip_prefix("-L").filter(|path| !path.is_empty()) {
            result.link.push(format!("-L{folder}"));
        } else if !is_one_of(MEANINGLESS, option) && !word.starts_with("-O") {
            result.unknown.push(format!("-Wl,{word}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(words: &[&str]) -> NativeFlags {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        native_flags(&words, &|path| !path.starts_with("text"))
    }

    #[test]
    fn flags_go_where_they_belong() {
        let flags = sorted(&[
            "-DX",
            "-D",
            "Y",
            "-O2",
            "-lm",
            "-L",
            "lib",
            "-o",
            "prog",
            "-Werror",
            "-pthread",
            "z.a",
            "-Wl,--start-group",
            "-la",
            "-lb",
            "-Wl,--end-group,--build-id",
            "-Wl,--wrap=malloc",
            "-Xlinker",
            "-rpath",
            "-Xlinker",
            "/opt/lib",
            "-static",
            "libx.so.1",
            "-m32",
            "-fsanitize=address",
            "-flto",
            "-c",
            "-std=gnu89",
        ]);
        assert_eq!(flags.compile, ["-DX", "-D", "Y", "-pthread", "-m32", "-std=gnu89"]);
        assert_eq!(
            flags.link,
            [
                "-lm",
                "-L",
                "lib",
                "-pthread",
                "z.a",
                "-Wl,--start-group",
                "-la",
                "-lb",
                "-Wl,--end-group",
                "-Wl,--wrap,malloc",
                "-Wl,-rpath,/opt/lib",
                "libx.so.1",
            ]
        );
        assert_eq!(flags.unknown, [""; 0]);
    }

    /// What would execute or write something.
    #[test]
    fn flags_that_may_do_anything_reach_nobody() {
        for words in [
            &["-fuse-ld=/x/ld"][..],
            &["-fuse-ld=evil"],
            &["--ld-path=/x/ld"],
            &["-B/x"],
            &["-B", "/x"],
            &["-specs=/x"],
            &["--specs=/x"],
            &["-Wl,-plugin,/x.so"],
            &["-Wl,-plugin=/x.so"],
            &["-Wl,--plugin,/x.so"],
            &["-Wl,-Map=/x"],
            &["-Wl,-Map,/x"],
            &["-Wl,-o,/x"],
            &["-Wl,-o/x"],
            &["-Wl,--output=/x"],
            &["-Wl,--dependency-file=/x"],
            &["-Wl,--out-implib=/x"],
            &["-Wl,-T,/x"],
            &["-T", "/x"],
            &["-T/x"],
            &["@/x"],
            &["-Wl,@/x"],
            &["-Wl,-u,@/x"],
            &["-Wl,--wrap,-o"],
            &["-Xlinker", "-o", "-Xlinker", "/x"],
            &["-Xlinker", "--wrap=a,-o,/x"],
            &["-Xlinker", "@/x"],
            &["-Xclang", "-load", "-Xclang", "/x.so"],
            &["-fplugin=/x.so"],
            &["-wrapper", "/x"],
            &["-o", "/x"],
            &["-Wl,--script=/x"],
            &["-Wl,-dynamic-linker,/x"],
            &["-Wl,-retain-symbols-file,/x"],
            &["-dumpdir", "/x"],
            &["-save-temps=obj"],
            &["-gsplit-dwarf"],
            &["text.a"],
            &["/x/source.c"],
            &["--gcc-toolchain=/x"],
            &["-resource-dir", "/x"],
        ] {
            let words: Vec<&str> = words.to_vec();
            let flags = native_flags(
                &words.iter().map(|word| word.to_string()).collect::<Vec<_>>(),
                &|_| false,
            );
            assert_eq!((&flags.compile[..], &flags.link[..]), (&[][..], &[][..]), "{words:?}");
        }
        let flags = sorted(&["--sysroot=/x"]);
        assert_eq!(flags.link, [""; 0], "its linker would be run");
    }
}
