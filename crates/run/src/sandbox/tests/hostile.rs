//! What programs try while they run.

use super::*;

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;

/// Places that are not in the scratch folder and that a program may want to write to.
fn elsewhere() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let folders = ["/etc", "/usr/bin", "/", "/run", "/tmp", "/var/tmp", "/dev/shm"];
    let folders = folders.map(PathBuf::from).into_iter().chain(home);
    folders.map(|folder| folder.join("firstfault-hostile")).collect()
}

#[test]
fn files_outside_stay_as_they_are() {
    let mut world = World::new(Level::Full, "files");
    let before = world.outside();
    for attack in [
        "unlinks",
        "renames",
        "chmods",
        "truncates",
        "appends",
        "creates",
        "removes_all",
        "links",
        "times",
        "writes_home",
        "writes_system",
        "maps_file",
        "huge_file",
        "many_files",
    ] {
        let left = world.run(attack);
        assert_eq!(left.end, End::Exited(0), "{attack}: {}", left.said);
        assert_eq!(world.outside(), before, "{attack}");
        for path in elsewhere() {
            assert!(!path.exists(), "{attack} wrote {}", path.display());
        }
    }
}

/// What the next run sees does not depend on what the one before did.
#[test]
fn nothing_is_handed_on_to_the_next_run() {
    let mut world = World::new(Level::Full, "next");
    for attack in ["shares_memory", "talks_to_itself", "works"] {
        for _ in 0..2 {
            let left = world.run(attack);
            assert_eq!(left.end, End::Exited(0), "{attack}: {}", left.said);
        }
    }
    let left = world.run("works");
    let read = |name: &str| fs::read_to_string(left.folder.path().join(name)).unwrap();
    assert_eq!((read("own"), read("folder/own")), ("hostile".into(), "hostile".into()));
    assert_eq!(read("shell"), "hello\n");
}

#[test]
fn privileges_are_refused() {
    let mut world = World::new(Level::Full, "privileges");
    for attack in [
        "mounts",
        "umounts",
        "chroots",
        "makes_namespaces",
        "enters_namespaces",
        "changes_user",
        "traces",
        "reads_memory",
        "kernel_settings",
        "devices",
        "kernel_calls",
        "descriptors",
    ] {
        let left = world.run(attack);
        assert_eq!(left.end, End::Exited(0), "{attack}: {}", left.said);
    }
}

#[test]
fn nobody_outside_is_reached() {
    let mut world = World::new(Level::Full, "sockets");
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    world.port = tcp.local_addr().unwrap().port();
    let name = format!("firstfault-hostile-{}", world.port);
    let address = SocketAddr::from_abstract_name(name).unwrap();
    let abstracted = UnixListener::bind_addr(&address).unwrap();
    tcp.set_nonblocking(true).unwrap();
    abstracted.set_nonblocking(true).unwrap();
    for attack in ["connects", "connects_unix", "connects_abstract", "odd_sockets"] {
        let left = world.run(attack);
        assert_eq!(left.end, End::Exited(0), "{attack}: {}", left.said);
    }
    assert!(tcp.accept().is_err() && abstracted.accept().is_err());
    // With the network it was allowed.
    world.keeper = Keeper::start_new(Level::Full, true).unwrap();
    assert_eq!(world.run("connects").end, End::Exited(1));
    assert!(tcp.accept().is_ok());
}

#[test]
fn a_path_that_is_allowed_is_really_written() {
    let mut world = World::new(Level::Full, "allowed");
    world.permissions.writes.push(world.outside.clone());
    assert_eq!(world.run("creates").end, End::Exited(0));
    assert_eq!(fs::read_to_string(world.outside.join("new")).unwrap(), "hostile");
}

#[test]
fn resources_are_limited() {
    let mut world = World::new(Level::Full, "resources");
    assert_eq!(world.run("memory_hog").end, End::Exited(0));
    let left = world.run("dumps_core");
    assert_eq!(left.end, End::Signalled(6));
    assert_eq!(fs::read_dir(left.folder.path()).unwrap().count(), 0);
}

/// Where there are no namespaces of users.
#[test]
fn without_namespaces_nothing_outside_is_written_either() {
    let landlock = Keeper::start_new(Level::Landlock, false).unwrap();
    if landlock.level() < Level::Landlock {
        return;
    }
    let mut world = World::new(Level::Landlock, "landlock");
    let before = world.outside();
    for attack in [
        "unlinks",
        "renames",
        "chmods",
        "truncates",
        "appends",
        "creates",
        "links",
        "times",
        "writes_home",
        "maps_file",
        "double_fork",
        "connects",
        "connects_unix",
        "connects_abstract",
        "mounts",
        "makes_namespaces",
        "traces",
        "kernel_calls",
    ] {
        let left = world.run(attack);
        assert_eq!(left.end, End::Exited(0), "{attack}: {}", left.said);
        assert_eq!(world.outside(), before, "{attack}");
    }
    for attack in ["double_fork", "daemonizes", "threads_of_forks"] {
        let mut world = World::new(Level::Limits, "limits");
        assert_eq!(world.run(attack).end, End::Exited(0));
    }
}
