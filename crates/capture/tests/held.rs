//! Programs that are loaded once: each run is as if it had been started by itself.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use base::Cancel;
use base::child::{Ending, Finished, Limits, Tool};
use support::Scratch;

/// Set in a copy of this test that shall be killed: where to write process ids.
const VICTIM: &str = "FIRSTFAULT_TEST_VICTIM";

fn shell() -> PathBuf {
    fs::canonicalize("/bin/sh").expect("every system has a shell")
}

fn run(tool: &Tool, script: &str, input: &[u8], limits: &Limits) -> Finished {
    let mut command = Command::new(tool.program());
    command.args(["-c", script]);
    tool.run(&command, input, limits, &Cancel::new()).expect("it runs")
}

/// The parent of the process a run is: the server, or this test where there is none.
fn parent_of_a_run(tool: &Tool) -> String {
    let done = run(tool, "echo $PPID", b"", &Limits::default());
    String::from_utf8(done.stdout).expect("a number").trim().to_owned()
}

fn dies(pid: &str) -> bool {
    let stat = format!("/proc/{pid}/stat");
    let dead = || !fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z"));
    (0..500).any(|_| dead() || (std::thread::sleep(Duration::from_millis(20)), false).1)
}

#[test]
fn runs_share_a_process_and_nothing_else() {
    let tool = capture::hold(&shell());
    let server = parent_of_a_run(&tool);
    assert_ne!(server, std::process::id().to_string(), "the shell is not held");
    let crashed = run(&tool, "kill -SEGV $$", b"", &Limits::default());
    assert_eq!(crashed.ending, Ending::Signalled(11));
    let input: Vec<u8> = (0..1 << 20).map(|i| (i % 251) as u8).collect();
    let copied = run(&tool, "cat; echo done >&2; exit 3", &input, &Limits::default());
    assert_eq!((copied.ending, &copied.stderr[..]), (Ending::Exited(3), &b"done\n"[..]));
    assert!(copied.stdout == input, "what went in comes back");
    let flooded =
        run(&tool, "yes | head -c 1000000", b"", &Limits { stdout_cap: 4, ..Limits::default() });
    assert!(flooded.truncated && flooded.stdout == b"y\ny\n");
    let mut command = Command::new(tool.program());
    command.args(["-c", "pwd; echo $A; echo ${LD_PRELOAD-none} ${FIRSTFAULT_SERVE-none}"]);
    command.current_dir("/").env("A", "b c");
    let done = tool.run(&command, b"", &Limits::default(), &Cancel::new()).expect("it runs");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "/\nb c\nnone none\n");
    let descriptors = run(&tool, "ls -l /proc/$$/fd", b"", &Limits::default());
    let descriptors = String::from_utf8_lossy(&descriptors.stdout).into_owned();
    assert!(!descriptors.contains("socket"), "{descriptors}");
    assert_eq!(parent_of_a_run(&tool), server, "none of this cost the server");
    drop(tool);
    assert!(dies(&server), "the server outlives its tool");
}

#[test]
fn what_a_run_leaves_behind_is_ended() {
    let tool = capture::hold(&shell());
    let done = run(&tool, "sleep 1000 & echo $!", b"", &Limits::default());
    let left = String::from_utf8(done.stdout).expect("a number");
    assert!(dies(left.trim()), "a grandchild survived its parent");
    let limits = Limits { deadline: Duration::from_millis(300), ..Limits::default() };
    let hung = run(&tool, "sleep 1000 & echo $!; wait", b"", &limits);
    assert_eq!(hung.ending, Ending::TimedOut);
    let left = String::from_utf8(hung.stdout).expect("a number");
    assert!(dies(left.trim()), "a grandchild survived the deadline");
    assert!(run(&tool, "exit 0", b"", &Limits::default()).ending.success(), "the next one runs");
}

#[test]
fn processor_time_is_limited_wherever_it_is_spent() {
    let limits = Limits { cpu: Some(Duration::from_millis(200)), ..Limits::default() };
    for tool in [capture::hold(&shell()), Tool::plain(shell())] {
        let idle = run(&tool, "sleep 0.6", b"", &limits);
        assert!(idle.ending.success(), "waiting costs nothing: {:?}", idle.ending);
        let busy = run(&tool, "while :; do :; done", b"", &limits);
        assert_eq!(busy.ending, Ending::TimedOut);
        let below = run(&tool, "(while :; do :; done) & wait", b"", &limits);
        assert_eq!(below.ending, Ending::TimedOut);
    }
}

#[test]
fn held_or_not_clang_says_the_same() {
    let scratch = Scratch::new();
    scratch.write("sub/a.h", "#include <stdarg.h>\n");
    scratch.write("sub/a.c", "#include \"a.h\"\n#warning w\nint f(va_list v);\nint x = \"\";\n");
    let program = base::child::find_program("clang-19".as_ref()).expect("clang is installed");
    let run = |tool: &Tool| {
        let mut command = Command::new(tool.program());
        command.args(["-S", "-emit-llvm", "-o", "-", "a.c", "-v"]);
        command.current_dir(scratch.path("sub"));
        let done = tool.run(&command, b"", &Limits::default(), &Cancel::new()).expect("runs");
        (done.ending, done.stdout, String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let held = capture::hold(&program);
    let fresh = run(&Tool::plain(&program));
    assert!(fresh.2.contains("stdarg.h") || fresh.2.contains("a.c:2:2: warning"), "{fresh:?}");
    assert_eq!(run(&held), fresh);
    assert_eq!(run(&held), fresh, "the second time, too");
}

#[test]
fn a_script_is_started_each_time() {
    let scratch = Scratch::new();
    let script = scratch.write("tool", "#!/bin/sh\necho \"$PPID $*\"\n");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, permissions).expect("ours");
    let tool = capture::hold(&script);
    let mut command = Command::new(tool.program());
    command.args(["a", "b"]);
    let done = tool.run(&command, b"", &Limits::default(), &Cancel::new()).expect("it runs");
    let expected = format!("{} a b\n", std::process::id());
    assert_eq!(String::from_utf8_lossy(&done.stdout), expected);
}

#[test]
fn a_server_and_its_run_die_with_whoever_is_killed() {
    if let Some(file) = std::env::var_os(VICTIM) {
        let tool = capture::hold(&shell());
        let script =
            format!("echo $PPID $$ > '{0}.new'; mv '{0}.new' '{0}'; sleep 1000", file.display());
        run(&tool, &script, b"", &Limits::default());
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.path("pids");
    let mut victim = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "a_server_and_its_run_die_with_whoever_is_killed"])
        .env(VICTIM, &file)
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts again");
    let pids = wait_for(&file);
    victim.kill().expect("ours");
    victim.wait().expect("ours");
    let pids: Vec<&str> = pids.split_whitespace().collect();
    assert_ne!(pids[0], victim.id().to_string(), "the shell was not held");
    assert!(pids.iter().all(|pid| dies(pid)), "{pids:?} outlive the process they served");
}

fn wait_for(file: &Path) -> String {
    for _ in 0..1000 {
        if let Ok(text) = fs::read_to_string(file) {
            return text;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the copy of this test did not start its run");
}
