//! Tests of the choice of archive members, on archives made by the system's tools.

use std::process::Command;

use super::*;
use crate::command::LinkWord;

/// Compiles sources of the given names and texts, and makes an archive of each.
fn archives(sources: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temp folder");
    for (name, text) in sources {
        std::fs::write(folder.path().join(format!("{name}.c")), text).expect("writable");
        let script = format!("gcc -c {name}.c && ar rc {name}.a {name}.o");
        let status = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).status();
        assert!(status.expect("a shell runs").success());
    }
    folder
}

fn linked(folder: &Path, words: &str) -> Vec<String> {
    let words: Vec<LinkWord> = words.split(' ').map(|w| LinkWord::Word(w.to_owned())).collect();
    let link = Link::parse(&words, folder);
    let resolved = resolve(&link, &mut |_| Symbols::default());
    let name = |part: Linked| match part {
        Linked::Object { name, .. } => {
            let member = name.rsplit(['/', '(']).next().unwrap_or(&name);
            Some(member.trim_end_matches(')').to_owned())
        }
        _ => None,
    };
    resolved.linked.into_iter().filter_map(name).collect()
}

#[test]
fn the_order_of_archives_matters_except_to_some_linkers() {
    let folder = archives(&[
        ("main", "int up(void); int main(void) { return up(); }"),
        ("up", "int down(void); int up(void) { return down(); }"),
        ("down", "int down(void) { return 0; }"),
    ]);
    let linked = |words| linked(folder.path(), words);
    assert_eq!(linked("main.o up.a down.a"), ["main.o", "up.o", "down.o"]);
    assert_eq!(linked("main.o down.a up.a"), ["main.o", "up.o"]);
    assert_eq!(linked("main.o -( down.a up.a -)"), ["main.o", "up.o", "down.o"]);
    assert_eq!(linked("main.o -fuse-ld=lld down.a up.a"), ["main.o", "up.o", "down.o"]);
    assert_eq!(linked("--whole-archive down.a --no-whole-archive up.a"), ["down.o"]);
    // The start-up code wants main, wherever it is.
    assert_eq!(linked("down.a main.a up.a down.a"), ["main.o", "up.o", "down.o"]);
    assert_eq!(linked("-shared -u down up.a down.a"), ["down.o"]);
}

#[test]
fn scripts_stand_for_their_files() {
    let folder = archives(&[
        ("main", "int up(void); int main(void) { return up(); }"),
        ("up", "int up(void) { return 0; }"),
    ]);
    std::fs::write(folder.path().join("libx.so"), "INPUT ( up.a )").expect("writable");
    std::fs::write(folder.path().join("loop.so"), "INPUT ( loop.so up.a )").expect("writable");
    assert_eq!(linked(folder.path(), "main.o -L. -lx"), ["main.o", "up.o"]);
    assert_eq!(linked(folder.path(), "main.o loop.so"), ["main.o", "up.o"]);
}

#[test]
fn damaged_inputs_are_passed_over() {
    let folder = archives(&[("main", "int main(void) { return 0; }")]);
    let object = std::fs::read(folder.path().join("main.o")).expect("made");
    let archive = std::fs::read(folder.path().join("main.a")).expect("made");
    for length in (0..archive.len()).step_by(37) {
        std::fs::write(folder.path().join("cut.a"), &archive[..length]).expect("writable");
        let cut = &object[..length.min(object.len())];
        std::fs::write(folder.path().join("cut.o"), cut).expect("writable");
        let linked = linked(folder.path(), "main.o cut.o cut.a gone.a");
        assert_eq!(linked.first().map(String::as_str), Some("main.o"));
    }
}
