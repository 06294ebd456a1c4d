//! Nothing outlives its run, whatever ends that.

use super::*;

use std::time::Instant;

#[test]
fn everything_ends_with_the_program() {
    let mut world = World::new(Level::Full, "ends");
    for attack in ["double_fork", "daemonizes", "threads_of_forks", "kills_parent", "kills_all"] {
        let started = Instant::now();
        assert_eq!(world.run(attack).end, End::Exited(0), "{attack}");
        assert!(started.elapsed() < Duration::from_secs(10), "{attack}");
    }
}

#[test]
fn everything_ends_at_the_deadline() {
    let mut world = World::new(Level::Full, "deadline");
    world.time = Duration::from_millis(300);
    for attack in ["sleep_on", "detaches", "closes_all", "stops"] {
        let started = Instant::now();
        assert_eq!(world.run(attack).end, End::TimedOut, "{attack}");
        assert!(started.elapsed() < Duration::from_secs(10), "{attack}");
    }
    // Stopped by the limit on processes, or at the deadline at the latest.
    let left = world.run("fork_bomb");
    assert!(matches!(left.end, End::Signalled(9) | End::TimedOut), "{left:?}");
    assert_eq!(world.run("works").end, End::Exited(0), "the keeper goes on");
}

#[test]
fn a_run_can_be_cancelled() {
    let mut world = World::new(Level::Full, "cancelled");
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            cancel.cancel();
        });
        assert_eq!(world.start("detaches", &cancel).end, End::Cancelled);
    });
    assert_eq!(marked(&world.mark), [0; 0]);
}

/// The test is also the process that it kills.
#[test]
fn a_kill_takes_everything_along() {
    const VICTIM: &str = "FIRSTFAULT_VICTIM";
    if std::env::var_os(VICTIM).is_some() {
        World::new(Level::Full, "victim").start("detaches", &Cancel::new());
        return;
    }
    let temporary = Scratch::new().unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sandbox::tests::lifetime::a_kill_takes_everything_along"])
        .env(VICTIM, "1")
        .env("TMPDIR", temporary.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mark = format!("victim-{}", victim.id());
    wait_until(|| marked(&mark).len() >= 2);
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until(|| marked(&mark).is_empty());
}

/// A word to end a run that has just ended does not end the next.
#[test]
fn a_late_stop_means_nothing() {
    let mut world = World::new(Level::Full, "late");
    let cancel = Cancel::new();
    cancel.cancel();
    for _ in 0..30 {
        world.start("works", &cancel);
        assert_eq!(world.run("works").end, End::Exited(0));
    }
}

fn wait_until(holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "it takes too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}
