//! The process: how it ends, its environment, and what the system tells it.

use program::{Function, Ty};

use super::{Given, Known, int, pointer};
use crate::Stop;
use crate::exec::{Arguments, Machine};
use crate::value::{Bits, Value, mask};

/// Bytes of a path with its zero, as systems have it.
const LONGEST_PATH: u64 = 4096;

/// Functions that only say whether they succeeded; it depends on what is outside. The strings
/// they take are their first arguments.
const ATTEMPTS: [(&str, usize); 20] = [
    ("remove", 1),
    ("rename", 2),
    ("unlink", 1),
    ("mkdir", 1),
    ("rmdir", 1),
    ("chdir", 1),
    ("access", 1),
    ("chmod", 1),
    ("chown", 1),
    ("symlink", 2),
    ("link", 2),
    ("truncate", 1),
    ("ftruncate", 0),
    ("fsync", 0),
    ("kill", 0),
    ("setuid", 0),
    ("setgid", 0),
    ("listen", 0),
    ("shutdown", 0),
    ("fchmod", 0),
];

/// Numbers from outside, and the largest.
const NUMBERS: [(&str, u32); 11] = [
    ("isatty", 1),
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

/// Functions of the C library and of POSIX that take no pointer: were they not known by name,
/// any number would count as their result.
const UNKNOWN: &str = "\
    btowc wctob iswctype towctrans getwchar putwchar fork vfork pause raise dup dup2 \
    socket sbrk brk nice sysconf pathconf fpathconf getdtablesize getpriority \
    setpriority setsid setpgid getpgid getsid clearenv feclearexcept fetestexcept \
    feraiseexcept fegetround fesetround iswalnum iswalpha iswblank iswcntrl iswdigit \
    iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit towlower towupper \
    lrand48 mrand48 l64a pthread_exit pthread_cancel posix_openpt grantpt inotify_init \
    epoll_create eventfd syscall";

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
            "setenv" | "unsetenv" => self.set_environment(name, given),
            "srand" | "srandom" | "srand48" => Ok(Some(None)),
            "__errno_location" => {
                let address = self.library_object("errno", 4)?;
                pointer(address)
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
            "signal" | "bsd_signal" | "sysv_signal" => pointer(0),
            "sleep" | "usleep" | "sched_yield" | "sigaction" | "sigprocmask" => int(0),
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
            let has_failed = self.outside_below(1)?;
            return int(if self.is_equal(has_failed, 1) { -1 } else { 0 });
        }
        let Some((_, limit)) = NUMBERS.iter().find(|(number, _)| *number == name) else {
            return Ok(None);
        };
        Ok(Some(Some(self.outside_below(*limit)?.into())))
    }

    /// What is neither part of the program nor known here.
    pub(crate) fn call_unknown(
        &mut self,
        function: &Function,
        passed: &Arguments,
    ) -> Result<Option<Value>, Stop> {
        // Declarations without a prototype say nothing of the parameters; the call does.
        let tys = function.params.iter().map(|param| &param.ty).chain(passed.tys);
        let takes_pointers = tys.clone().any(|ty| *ty == Ty::Ptr) || !passed.by_value.is_empty();
        let is_number = matches!(function.result, Ty::Int(_) | Ty::Void);
        let name = &*function.name;
        let is_known = UNKNOWN.split_whitespace().any(|known| known == name)
            || name.starts_with("__builtin_")
            || name.ends_with("_chk");
        if takes_pointers || !is_number || is_known {
            return Err(Stop::Unsupported(format!("a call of {name}")));
        }
        self.outside(function.result)
    }

    /// The last registered first. Each runs once, even where one of them ends the program.
    pub(crate) fn run_exit_handlers(&mut self) -> Result<(), Stop> {
        while let Some(handler) = self.exit_handlers.pop() {
            self.call_back(handler, Vec::new())?;
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

    /// Text that is shorter than its room, or null: it does not fit, or nobody may know.
    fn working_directory(&mut self, given: &Given) -> Known {
        let (to, size) = (self.place(given, 0)?, self.place(given, 1)?);
        let room = if to == 0 && size == 0 { LONGEST_PATH } else { size };
        let length = self.path_length(room.saturating_sub(1))?;
        if length == 0 {
            return pointer(0);
        }
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
        let length = self.path_length(size)?;
        self.memory.fence = given.member(1);
        self.write_path(to, length)?;
        pointer(if length == 0 { u64::MAX } else { length })
    }

    /// How long a name from outside is; no name has no bytes. What fills all the room is asked
    /// for on its own, as that is where programs are wrong.
    fn path_length(&mut self, room: u64) -> Result<u64, Stop> {
        let longest = room.min(LONGEST_PATH - 1);
        let length = self.outside_below(longest as u32)?;
        if !self.is_equal(length, 0) {
            self.is_equal(length, longest.into());
        }
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
