//! Programs that are loaded once and run many times.
//!
//! Loading clang takes longer than compiling a small unit. A [`Tool`] starts its program with
//! a preloaded object that holds it in front of `main`; a run is then a fork of that process,
//! with arguments, environment, directory and standard streams of its own. Limits and
//! guarantees are those of [`run`](super::run): a run that crashes or hangs costs itself only,
//! and everything ends with us, because a server ends its run when our end of the socket
//! closes. Where a program cannot be held (a script, a static binary), each run is a start.
//!
//! The messages, all numbers in the machine's own order. Server: the four bytes of
//! [`GREETING`]. We: sizes of the body, the arguments and the environment as `u32`, with three
//! descriptors; then the body: directory, arguments and `NAME=value` strings, each ended by a
//! zero byte. Server, when the run has ended: wait status as `i32`, 4 bytes, microseconds of
//! processor time and KiB of memory as `u64`. Half a hang-up from us ends the run early.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSlice, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use rustix::fs::MemfdFlags;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, kill_process_group};

use super::pump::{Pipes, Watched, pump};
use super::{Finished, Limits, MAX_COMPILER_MEMORY, guard, limit_memory};
use crate::Cancel;

const GREETING: &[u8] = b"FFS1";
/// Tells the preloaded object which program it is meant for: device and inode.
const VARIABLE: &str = "FIRSTFAULT_SERVE";
/// How a program starts that is neither a script nor for another system.
const ELF: [u8; 4] = *b"\x7fELF";
/// Larger requests are not served.
const MAX_BODY: u32 = 64 << 20;
/// A program that has not greeted by then is taken for one that cannot be held.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// A program that is run often.
#[derive(Debug)]
pub struct Tool {
    program: PathBuf,
    /// `None` once it has turned out that the program cannot be held.
    servers: Mutex<Option<Servers>>,
}

impl Tool {
    /// Started anew for each run.
    pub fn plain(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), servers: Mutex::new(None) }
    }

    /// Loaded once, as far as possible. `preload` is the shared object that holds it.
    pub fn held(program: impl Into<PathBuf>, preload: &'static [u8]) -> Self {
        let servers = Servers { preload, file: None, idle: Vec::new() };
        Self { program: program.into(), servers: Mutex::new(Some(servers)) }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs the program as `command` says, which must not clear its environment; as
    /// [`run`](super::run) in all else.
    pub fn run(
        &self,
        command: &Command,
        input: &[u8],
        limits: &Limits,
        cancel: &Cancel,
    ) -> io::Result<Finished> {
        // What cannot be asked for, a plain start explains.
        if let Ok(request) = Request::new(&self.program, command)
            && let Some(mut server) = self.server()
        {
            match server.run(&request, input, limits, cancel) {
                Ok(finished) => {
                    self.keep(server);
                    return Ok(finished);
                }
                Err(_) => self.give_up(),
            }
        }
        let limits = Limits { memory: Some(MAX_COMPILER_MEMORY), ..*limits };
        super::run(self.guarded(command)?, input, &limits, cancel)
    }

    /// A server nobody uses, or a new one.
    fn server(&self) -> Option<Server> {
        let preload = {
            let mut servers = self.servers.lock().ok()?;
            let servers = servers.as_mut()?;
            if let Some(server) = servers.idle.pop() {
                return Some(server);
            }
            servers.preload_path()
        };
        let server = preload.and_then(|preload| Server::start(&self.program, &preload));
        if server.is_err() {
            self.give_up();
        }
        server.ok()
    }

    /// For the next run, unless its last run had to be stopped, which ended it too.
    fn keep(&self, server: Server) {
        if !server.is_over
            && let Ok(mut servers) = self.servers.lock()
            && let Some(servers) = servers.as_mut()
        {
            servers.idle.push(server);
        }
    }

    fn give_up(&self) {
        let servers = self.servers.lock().ok().and_then(|mut servers| servers.take());
        // They are waited for: not while others wait for the lock.
        drop(servers);
    }

    fn guarded(&self, command: &Command) -> io::Result<Command> {
        let mut guarded = super::command(&self.program)?;
        guarded.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => guarded.env(name, value),
                None => guarded.env_remove(name),
            };
        }
        if let Some(directory) = command.get_current_dir() {
            guarded.current_dir(directory);
        }
        Ok(guarded)
    }
}

#[derive(Debug)]
struct Servers {
    preload: &'static [u8],
    /// The preloaded object as a file in memory.
    file: Option<File>,
    idle: Vec<Server>,
}

impl Servers {
    /// A path that names the preloaded object for our children, too.
    fn preload_path(&mut self) -> io::Result<OsString> {
        if self.file.is_none() {
            let mut file =
                File::from(rustix::fs::memfd_create("firstfault-serve", MemfdFlags::CLOEXEC)?);
            file.write_all(self.preload)?;
            self.file = Some(file);
        }
        let file = self.file.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        Ok(format!("/proc/{}/fd/{file}", std::process::id()).into())
    }
}

/// The program, held in front of `main`.
#[derive(Debug)]
struct Server {
    socket: UnixStream,
    process: Child,
    /// It was told to end.
    is_over: bool,
}

impl Server {
    fn start(program: &Path, preload: &OsStr) -> io::Result<Self> {
        let mut file = File::open(program)?;
        let mut magic = [0; ELF.len()];
        file.read_exact(&mut magic)?;
        if magic != ELF {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let meant = file.metadata()?;
        let (ours, theirs) = UnixStream::pair()?;
        let mut preload = preload.to_owned();
        if let Some(list) = std::env::var_os("LD_PRELOAD").filter(|list| !list.is_empty()) {
            preload.push(":");
            preload.push(list);
        }
        // A program that is not held prints its version and ends.
        let process = Command::new(program)
            .arg("--version")
            .env(VARIABLE, format!("{}:{}", meant.dev(), meant.ino()))
            .env("LD_PRELOAD", preload)
            // What is bound once here need not be bound in every child.
            .env("LD_BIND_NOW", "1")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        limit_memory(Pid::from_child(&process), Some(MAX_COMPILER_MEMORY));
        let mut server = Self { socket: ours, process, is_over: false };
        server.greet().inspect_err(|_| server.kill())?;
        Ok(server)
    }

    fn greet(&mut self) -> io::Result<()> {
        let mut greeting = [0; GREETING.len()];
        self.socket.set_read_timeout(Some(GREETING_TIME))?;
        self.socket.read_exact(&mut greeting)?;
        self.socket.set_read_timeout(None)?;
        if greeting == GREETING { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    fn kill(&self) {
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
    }

    fn run(
        &mut self,
        request: &Request,
        input: &[u8],
        limits: &Limits,
        cancel: &Cancel,
    ) -> io::Result<Finished> {
        let pipes = self.send(request, !input.is_empty())?;
        let server = Pid::from_child(&self.process);
        let processor_time = || guard::time_of_descendants(server);
        let watched = Watched { ended: self.socket.as_fd(), processor_time: &processor_time };
        let pumped = pump(pipes, &watched, input, limits, cancel)?;
        if pumped.stopped.is_some() {
            self.is_over = true;
            self.socket.shutdown(Shutdown::Write)?;
        }
        let reply = Reply::read(&mut self.socket)?;
        Ok(pumped.finished(reply.status, reply.cpu, reply.peak_memory))
    }

    /// Asks for a run, and gives our ends of its streams.
    fn send(&mut self, request: &Request, has_input: bool) -> io::Result<Pipes> {
        let (their_stdin, stdin): (OwnedFd, Option<PipeWriter>) = if has_input {
            let (reader, writer) = io::pipe()?;
            (reader.into(), Some(writer))
        } else {
            (File::open("/dev/null")?.into(), None)
        };
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        let descriptors = [their_stdin.as_fd(), their_stdout.as_fd(), their_stderr.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let header = [IoSlice::new(&request.sizes)];
        let n_sent = sendmsg(&self.socket, &header, &mut control, SendFlags::NOSIGNAL)?;
        if n_sent != request.sizes.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.socket.write_all(&request.body)?;
        Ok(Pipes { stdin, stdout: Some(stdout), stderr: Some(stderr) })
    }
}

impl Drop for Server {
    /// Hangs up and waits, so that the time of all runs is charged to us.
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.process.wait();
    }
}

/// How a run ended.
struct Reply {
    status: ExitStatus,
    cpu: Duration,
    peak_memory: u64,
}

impl Reply {
    fn read(socket: &mut UnixStream) -> io::Result<Self> {
        let (mut status, mut unused, mut cpu, mut peak) = ([0; 4], [0; 4], [0; 8], [0; 8]);
        for part in [&mut status[..], &mut unused, &mut cpu, &mut peak] {
            socket.read_exact(part)?;
        }
        Ok(Self {
            status: ExitStatus::from_raw(i32::from_ne_bytes(status)),
            cpu: Duration::from_micros(u64::from_ne_bytes(cpu)),
            peak_memory: u64::from_ne_bytes(peak).saturating_mul(1024),
        })
    }
}

/// What to run, as it goes through the socket.
struct Request {
    sizes: [u8; 12],
    body: Vec<u8>,
}

impl Request {
    fn new(program: &Path, command: &Command) -> io::Result<Self> {
        let directory = match command.get_current_dir() {
            Some(directory) => std::fs::canonicalize(directory)?,
            None => std::env::current_dir()?,
        };
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => variables.insert(name.to_owned(), value.to_owned()),
                None => variables.remove(name),
            };
        }
        let mut body = Vec::new();
        let mut push = |parts: &[&OsStr]| {
            parts.iter().for_each(|part| body.extend_from_slice(part.as_bytes()));
            body.push(0);
        };
        push(&[directory.as_os_str()]);
        push(&[program.as_os_str()]);
        command.get_args().for_each(|argument| push(&[argument]));
        variables.iter().for_each(|(name, value)| push(&[name, OsStr::new("="), value]));
        let n_arguments = 1 + command.get_args().len();
        let n_strings = 1 + n_arguments + variables.len();
        let n_ends = body.iter().filter(|byte| **byte == 0).count();
        let counts = [body.len(), n_arguments, variables.len()].map(u32::try_from);
        let [Ok(size), Ok(n_arguments), Ok(n_variables)] = counts else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if n_ends != n_strings || size > MAX_BODY {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut sizes = [0; 12];
        for (field, size) in sizes.chunks_exact_mut(4).zip([size, n_arguments, n_variables]) {
            field.copy_from_slice(&size.to_ne_bytes());
        }
        Ok(Self { sizes, body })
    }
}
