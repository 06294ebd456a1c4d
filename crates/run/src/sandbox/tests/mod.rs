//! Programs that try to get out: tests/programs/hostile.c. Afterwards nothing outside has
//! changed, and nothing of them is left.

mod hostile;
mod lifetime;

use std::fs;
use std::io::{Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use base::{Cancel, Scratch};

use super::keeper::Keeper;
use super::{Bounds, End, Launch, Level, Permissions, Streams, run_in};

/// The variable that marks what a test started.
const MARK: &str = "FIRSTFAULT_HOSTILE";

/// A program, and what is outside of its sandbox.
struct World {
    _scratch: Scratch,
    program: PathBuf,
    /// Files that are to stay as they are.
    outside: PathBuf,
    mark: String,
    keeper: Keeper,
    permissions: Permissions,
    time: Duration,
    port: u16,
    _sockets: Vec<UnixListener>,
}

/// What a run left.
#[derive(Debug)]
struct Left {
    end: End,
    said: String,
    folder: Scratch,
}

impl World {
    fn new(level: Level, name: &str) -> Self {
        let scratch = Scratch::new().unwrap();
        let outside = scratch.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::create_dir(outside.join("folder")).unwrap();
        fs::write(outside.join("file"), "outside").unwrap();
        let sockets = vec![UnixListener::bind(outside.join("socket")).unwrap()];
        let program = scratch.path().join("hostile");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/hostile.c");
        let mut clang = Command::new(llvm::CLANG);
        clang.args(["-w", "-O0", "-o"]).arg(&program).arg(source);
        assert!(clang.status().unwrap().success());
        let keeper = Keeper::start_new(level, false).unwrap();
        assert_eq!(keeper.level(), level, "{}", keeper.why());
        let mark = format!("{name}-{}", std::process::id());
        let permissions = Permissions::default();
        let time = Duration::from_secs(20);
        Self {
            _scratch: scratch,
            program,
            outside,
            mark,
            keeper,
            permissions,
            time,
            port: 1,
            _sockets: sockets,
        }
    }

    /// Runs one of the attacks; then nothing of it is there any more.
    fn run(&mut self, attack: &str) -> Left {
        let left = self.start(attack, &Cancel::new());
        assert_eq!(marked(&self.mark), [0; 0], "{attack} left processes behind");
        left
    }

    fn start(&mut self, attack: &str, cancel: &Cancel) -> Left {
        let folder = Scratch::in_memory().unwrap();
        let port = self.port.to_string();
        let arguments = [attack.into(), self.outside.clone().into(), port.into()];
        let environment = [
            (MARK.into(), self.mark.clone().into()),
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("HOME".into(), std::env::var_os("HOME").unwrap_or("/".into())),
        ];
        let launch = Launch {
            program: &self.program,
            arguments: arguments.into(),
            environment: environment.into(),
            folder: folder.path(),
            reads: vec![&self.program],
            writes: Vec::new(),
            permissions: &self.permissions,
            may_trace: false,
            is_confined: true,
        };
        let mut streams = Streams::new(b"").unwrap();
        let bounds = Bounds { time: self.time, file_size: 4 << 20, address_space: Some(1 << 30) };
        let ended = run_in(&mut self.keeper, &launch, &streams, &bounds, cancel);
        let (end, _) = ended.unwrap().unwrap();
        let mut said = String::new();
        streams.stdout.rewind().unwrap();
        streams.stdout.read_to_string(&mut said).unwrap();
        Left { end, said, folder }
    }

    /// All that is to be said of the files outside.
    fn outside(&self) -> String {
        let mut all = String::new();
        let mut folders = vec![self.outside.clone()];
        while let Some(folder) = folders.pop() {
            let mut paths: Vec<PathBuf> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            for path in paths {
                let m = fs::symlink_metadata(&path).unwrap();
                let what = (m.mode(), m.uid(), m.nlink(), m.size(), m.mtime(), m.mtime_nsec());
                let text = fs::read(&path).unwrap_or_default();
                all += &format!("{path:?} {what:?} {text:?}\n");
                folders.extend(m.is_dir().then_some(path));
            }
        }
        all
    }
}

/// Living processes with the mark.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}\0");
    let has = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(wanted.len()).any(|window| window == wanted.as_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(has).collect()
}
