//! The process: how it ends, its environment, and what the system tells it.

use program::Ty;

use super::{Given, Known, int, pointer};
use crate::Stop;
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, mask};
use crate::world::errno;

/// Bytes of a path with its zero, as systems have it.
const LONGEST_PATH: u64 = 4096;
/// The number of the process that `fork` makes.
const CHILD: i32 = 4242;

/// Functions that only say whether they succeeded; it depends on what is outside. The strings
/// they take are their first arguments.
const ATTEMPTS: [(&str, usize); 18] = [
    ("chown", 1),
    ("lchown", 1),
    ("fchown", 0),
    ("fchmod", 0),
    ("utime", 1),
    ("utimes", 1),
    ("utimensat", 0),
    ("futimens", 0),
    ("kill", 0),
    ("setuid", 0),
    ("setgid", 0),
    ("seteuid", 0),
    ("setegid", 0),
    ("setgroups", 0),
    ("setreuid", 0),
    ("setregid", 0),
    ("chroot", 1),
    ("mount", 0),
];

/// Numbers from outside, and the largest.
const NUMBERS: [(&str, u32); 10] = [
    ("getpid", 1 << 22),
    ("getppid", 1 << 22),
    ("getuid", i32::MAX as u32),
    ("geteuid", i32::MAX as u32),
    ("getgid", i32::MAX as u32),
    ("getegid", i32::MAX as u32),
    ("umask", 0o777),
    ("alarm", 1 << 16),
    ("getpagesize", 0),
    ("pthread_self", 0),
];

impl Machine<'_> {
    pub(crate) fn call_process(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "exit" => {
                let status = given.bits(0)?.bits as i32;
                self.run_exit_handlers()?;
                Err(Stop::Exit(status))
            }
            "_exit" | "_Exit" | "quick_exit" => Err(Stop::Exit(given.bits(0)?.bits as i32)),
            "abort" | "__assert_fail" => Err(Stop::Abort),
            "atexit" => {
                let handler = self.place(given, 0)?;
                self.exit_handlers.push(handler);
                int(0)
            }
            "longjmp" | "_longjmp" | "siglongjmp" => {
                let value = (given.bits(1)?.bits as u32).max(1);
                Err(Stop::LongJump(given.bits(0)?.bits as u64, value))
            }
            "getenv" | "secure_getenv" => {
                let name = self.name_at(given, 0)?;
                // No variable has such a name.
                let is_possible = !name.is_empty() && !name.contains(&b'=');
                let address = if is_possible { self.environment(&name)? } else { 0 };
                pointer(address)
            }
            "getcwd" => self.working_directory(given),
            "readlink" | "__readlink_chk" => self.read_link(given),
            "fork" | "vfork" => {
                // A run follows one of the two processes.
                int(match self.shortfall(Failure::Fork) {
                    0 => CHILD,
                    1 => -1,
                    _ => 0,
                })
            }
            "wait" | "waitpid" | "wait3" | "wait4" => {
                let at = self.place(given, usize::from(name == "waitpid" || name == "wait4"))?;
                if self.fails(Failure::Resource) {
                    self.set_errno(errno::ECHILD)?;
                    return int(-1);
                }
                if at != 0 {
                    let status = self.outside_below(0xffff)?;
                    self.memory.store(at, 4, status)?;
                }
                int(CHILD)
            }
            "execv" | "execve" | "execvp" | "execvpe" | "execl" | "execlp" | "execle"
            | "fexecve" => {
                if name != "fexecve" {
                    self.check_text(given, 0)?;
                }
                // The program ends here unless there is no such command.
                match self.fails(Failure::Attempt) {
                    true => {
                        self.set_errno(errno::ENOENT)?;
                        int(-1)
                    }
                    false => Err(Stop::Exit(0)),
                }
            }
            "setenv" | "unsetenv" => self.set_environment(name, given),
            "__errno_location" => {
                let address = self.library_object("errno", 4)?;
                pointer(address)
            }
            "strerror_r" | "__xpg_strerror_r" => {
                let (number, to, size) =
                    (given.bits(0)?, self.place(given, 1)?, self.place(given, 2)?);
                let text = error_text(self.pinned(number) as i32);
                let kept = text.len().min((size as usize).saturating_sub(1));
                if size > 0 {
                    self.put_text(to, &text[..kept])?;
                }
                if name == "strerror_r" { pointer(to) } else { int(0) }
            }
            "strerror" => {
                let number = given.bits(0)?;
                let text = error_text(self.pinned(number) as i32);
                let address = self.new_text(&text)?;
                pointer(address)
            }
            "perror" => {
                if self.place(given, 0)? != 0 {
                    self.check_text(given, 0)?;
                }
                Ok(Some(None))
            }
            "setlocale" => {
                let address = self.new_text("C")?;
                pointer(address)
            }
            "signal" | "bsd_signal" | "sysv_signal" | "__sysv_signal" | "sigset" => pointer(0),
            "sleep" | "usleep" | "sched_yield" | "sigprocmask" | "sigsuspend" | "siginterrupt"
            | "pause" | "setitimer" | "sigaltstack" | "setpgid" | "setrlimit" | "setpriority"
            | "nice" | "mlock" | "munlock" | "mlockall" | "munlockall" | "madvise" | "msync" => {
                int(0)
            }
            "nanosleep" | "clock_nanosleep" => int(0),
            "sigaction" => {
                // The handler from before is the default one.
                let old = self.place(given, 2)?;
                if old != 0 {
                    self.memory.fill(old, 152, Bits::known(0))?;
                }
                int(0)
            }
            "sigismember" | "sigpending" => int(0),
            "raise" => {
                let number = given.bits(0)?;
                match self.pinned(number) {
                    6 => Err(Stop::Abort),
                    0 | 17 | 18 | 23 | 28 => int(0),
                    number => Err(Stop::Exit(128 + number as i32)),
                }
            }
            "clearenv" => {
                self.inputs.environment.values_mut().for_each(|address| *address = 0);
                int(0)
            }
            "putenv" => self.put_environment(given),
            "getpgrp" | "getpgid" | "getsid" | "setsid" | "tcgetpgrp" => int(CHILD - 1),
            "daemon" | "tcsetpgrp" => int(0),
            "sysconf" | "pathconf" | "fpathconf" => self.system_limit(given),
            "getdtablesize" => int(1024),
            "getrlimit" | "getrlimit64" | "getrusage" | "times" | "sysinfo" | "uname"
            | "gethostname" | "getdomainname" | "getloadavg" => self.system_told(name, given),
            "gnu_get_libc_version" => {
                let address = self.new_text("2.36")?;
                pointer(address)
            }
            "openlog" | "closelog" | "tzset" | "setprogname" | "endpwent" | "endgrent"
            | "setpwent" | "setgrent" => Ok(Some(None)),
            "syslog" | "vsyslog" | "__syslog_chk" => {
                self.check_text(given, if name == "__syslog_chk" { 2 } else { 1 })?;
                Ok(Some(None))
            }
            "err" | "errx" | "verr" | "verrx" | "error" | "error_at_line" => {
                let status = given.bits(0)?;
                let status = self.pinned(status) as i32;
                if name.starts_with("error") {
                    let format = if name == "error" { 2 } else { 4 };
                    self.complaint(name, given, format)?;
                    if status == 0 {
                        return Ok(Some(None));
                    }
                } else if self.place(given, 1)? != 0 {
                    self.complaint(name, given, 1)?;
                }
                self.run_exit_handlers()?;
                Err(Stop::Exit(status))
            }
            "warn" | "warnx" | "vwarn" | "vwarnx" => {
                if self.place(given, 0)? != 0 {
                    self.complaint(name, given, 0)?;
                }
                Ok(Some(None))
            }
            "psignal" => Ok(Some(None)),
            "strsignal" => {
                let address = self.new_text("signal")?;
                pointer(address)
            }
            "on_exit" | "pthread_atfork" => int(0),
            "sigemptyset" | "sigfillset" | "sigaddset" | "sigdelset" => {
                let set = self.place(given, 0)?;
                self.memory.fill(set, 128, Bits::known(0))?;
                int(0)
            }
            "system" => {
                if self.place(given, 0)? != 0 {
                    self.check_text(given, 0)?;
                }
                Ok(Some(self.outside(Ty::Int(32))?))
            }
            _ => self.call_outside(name, given),
        }
    }

    fn call_outside(&mut self, name: &str, given: &Given) -> Known {
        if let Some((_, n_texts)) = ATTEMPTS.iter().find(|(attempt, _)| *attempt == name) {
            for index in 0..*n_texts {
                self.check_text(given, index)?;
            }
            return int(if self.fails(Failure::Attempt) { -1 } else { 0 });
        }
        let Some((_, limit)) = NUMBERS.iter().find(|(number, _)| *number == name) else {
            return Ok(None);
        };
        Ok(Some(Some(self.outside_below(*limit)?.into())))
    }

    /// The last registered first. Each runs once, even where one of them ends the program.
    pub(crate) fn run_exit_handlers(&mut self) -> Result<(), Stop> {
        while let Some(handler) = self.exit_handlers.pop() {
            self.call_back(handler, Vec::new())?;
        }
        Ok(())
    }

    /// A message on standard error: what it says is formatted and lost.
    fn complaint(&mut self, name: &str, given: &Given, at: usize) -> Result<(), Stop> {
        self.formatted(name, given, at, false)?;
        Ok(())
    }

    /// `name=value`; the string becomes part of the environment.
    fn put_environment(&mut self, given: &Given) -> Known {
        let at = self.place(given, 0)?;
        let text = self.text_at(at, None)?;
        let text: Vec<u8> = text.into_iter().map(|byte| self.pinned(byte) as u8).collect();
        match text.iter().position(|byte| *byte == b'=') {
            Some(0) => return int(-1),
            Some(end) => {
                let (name, value) = (text[..end].to_vec(), at + end as u64 + 1);
                self.inputs.environment.insert(name, value);
            }
            None => drop(self.inputs.environment.insert(text, 0)),
        }
        int(0)
    }

    /// Numbers that systems have.
    fn system_limit(&mut self, given: &Given) -> Known {
        let which = given.bits(if given.len() > 1 { 1 } else { 0 })?;
        pointer(match self.pinned(which) {
            0 => 2_097_152,
            2 => 100,
            4 => 1024,
            30 => 4096,
            83 | 84 => 1,
            85 | 86 => 1 << 20,
            _ => 256,
        })
    }

    /// Records that the system fills: what they say is nothing special.
    fn system_told(&mut self, name: &str, given: &Given) -> Known {
        let is_second = matches!(name, "getrlimit" | "getrlimit64" | "getrusage");
        let to = self.place(given, usize::from(is_second))?;
        match name {
            "getrlimit" | "getrlimit64" => {
                self.memory.store(to, 8, Bits::known(1 << 20))?;
                self.memory.store(to.wrapping_add(8), 8, Bits::known(1 << 20))?;
            }
            "getrusage" => self.memory.fill(to, 144, Bits::known(0))?,
            "times" => {
                if to != 0 {
                    self.memory.fill(to, 32, Bits::known(0))?;
                }
                return Ok(Some(self.outside(Ty::Int(64))?));
            }
            "sysinfo" => self.memory.fill(to, 112, Bits::known(0))?,
            "getloadavg" => {
                let count = given.bits(1)?;
                let count = self.pinned(count).min(3) as u64;
                self.memory.fill(to, 8 * count, Bits::known(0))?;
                return int(count as i32);
            }
            "uname" => {
                self.memory.fill(to, 390, Bits::known(0))?;
                for (at, text) in (to..).step_by(65).zip(["Linux", "host", "6.1", "1", "x86_64"]) {
                    self.put_text(at, text)?;
                }
            }
            _ => {
                let size = self.place(given, 1)?;
                if size < 5 {
                    self.set_errno(super::EINVAL)?;
                    return int(-1);
                }
                self.put_text(to, "host")?;
            }
        }
        int(0)
    }

    pub(crate) fn put_text(&mut self, to: u64, text: &str) -> Result<(), Stop> {
        for (at, byte) in (to..).zip(text.bytes().chain([0])) {
            self.memory.store(at, 1, Bits::known(byte.into()))?;
        }
        Ok(())
    }

    fn name_at(&mut self, given: &Given, index: usize) -> Result<Vec<u8>, Stop> {
        let name = self.place(given, index)?;
        let name = self.text_at(name, None)?;
        Ok(name.into_iter().map(|byte| self.pinned(byte) as u8).collect())
    }

    fn set_environment(&mut self, name: &str, given: &Given) -> Known {
        let variable = self.name_at(given, 0)?;
        if variable.is_empty() || variable.contains(&b'=') {
            return int(-1);
        }
        let mut address = 0;
        if name == "setenv" {
            let (value, overwrites) = (self.place(given, 1)?, given.bits(2)?);
            let text = self.text_at(value, None)?;
            if self.pinned(overwrites) == 0 && self.environment(&variable)? != 0 {
                return int(0);
            }
            address = self.memory.allocate(text.len() as u64 + 1, false)?;
            for (at, byte) in (address..).zip(text.iter().chain([&Bits::known(0)])) {
                self.memory.store(at, 1, *byte)?;
            }
        }
        self.inputs.environment.insert(variable, address);
        int(0)
    }

    /// Text that is shorter than its room, or null: it does not fit, or cannot be told.
    fn working_directory(&mut self, given: &Given) -> Known {
        let (to, size) = (self.place(given, 0)?, self.place(given, 1)?);
        let room = if to == 0 && size == 0 { LONGEST_PATH } else { size };
        if room < 2 || self.fails(Failure::Lookup) {
            return pointer(0);
        }
        let length = self.path_length(room - 1)?;
        let to = match to {
            0 => self.memory.allocate(size.max(length + 1), true)?,
            given => given,
        };
        self.memory.fence = given.member(0);
        self.write_path(to, length)?;
        self.memory.store(to.wrapping_add(length), 1, Bits::known(0))?;
        pointer(to)
    }

    /// At most so many bytes, without a zero behind them, or -1.
    fn read_link(&mut self, given: &Given) -> Known {
        self.check_text(given, 0)?;
        let (to, size) = (self.place(given, 1)?, self.place(given, 2)?);
        if size == 0 || self.fails(Failure::Attempt) {
            self.set_errno(super::EINVAL)?;
            return pointer(u64::MAX);
        }
        let length = self.path_length(size)?;
        self.memory.fence = given.member(1);
        self.write_path(to, length)?;
        pointer(length)
    }

    /// How long a name from outside is. What fills all the room is asked for on its own, as that
    /// is where programs are wrong.
    fn path_length(&mut self, room: u64) -> Result<u64, Stop> {
        let longest = room.min(LONGEST_PATH - 1);
        let length = self.outside_below(longest as u32)?;
        // No name has no bytes.
        if self.is_equal(length, 0) {
            return Ok(longest.min(5));
        }
        self.is_equal(length, longest.into());
        Ok(self.pinned(length) as u64)
    }

    fn write_path(&mut self, to: u64, length: u64) -> Result<(), Stop> {
        for at in 0..length {
            self.spend()?;
            let byte = if at == 0 { b'/' } else { b'a' };
            self.memory.store(to.wrapping_add(at), 1, Bits::known(byte.into()))?;
        }
        Ok(())
    }

    pub(crate) fn set_errno(&mut self, number: u32) -> Result<(), Stop> {
        let at = self.library_object("errno", 4)?;
        self.memory.store(at, 4, Bits::known(number.into()))
    }

    pub(crate) fn errno(&mut self) -> Result<i32, Stop> {
        let at = self.library_object("errno", 4)?;
        Ok(self.number_at(at, 4)? as i32)
    }

    /// A string of the library's own.
    pub(crate) fn new_text(&mut self, text: &str) -> Result<u64, Stop> {
        let address = self.memory.allocate(text.len() as u64 + 1, false)?;
        for (at, byte) in (address..).zip(text.bytes().chain([0])) {
            self.memory.store(at, 1, Bits::known(byte.into()))?;
        }
        Ok(address)
    }

    /// A number of 32 bits from outside, at most this one.
    pub(crate) fn outside_below(&mut self, limit: u32) -> Result<Bits, Stop> {
        let input = self.next_outside()?;
        Ok(self.take_limited(input, 32, limit))
    }

    /// A sum of 32 bits.
    pub(crate) fn plus(&mut self, value: Bits, number: u128) -> Bits {
        let word = value.word.map(|word| {
            let words = &mut self.memory.words;
            let number = words.constant(32, number);
            words.binary(logic::words::WordOp::Add, word, number)
        });
        Bits::known((value.bits + number) & mask(32)).with_word(word)
    }
}

/// What `strerror` says.
pub(super) fn error_text(number: i32) -> String {
    let known = match number {
        0 => "Success",
        1 => "Operation not permitted",
        2 => "No such file or directory",
        4 => "Interrupted system call",
        5 => "Input/output error",
        9 => "Bad file descriptor",
        11 => "Resource temporarily unavailable",
        12 => "Cannot allocate memory",
        13 => "Permission denied",
        17 => "File exists",
        20 => "Not a directory",
        21 => "Is a directory",
        22 => "Invalid argument",
        24 => "Too many open files",
        28 => "No space left on device",
        32 => "Broken pipe",
        33 => "Numerical argument out of domain",
        34 => "Numerical result out of range",
        _ => return format!("Unknown error {number}"),
    };
    known.to_owned()
}
