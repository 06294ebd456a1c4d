//! Nothing stays behind, however firstfault ends.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use capture::{Build, Cache, CaptureError, Inputs, Settings};
use support::Scratch;

const FF_CC: &str = env!("CARGO_BIN_EXE_ff-cc");

/// Whether the process is gone or a zombie, within ten seconds.
fn dies(pid: &str) -> bool {
    let stat = format!("/proc/{pid}/stat");
    let dead = || !fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z"));
    (0..500).any(|_| dead() || (std::thread::sleep(Duration::from_millis(20)), false).1)
}

/// Starts a shell in firstfault's place, lets it start something that prints process
/// ids, kills the shell with a signal nobody can catch, and expects the ids to die.
fn assert_dies_with_parent(script: &str, n_pids: usize) {
    let mut parent = Command::new("sh")
        .args(["-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    let mut lines = BufReader::new(parent.stdout.take().expect("piped")).lines();
    let pids: Vec<String> =
        (0..n_pids).map(|_| lines.next().expect("a process id").expect("text")).collect();
    for pid in &pids {
        assert!(Path::new("/proc").join(pid).exists(), "{pid} runs");
    }
    parent.kill().expect("ours");
    parent.wait().expect("ours");
    for pid in &pids {
        assert!(dies(pid), "{pid} outlives its parent");
    }
}

#[test]
fn a_guarded_child_dies_with_its_parent() {
    assert_dies_with_parent(
        &format!("{FF_CC} --guard $$ /bin/sh -c 'echo $$; exec sleep 1000' & wait"),
        1,
    );
}

#[test]
fn a_watched_build_dies_with_its_parent_whatever_it_started() {
    // One process has lost its parent and another has left the session: both are found.
    let build = "echo $$; (sleep 1000 & echo $!); setsid sh -c 'echo $$; sleep 1000' & wait";
    assert_dies_with_parent(
        &format!(
            "{FF_CC} --guard-build $$ $(cut -d' ' -f5 /proc/$$/stat) /bin/sh sh -c \"{}\" & wait",
            build.replace('$', "\\$")
        ),
        3,
    );
}

#[test]
fn cancelling_ends_a_build_and_all_it_started() {
    let scratch = Scratch::new();
    let settings = scratch.settings();
    let cancel = settings.cancel.clone();
    let pid_file = scratch.path("pid");
    let watcher = {
        let pid_file = pid_file.clone();
        std::thread::spawn(move || {
            for _ in 0..500 {
                if fs::read_to_string(&pid_file).is_ok_and(|text| text.ends_with('\n')) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            cancel.cancel();
        })
    };
    let script = "sleep 1000 & echo $! > pid; wait";
    let command = ["sh", "-c", script].iter().map(|word| word.into()).collect();
    let inputs = Inputs::Build(Build { command, shims: false });
    let cache = std::sync::Arc::new(Cache::open(&scratch.state()));
    let result = capture::load(&inputs, &cache, &Settings { ..settings });
    assert!(matches!(result, Err(CaptureError::Cancelled)), "{result:?}");
    watcher.join().expect("only waits");
    let pid = fs::read_to_string(pid_file).expect("the build ran");
    assert!(dies(pid.trim()), "the build's child survived");
}

#[test]
fn a_killed_compile_leaves_no_record_and_no_temporary_file() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    let command =
        ["sh", "-c", "gcc -c a.c; (gcc -c - -x c -o b.o & sleep 0.2; kill -9 $!) 2>/dev/null"];
    let command = command.iter().map(|word| word.into()).collect();
    let project = scratch.load(&Inputs::Build(Build { command, shims: false })).expect("captured");
    assert_eq!(support::paths(&project), ["a.c"]);
    // The next run cleans up what the killed one may have left.
    scratch.load(&scratch.folder()).expect("loads");
    for folder in [".firstfault/cache/tmp", ".firstfault/capture/cache/tmp"] {
        let left = fs::read_dir(scratch.path(folder)).expect("exists").count();
        assert_eq!(left, 0, "{folder}");
    }
}
