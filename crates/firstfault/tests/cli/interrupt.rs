//! Ctrl-C and `kill -9` in the middle: soon over, nothing left running, nothing half-written.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Sandbox, TWO_UNITS};

/// A compiler that hangs on one unit, after saying so, as long as there is a file `hang`.
const HANGING: &str = "case \"$*\" in *slow.c*)\n\
    [ -e hang ] && echo $$ > hanging.pid && exec sleep 1000 ;; esac\nexec clang-19 \"$@\"";

/// A run whose compiler hangs, and the process id of that compiler.
fn hanging() -> (Sandbox, Child, String) {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.write("slow.c", "int slow(void) { return 1; }\n");
    sandbox.write("hang", "");
    sandbox.set_clang(HANGING);
    let mut command = sandbox.command(&["check", "-j2", "main.c", "slow.c", "add.c"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = wait_for(|| {
        let text = std::fs::read_to_string(sandbox.path("hanging.pid")).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    });
    (sandbox, child, pid)
}

fn signal(name: &str, pid: u32) {
    let status = std::process::Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(status.unwrap().success());
}

fn wait_for<T>(mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_gone(pid: &str) -> Option<()> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    // A zombie is dead; whoever is responsible has not looked yet.
    status.map_or(true, |stat| stat.contains(") Z ")).then_some(())
}

#[test]
fn ctrl_c_stops_everything() {
    for name in ["-INT", "-TERM"] {
        let (sandbox, child, compiler) = hanging();
        signal(name, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "firstfault: interrupted\n");
        assert_eq!(output.stdout, b"");
        wait_for(|| is_gone(&compiler));
        assert_eq!(sandbox.files_below("state/cache/tmp"), Vec::<std::path::PathBuf>::new());
        next_run_is_whole(&sandbox);
    }
}

#[test]
fn kill_9_leaves_no_compiler_and_no_half_written_entry() {
    let (sandbox, mut child, compiler) = hanging();
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for(|| is_gone(&compiler));
    next_run_is_whole(&sandbox);
    assert_eq!(sandbox.files_below("state/cache/tmp"), Vec::<std::path::PathBuf>::new());
}

/// What the interrupted run left in the cache does not disturb the next one.
fn next_run_is_whole(sandbox: &Sandbox) {
    std::fs::remove_file(sandbox.path("hang")).unwrap();
    let args = ["check", "--format", "json", "main.c", "slow.c", "add.c"];
    let findings = sandbox.run(&args).expect(0).json();
    assert_eq!(findings.programs[0].units, 3);
    assert_eq!(findings.programs[0].functions, 3);
}

#[test]
fn ctrl_c_stops_a_watched_build() {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.script("build", "cc -c add.c\necho $$ > build.pid\nsleep 1000\n");
    let mut command = sandbox.command(&["capture", "--", "./build"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = wait_for(|| {
        let text = std::fs::read_to_string(sandbox.path("build.pid")).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    });
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    wait_for(|| is_gone(&pid));
}
