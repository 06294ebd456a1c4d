//! The process that starts runs for us: `c/`, embedded.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::message::{Greeting, Reply, Request, STOP, start};
use super::places::places_of_all;
use super::{Level, Streams};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/keeper"));
/// Setting up namespaces takes milliseconds, and so does ending a run; a machine may be very busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// It ends, with its run, when our end of the socket closes.
#[derive(Debug)]
pub(super) struct Keeper {
    socket: UnixStream,
    process: Child,
    level: Level,
    why: String,
}

impl Keeper {
    /// One of the highest level there is up to `wanted`.
    pub fn start_new(wanted: Level, network: bool) -> io::Result<Self> {
        let keeper = Self::start_one(wanted, network)?;
        if keeper.level == wanted {
            return Ok(keeper);
        }
        // It may have got half of what it asked for.
        let mut lower = Self::start_new(keeper.level, network)?;
        lower.why = keeper.why.clone();
        Ok(lower)
    }

    fn start_one(wanted: Level, network: bool) -> io::Result<Self> {
        let mut program = memory_file()?;
        program.write_all(PROGRAM)?;
        let (ours, theirs) = UnixStream::pair()?;
        let process = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()))
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let why = String::new();
        let mut keeper = Self { socket: ours, process, level: Level::Limits, why };
        let places = if wanted == Level::Full { places_of_all() } else { Vec::new() };
        keeper.socket.write_all(&start(wanted, network, &places)?)?;
        let mut bytes = [0; Greeting::SIZE];
        keeper.socket.set_read_timeout(Some(PATIENCE))?;
        keeper.socket.read_exact(&mut bytes)?;
        let greeting = Greeting::read(&bytes)?;
        (keeper.level, keeper.why) = (greeting.level, greeting.why);
        Ok(keeper)
    }

    /// Whether it still waits for a run.
    pub fn is_idle(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&now)) == Ok(0)
    }

    pub fn level(&self) -> Level {
        self.level
    }

    /// Why its level is not the one that was asked for.
    pub fn why(&self) -> &str {
        &self.why
    }

    pub fn start(&mut self, request: &Request, streams: &Streams) -> io::Result<()> {
        let descriptors = [streams.stdin.as_fd(), streams.stdout.as_fd(), streams.stderr.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let header = [IoSlice::new(&request.header)];
        let n_sent = sendmsg(&self.socket, &header, &mut control, SendFlags::NOSIGNAL)?;
        if n_sent != request.header.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.socket.write_all(&request.body)
    }

    /// Waits for the run's end, but not long, and not beyond the deadline.
    pub fn has_answer(&self, deadline: Instant) -> io::Result<bool> {
        let left = deadline.saturating_duration_since(Instant::now());
        let nanoseconds = left.min(Duration::from_millis(50)).as_nanos() as i64;
        let timeout = Timespec { tv_sec: 0, tv_nsec: nanoseconds };
        match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&timeout)) {
            Ok(n) => Ok(n > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the run; its answer still comes.
    pub fn stop(&mut self) -> io::Result<()> {
        self.socket.write_all(STOP)
    }

    pub fn answer(&mut self) -> io::Result<Reply> {
        let mut bytes = [0; Reply::SIZE];
        self.socket.read_exact(&mut bytes).map_err(|error| {
            io::Error::new(error.kind(), format!("the sandbox ended during a run: {error}"))
        })?;
        Ok(Reply::read(&bytes))
    }
}

impl Drop for Keeper {
    /// Hangs up, which ends what runs, and waits for the end.
    fn drop(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let _ = self.process.wait();
    }
}

/// A file in memory that may be executed, also where that has to be asked for.
fn memory_file() -> io::Result<File> {
    const EXECUTABLE: MemfdFlags = MemfdFlags::from_bits_retain(0x10);
    let name = "firstfault-keeper";
    let file = memfd_create(name, MemfdFlags::CLOEXEC | EXECUTABLE)
        .or_else(|_| memfd_create(name, MemfdFlags::CLOEXEC))?;
    Ok(File::from(file))
}
