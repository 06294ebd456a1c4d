//! Users, groups, hosts and threads: what the system knows, of which little is made up.

use super::{Given, Known, int, pointer};
use crate::Stop;
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, Value};
use crate::world::errno;

/// Where `pthread_exit` goes on: no buffer of `setjmp` lies there.
pub(crate) const END_OF_THREAD: u64 = u64::MAX - 1;

impl Machine<'_> {
    pub(crate) fn call_user(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "getpwuid" | "getpwnam" | "getpwent" => {
                if name == "getpwnam" {
                    self.check_text(given, 0)?;
                }
                if name == "getpwent" || self.is_unknown(name.ends_with("nam")) {
                    return pointer(0);
                }
                let user = self.library_object("passwd", 48)?;
                self.fill_user(user)?;
                pointer(user)
            }
            "getgrgid" | "getgrnam" | "getgrent" => {
                if name == "getgrnam" {
                    self.check_text(given, 0)?;
                }
                if name == "getgrent" || self.is_unknown(name.ends_with("nam")) {
                    return pointer(0);
                }
                let group = self.library_object("group", 32)?;
                let (text, list) = (self.new_text("user")?, self.null_list()?);
                self.put_pointers(group, &[(0, text), (8, text), (24, list)])?;
                self.memory.store(group + 16, 4, Bits::known(1000))?;
                pointer(group)
            }
            "getpwuid_r" | "getpwnam_r" => {
                let (to, found) = (self.place(given, 1)?, self.place(given, 4)?);
                let is_unknown = self.is_unknown(true);
                if !is_unknown {
                    self.memory.fill(to, 48, Bits::known(0))?;
                    self.fill_user(to)?;
                }
                let result = if is_unknown { 0 } else { to };
                self.memory.store(found, 8, Bits::known(result.into()))?;
                int(0)
            }
            "getlogin" | "cuserid" | "getpass" => {
                if self.is_unknown(false) {
                    return pointer(0);
                }
                let text = self.new_text("user")?;
                pointer(text)
            }
            "getgroups" => int(0),
            "getaddrinfo" => self.address_info(given),
            "freeaddrinfo" | "herror" => Ok(Some(None)),
            "gai_strerror" | "hstrerror" => {
                let text = self.new_text("Name or service not known")?;
                pointer(text)
            }
            "gethostbyname" | "gethostbyaddr" => {
                if self.is_unknown(true) {
                    return pointer(0);
                }
                let host = self.library_object("hostent", 32)?;
                let (text, none) = (self.new_text("localhost")?, self.null_list()?);
                let (list, address) = (self.memory.allocate(16, false)?, self.local_address()?);
                self.memory.fill(list, 16, Bits::known(0))?;
                self.memory.store(list, 8, Bits::known(address.into()))?;
                self.put_pointers(host, &[(0, text), (8, none), (24, list)])?;
                self.memory.store(host + 16, 4, Bits::known(2))?;
                self.memory.store(host + 20, 4, Bits::known(4))?;
                pointer(host)
            }
            "getservbyname" | "getservbyport" | "getprotobyname" => pointer(0),
            "inet_ntoa" => {
                let text = self.new_text("127.0.0.1")?;
                pointer(text)
            }
            "inet_ntop" => {
                let (to, size) = (self.place(given, 2)?, self.place(given, 3)?);
                if size < 10 {
                    return pointer(0);
                }
                self.put_text(to, "127.0.0.1")?;
                pointer(to)
            }
            "inet_pton" | "inet_aton" => {
                let at = usize::from(name == "inet_pton");
                self.check_text(given, at)?;
                let to = self.place(given, at + 1)?;
                if self.fails(Failure::Lookup) {
                    return int(0);
                }
                self.memory.fill(to, 4, Bits::known(0))?;
                int(1)
            }
            "inet_addr" => {
                self.check_text(given, 0)?;
                int(if self.fails(Failure::Lookup) { -1 } else { 0x0100_007f })
            }
            "getsockname" | "getpeername" | "getsockopt" => {
                if self.open_descriptor(given, 0)?.is_none() {
                    return int(-1);
                }
                let (to, length) = match name {
                    "getsockopt" => (self.place(given, 3)?, self.place(given, 4)?),
                    _ => (self.place(given, 1)?, self.place(given, 2)?),
                };
                let size = self.number_at(length, 4)?.min(128);
                self.memory.fill(to, size, Bits::known(0))?;
                int(0)
            }
            _ if name.starts_with("pthread_") || name.starts_with("sem_") => {
                self.call_thread(name, given)
            }
            _ => Ok(None),
        }
    }

    /// Whether what is looked for is not known: names often are not.
    fn is_unknown(&mut self, is_name: bool) -> bool {
        self.fails(if is_name { Failure::Lookup } else { Failure::Resource })
    }

    fn fill_user(&mut self, to: u64) -> Result<(), Stop> {
        let (name, home, shell) =
            (self.new_text("user")?, self.new_text("/srv/user")?, self.new_text("/bin/sh")?);
        self.put_pointers(to, &[(0, name), (8, name), (24, name), (32, home), (40, shell)])?;
        self.memory.store(to + 16, 4, Bits::known(1000))?;
        self.memory.store(to + 20, 4, Bits::known(1000))
    }

    fn put_pointers(&mut self, to: u64, values: &[(u64, u64)]) -> Result<(), Stop> {
        for (at, value) in values {
            self.memory.store(to + at, 8, Bits::known((*value).into()))?;
        }
        Ok(())
    }

    fn null_list(&mut self) -> Result<u64, Stop> {
        self.library_object("no names", 8)
    }

    fn local_address(&mut self) -> Result<u64, Stop> {
        let address = self.library_object("local address", 16)?;
        self.memory.store(address, 4, Bits::known(0x0100_007f))?;
        Ok(address)
    }

    fn address_info(&mut self, given: &Given) -> Known {
        let to = self.place(given, 3)?;
        if self.fails(Failure::Lookup) {
            return int(-2);
        }
        let info = self.memory.allocate(48, false)?;
        self.memory.fill(info, 48, Bits::known(0))?;
        let address = self.memory.allocate(16, false)?;
        self.memory.fill(address, 16, Bits::known(0))?;
        for (at, value) in [(4, 2), (8, 1), (12, 6), (16, 16)] {
            self.memory.store(info + at, 4, Bits::known(value))?;
        }
        self.memory.store(address, 2, Bits::known(2))?;
        self.memory.store(info + 24, 8, Bits::known(address.into()))?;
        self.memory.store(to, 8, Bits::known(info.into()))?;
        int(0)
    }

    /// A thread runs at once, to its end: one order of many.
    fn call_thread(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "pthread_create" => {
                let (to, function) = (self.place(given, 0)?, self.place(given, 2)?);
                if self.fails(Failure::Resource) {
                    return int(errno::EAGAIN as i32);
                }
                let argument = given.bits(3)?;
                self.threads.push(0);
                let number = self.threads.len();
                self.memory.store(to, 8, Bits::known(number as u128))?;
                let result = match self.call_back(function, vec![argument.into()]) {
                    Err(Stop::LongJump(END_OF_THREAD, _)) => {
                        self.stopped_at = None;
                        None
                    }
                    result => result?,
                };
                if let Some(value) = result.as_ref().and_then(Value::bits) {
                    self.threads[number - 1] = value.bits as u64;
                }
                int(0)
            }
            "pthread_join" => {
                let (number, to) = (self.place(given, 0)?, self.place(given, 1)?);
                let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
                let Some(result) = index.and_then(|index| self.threads.get(index)).copied() else {
                    return int(3);
                };
                if to != 0 {
                    self.memory.store(to, 8, Bits::known(result.into()))?;
                }
                int(0)
            }
            "pthread_exit" => match self.threads.is_empty() {
                true => Err(Stop::Exit(0)),
                false => Err(Stop::LongJump(END_OF_THREAD, 0)),
            },
            "pthread_once" => {
                let (control, function) = (self.place(given, 0)?, self.place(given, 1)?);
                if self.number_at(control, 4)? == 0 {
                    self.memory.store(control, 4, Bits::known(2))?;
                    self.call_back(function, Vec::new())?;
                }
                int(0)
            }
            "pthread_key_create" => {
                let to = self.place(given, 0)?;
                self.thread_values.push(0);
                let number = self.thread_values.len() as u128 - 1;
                self.memory.store(to, 4, Bits::known(number))?;
                int(0)
            }
            "pthread_getspecific" => {
                let key = self.place(given, 0)? as usize;
                pointer(self.thread_values.get(key).copied().unwrap_or(0))
            }
            "pthread_setspecific" => {
                let (key, value) = (self.place(given, 0)? as usize, self.place(given, 1)?);
                if let Some(place) = self.thread_values.get_mut(key) {
                    *place = value;
                }
                int(0)
            }
            "pthread_self" => pointer(0),
            "pthread_equal" => {
                let (a, b) = (self.place(given, 0)?, self.place(given, 1)?);
                int(i32::from(a == b))
            }
            _ if name.starts_with("pthread_mutex_")
                || name.starts_with("pthread_cond_")
                || name.starts_with("pthread_rwlock_")
                || name.starts_with("pthread_attr_")
                || name.starts_with("pthread_mutexattr_")
                || name.starts_with("sem_") =>
            {
                self.fill_lock(name, given)?;
                int(0)
            }
            "pthread_detach"
            | "pthread_cancel"
            | "pthread_sigmask"
            | "pthread_kill"
            | "pthread_setcancelstate"
            | "pthread_setcanceltype"
            | "pthread_key_delete"
            | "pthread_setname_np" => int(0),
            _ => Ok(None),
        }
    }

    /// What is initialised is set.
    fn fill_lock(&mut self, name: &str, given: &Given) -> Result<(), Stop> {
        if name.ends_with("_init") {
            let at = self.place(given, 0)?;
            let size = match name {
                "pthread_mutex_init" => 40,
                "pthread_cond_init" => 48,
                "pthread_rwlock_init" | "pthread_attr_init" => 56,
                "sem_init" => 32,
                _ => 4,
            };
            self.memory.fill(at, size, Bits::known(0))?;
        }
        Ok(())
    }
}
