//! Children that end, crash, hang, talk too much or leave children of their own.

use super::*;

fn shell(script: &str) -> Command {
    let mut command = command("sh").expect("every system has a shell");
    command.args(["-c", script]);
    command
}

fn run_shell(script: &str, input: &[u8], limits: Limits) -> Finished {
    run(shell(script), input, &limits, &Cancel::new()).expect("a shell can be run")
}

/// Whether the process is gone: a kill takes effect a moment after it is sent, and a
/// zombie that waits for init counts as dead.
fn dies(pid: &str) -> bool {
    let dead =
        || !std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(") Z"));
    (0..500).any(|_| dead() || (std::thread::sleep(Duration::from_millis(10)), false).1)
}

#[test]
fn output_and_exit_status_come_back() {
    let done = run_shell("echo out; echo err >&2; exit 3", b"", Limits::default());
    assert_eq!(done.ending, Ending::Exited(3));
    assert_eq!((done.stdout.as_slice(), done.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
    assert!(!done.truncated);
}

#[test]
fn a_signal_is_told_from_an_exit() {
    let done = run_shell("kill -SEGV $$", b"", Limits::default());
    assert_eq!(done.ending, Ending::Signalled(11));
}

#[test]
fn input_larger_than_a_pipe_goes_through_and_back() {
    let input: Vec<u8> = (0..1 << 20).map(|i| (i % 251) as u8).collect();
    assert_eq!(run_shell("cat", &input, Limits::default()).stdout, input);
    // Input nobody reads is no error.
    assert!(run_shell("exit 0", &input, Limits::default()).ending.success());
}

#[test]
fn output_beyond_the_cap_is_dropped_but_the_child_finishes() {
    let limits = Limits { stdout_cap: 10, ..Limits::default() };
    let done = run_shell("yes | head -c 1000000; echo end >&2", b"", limits);
    assert_eq!(done.stdout, b"y\ny\ny\ny\ny\n");
    assert_eq!(done.stderr, b"end\n");
    assert!(done.truncated && done.ending.success());
}

#[test]
fn the_whole_group_dies_at_the_deadline() {
    let limits = Limits { deadline: Duration::from_millis(300), ..Limits::default() };
    let done = run_shell("sleep 1000 & echo $!; wait", b"", limits);
    assert_eq!(done.ending, Ending::TimedOut);
    let pid = String::from_utf8(done.stdout).expect("a number");
    assert!(dies(pid.trim()), "a grandchild survived the deadline");
}

#[test]
fn a_background_process_does_not_outlive_or_delay_its_parent() {
    let done = run_shell("sleep 1000 & echo $!", b"", Limits::default());
    assert_eq!(done.ending, Ending::Exited(0));
    let pid = String::from_utf8(done.stdout).expect("a number");
    assert!(dies(pid.trim()), "a grandchild survived its parent");
}

#[test]
fn cancelling_stops_the_child() {
    let cancel = Cancel::new();
    let stopper = cancel.clone();
    let handle = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stopper.cancel();
    });
    let done = run(shell("sleep 1000"), b"", &Limits::default(), &cancel).expect("runs");
    assert_eq!(done.ending, Ending::Cancelled);
    handle.join().expect("the stopper only sleeps");
}

#[test]
fn cpu_time_is_measured() {
    let done =
        run_shell("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done", b"", Limits::default());
    assert!(done.cpu > Duration::from_millis(1), "{:?}", done.cpu);
    assert!(done.peak_memory > 0);
}

#[test]
fn a_missing_program_is_said_before_anything_starts() {
    let error = command("no-such-program-here").expect_err("does not exist");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    let error = command("/no/such/program").expect_err("does not exist");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}
