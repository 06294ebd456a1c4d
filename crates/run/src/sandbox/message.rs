//! What we and the keeper say to each other: the structures of c/keeper.h, as bytes.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use super::places::{Place, places_of_run};
use super::{Bounds, End, Launch, Level};

/// How a request starts; a word to end a run does not.
const MAGIC: &[u8] = b"FFR1";
/// Ends a run; where that has just ended by itself, it means nothing.
pub(super) const STOP: &[u8] = b"k";
const NETWORK: u32 = 1;
const PTRACE: u32 = 2;
/// Processes and threads a run may have at a time.
const N_PROCESSES: u32 = 512;
/// Bytes a run may write outside its folder, all files together.
const KEPT: u64 = 256 << 20;
const MAX_BODY: usize = 64 << 20;
const SAID: usize = 120;

impl Level {
    pub(super) fn number(self) -> u32 {
        match self {
            Level::Limits => 0,
            Level::Landlock => 1,
            Level::Full => 2,
        }
    }

    fn of(number: u32) -> Self {
        match number {
            2 => Level::Full,
            1 => Level::Landlock,
            _ => Level::Limits,
        }
    }
}

/// `struct start`, with its places.
pub(super) fn start(level: Level, network: bool, places: &[Place]) -> io::Result<Vec<u8>> {
    let mut body = Body::default();
    body.places(places);
    let n_places = places.len() as u32;
    let flags = if network { NETWORK } else { 0 };
    let body = body.finish(places.iter().map(Place::n_strings).sum())?;
    let words = [level.number(), flags, n_places, body.len() as u32];
    Ok(words.into_iter().flat_map(u32::to_ne_bytes).chain(body).collect())
}

/// `struct greeting`.
pub(super) struct Greeting {
    pub level: Level,
    /// Why it is not the one that was asked for.
    pub why: String,
}

impl Greeting {
    pub const SIZE: usize = 8 + SAID;

    pub fn read(bytes: &[u8; Self::SIZE]) -> io::Result<Self> {
        if !bytes.starts_with(b"FFK1") {
            return Err(io::Error::other("the sandbox does not start"));
        }
        Ok(Self { level: Level::of(word(&bytes[4..])), why: said(&bytes[8..]) })
    }
}

/// `struct request`, with what follows it.
pub(super) struct Request {
    pub header: Vec<u8>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn new(launch: &Launch<'_>, bounds: &Bounds, level: Level) -> io::Result<Self> {
        let places = places_of_run(launch, level);
        let mut body = Body::default();
        body.places(&places);
        body.push(&[launch.folder.as_os_str()]);
        body.push(&[launch.program.as_os_str()]);
        body.push(&[launch.program.as_os_str()]);
        launch.arguments.iter().for_each(|argument| body.push(&[argument]));
        for (name, value) in &launch.environment {
            body.push(&[name, OsStr::new("="), value]);
        }
        let n_arguments = launch.arguments.len() + 1;
        let n_places: usize = places.iter().map(Place::n_strings).sum();
        let n_strings = n_places + 2 + n_arguments + launch.environment.len();
        let body = body.finish(n_strings)?;
        let sizes = [body.len(), places.len(), n_arguments, launch.environment.len()];
        let flags = if launch.may_trace { PTRACE } else { 0 };
        let long = [bounds.file_size, bounds.address_space.unwrap_or(0), KEPT, flags.into()];
        let mut header = MAGIC.to_vec();
        header.extend(sizes.into_iter().flat_map(|size| (size as u32).to_ne_bytes()));
        header.extend(N_PROCESSES.to_ne_bytes());
        header.extend(long.into_iter().flat_map(u64::to_ne_bytes));
        Ok(Self { header, body })
    }
}

/// `struct reply`.
pub(super) struct Reply {
    pub end: End,
    /// What could not be set up.
    pub problem: Option<io::Error>,
    pub cpu: Duration,
}

impl Reply {
    pub const SIZE: usize = 24 + SAID;

    pub fn read(bytes: &[u8; Self::SIZE]) -> Self {
        let number = word(&bytes[4..]) as i32;
        let problem = (number != 0).then(|| {
            let error = io::Error::from_raw_os_error(number);
            let what = format!("cannot run the program: {}: {error}", said(&bytes[24..]));
            io::Error::new(error.kind(), what)
        });
        let status = ExitStatus::from_raw(word(bytes) as i32);
        let end = match status.signal() {
            Some(signal) => End::Signalled(signal),
            None => End::Exited(status.code().unwrap_or(0) as u8),
        };
        let mut microseconds = [0; 8];
        microseconds.copy_from_slice(&bytes[8..16]);
        Self { end, problem, cpu: Duration::from_micros(u64::from_ne_bytes(microseconds)) }
    }
}

/// Strings, each ended by a zero byte.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn push(&mut self, parts: &[&OsStr]) {
        parts.iter().for_each(|part| self.0.extend_from_slice(part.as_bytes()));
        self.0.push(0);
    }

    fn places(&mut self, places: &[Place]) {
        for place in places {
            self.push(&[OsStr::new(place.letter()), place.path().as_os_str()]);
            if let Place::Link(_, says) = place {
                self.push(&[says.as_os_str()]);
            }
        }
    }

    /// A zero byte inside a string would shift all that follow.
    fn finish(self, n_strings: usize) -> io::Result<Vec<u8>> {
        let n_ends = self.0.iter().filter(|byte| **byte == 0).count();
        if n_ends != n_strings || self.0.len() > MAX_BODY {
            let what = "an argument or a variable has a zero byte, or they are too long";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(self.0)
    }
}

fn word(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[..4]);
    u32::from_ne_bytes(word)
}

fn said(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
