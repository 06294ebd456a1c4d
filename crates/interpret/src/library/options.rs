//! `getopt` and `getopt_long`, which move operands behind the options as glibc does.

use super::{Given, Known, int};
use crate::Stop;
use crate::exec::Machine;
use crate::value::{Bits, Value};

/// Where the walk over the arguments is.
#[derive(Default)]
pub(crate) struct Options {
    is_started: bool,
    /// The next letter of a cluster; 0 between arguments.
    next: u64,
    /// Operands that were passed over lie from `first` to before `last`.
    first: u64,
    last: u64,
}

/// The arguments of one call.
struct Asked {
    count: u64,
    arguments: u64,
    /// Letters, each followed by a colon where it takes an argument, or by two.
    letters: Vec<u8>,
    /// A missing argument is told apart from an unknown option.
    is_quiet: bool,
    /// `+`: the first operand ends the options; `-`: operands count as options.
    order: Option<u8>,
    /// The table of long options, and where the index of the one found goes.
    long: Option<(u64, u64)>,
}

impl Machine<'_> {
    pub(crate) fn call_option(&mut self, name: &str, given: &Given) -> Known {
        if !matches!(name, "getopt" | "__posix_getopt" | "getopt_long" | "getopt_long_only") {
            return Ok(None);
        }
        let count = given.bits(0)?;
        let count = crate::value::signed(self.pinned(count), 32).max(0) as u64;
        let (arguments, letters) = (self.place(given, 1)?, self.place(given, 2)?);
        let letters = self.text_at(letters, None)?;
        let mut letters: Vec<u8> =
            letters.into_iter().map(|byte| self.pinned(byte) as u8).collect();
        let mut order = letters.first().copied().filter(|c| matches!(c, b'+' | b'-'));
        if order.is_some() {
            letters.remove(0);
        }
        if name == "__posix_getopt" {
            order = Some(b'+');
        }
        let is_quiet = letters.first() == Some(&b':');
        let long = match name {
            "getopt_long" | "getopt_long_only" => {
                Some((self.place(given, 3)?, self.place(given, 4)?))
            }
            _ => None,
        };
        self.next_option(&Asked { count, arguments, letters, is_quiet, order, long })
    }

    fn next_option(&mut self, asked: &Asked) -> Known {
        let mut index = self.option_index()?;
        if index == 0 || !self.options.is_started {
            index = index.max(1);
            self.options = Options { is_started: true, next: 0, first: index, last: index };
        }
        let next = self.options.next;
        let is_between = next == 0 || {
            let byte = self.byte(next)?;
            self.is_equal(byte, 0)
        };
        if is_between {
            if let Some(result) = self.next_argument(asked, index)? {
                return Ok(Some(Some(result)));
            }
            index = self.option_index()?;
        }
        self.letter(asked, index)
    }

    /// Comes to the next argument with options in it; otherwise what the call returns.
    fn next_argument(&mut self, asked: &Asked, mut index: u64) -> Result<Option<Value>, Stop> {
        let Options { mut first, mut last, .. } = self.options;
        (last, first) = (last.min(index), first.min(index));
        if asked.order.is_none() {
            (first, last) = self.passed_over(asked, (first, last), index)?;
            while index < asked.count && !self.is_option(asked, index)? {
                index += 1;
            }
            last = index.max(last);
        }
        if index < asked.count && self.is_end(asked, index)? {
            index += 1;
            (first, _) = match first == last {
                true => (index, index),
                false => self.passed_over(asked, (first, last), index)?,
            };
            (last, index) = (asked.count, asked.count);
        }
        (self.options.first, self.options.last) = (first, last);
        if index >= asked.count {
            self.set_option_index(if first == last { index } else { first })?;
            return Ok(Some(Value::known(u32::MAX.into())));
        }
        let argument = self.argument(asked, index)?;
        if !self.is_option(asked, index)? {
            if asked.order == Some(b'+') {
                self.set_option_index(index)?;
                return Ok(Some(Value::known(u32::MAX.into())));
            }
            self.set_option_argument(argument)?;
            self.set_option_index(index + 1)?;
            return Ok(Some(Value::known(1)));
        }
        self.set_option_index(index)?;
        let second = self.byte(argument.wrapping_add(1))?;
        if asked.long.is_some() && self.is_equal(second, b'-'.into()) {
            return self.long_option(asked, argument.wrapping_add(2), index + 1).map(Some);
        }
        self.options.next = argument.wrapping_add(1);
        Ok(None)
    }

    /// Options behind operands change places with them. Where the operands are then.
    fn passed_over(
        &mut self,
        asked: &Asked,
        (first, last): (u64, u64),
        index: u64,
    ) -> Result<(u64, u64), Stop> {
        if first == last || last == index {
            return Ok(if last == index { (first, last) } else { (index, index) });
        }
        let mut moved = Vec::new();
        for at in (last..index).chain(first..last) {
            moved.push(self.argument(asked, at)?);
        }
        for (at, address) in (first..).zip(moved) {
            let place = asked.arguments.wrapping_add(8 * at);
            self.memory.store(place, 8, Bits::known(u128::from(address)))?;
        }
        Ok((first + index - last, index))
    }

    /// One letter of a cluster.
    fn letter(&mut self, asked: &Asked, mut index: u64) -> Known {
        let letter = self.byte(self.options.next)?;
        let next = self.options.next.wrapping_add(1);
        self.options.next = next;
        let behind = self.byte(next)?;
        let is_last = self.is_equal(behind, 0);
        index += u64::from(is_last);
        let mut found = None;
        for (at, known) in asked.letters.iter().enumerate() {
            if !matches!(known, b':' | b';') && self.is_equal(letter, (*known).into()) {
                found = Some(at);
                break;
            }
        }
        let Some(found) = found else {
            self.set_option_index(index)?;
            return self.bad_option(letter, b'?');
        };
        let n_colons = asked.letters[found + 1..].iter().take_while(|c| **c == b':').count();
        if n_colons > 0 {
            self.options.next = 0;
            if !is_last {
                index += 1;
                self.set_option_argument(next)?;
            } else if n_colons > 1 {
                self.set_option_argument(0)?;
            } else if index >= asked.count {
                self.set_option_index(index)?;
                return self.bad_option(letter, if asked.is_quiet { b':' } else { b'?' });
            } else {
                let argument = self.argument(asked, index)?;
                self.set_option_argument(argument)?;
                index += 1;
            }
        }
        self.set_option_index(index)?;
        int(asked.letters[found].into())
    }

    fn bad_option(&mut self, letter: Bits, result: u8) -> Known {
        let at = self.option_object("optopt", 4)?;
        let word = letter.word.map(|word| self.memory.words.resize(word, 32, false));
        self.memory.store(at, 4, letter.with_word(word))?;
        int(result.into())
    }

    /// An option of the table by its name or the beginning of it.
    fn long_option(&mut self, asked: &Asked, name: u64, mut index: u64) -> Result<Value, Stop> {
        let (table, found_index) = asked.long.unwrap_or_default();
        let (mut exact, mut beginnings) = (None, Vec::new());
        for number in 0.. {
            let entry = table.wrapping_add(32 * number);
            let text = self.number_at(entry, 8)?;
            if text == 0 || exact.is_some() {
                break;
            }
            match self.matches_option(name, text)? {
                Some((end, true)) => exact = Some((number, entry, end)),
                Some((end, false)) => beginnings.push((number, entry, end)),
                None => {}
            }
        }
        let only = if beginnings.len() == 1 { beginnings.pop() } else { None };
        self.options.next = 0;
        self.set_option_index(index)?;
        let wrong = |machine: &mut Self, result: u8| -> Result<Value, Stop> {
            machine.bad_option(Bits::known(0), b'?')?;
            Ok(Value::known(result.into()))
        };
        let Some((number, entry, end)) = exact.or(only) else { return wrong(self, b'?') };
        let takes = self.number_at(entry + 8, 4)?;
        let behind = self.byte(end)?;
        if !self.is_equal(behind, 0) {
            if takes == 0 {
                return wrong(self, b'?');
            }
            self.set_option_argument(end.wrapping_add(1))?;
        } else if takes == 1 {
            if index >= asked.count {
                return wrong(self, if asked.is_quiet { b':' } else { b'?' });
            }
            let argument = self.argument(asked, index)?;
            self.set_option_argument(argument)?;
            index += 1;
        } else {
            self.set_option_argument(0)?;
        }
        self.set_option_index(index)?;
        if found_index != 0 {
            self.memory.store(found_index, 4, Bits::known(number.into()))?;
        }
        let (flag, value) = (self.number_at(entry + 16, 8)?, self.number_at(entry + 24, 4)?);
        if flag == 0 {
            return Ok(Value::known(value.into()));
        }
        self.memory.store(flag, 4, Bits::known(value.into()))?;
        Ok(Value::known(0))
    }

    /// Where the name ends, and whether it is the whole of the option's; `None` where it is
    /// another.
    fn matches_option(&mut self, name: u64, option: u64) -> Result<Option<(u64, bool)>, Stop> {
        for at in 0.. {
            self.spend()?;
            let (given, known) = (self.byte(name.wrapping_add(at))?, self.byte(option + at)?);
            if self.is_equal(given, 0) || self.is_equal(given, b'='.into()) {
                return Ok(Some((name.wrapping_add(at), self.is_equal(known, 0))));
            }
            if !self.are_equal(given, known) {
                break;
            }
        }
        Ok(None)
    }

    fn argument(&mut self, asked: &Asked, index: u64) -> Result<u64, Stop> {
        self.number_at(asked.arguments.wrapping_add(8 * index), 8)
    }

    fn is_option(&mut self, asked: &Asked, index: u64) -> Result<bool, Stop> {
        let argument = self.argument(asked, index)?;
        let first = self.byte(argument)?;
        if !self.is_equal(first, b'-'.into()) {
            return Ok(false);
        }
        let second = self.byte(argument.wrapping_add(1))?;
        Ok(!self.is_equal(second, 0))
    }

    /// Whether an argument is `--`.
    fn is_end(&mut self, asked: &Asked, index: u64) -> Result<bool, Stop> {
        let argument = self.argument(asked, index)?;
        for (at, wanted) in (0..).zip(*b"--\0") {
            let byte = self.byte(argument.wrapping_add(at))?;
            if !self.is_equal(byte, wanted.into()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn option_index(&mut self) -> Result<u64, Stop> {
        let at = self.option_object("optind", 4)?;
        self.number_at(at, 4)
    }

    fn set_option_index(&mut self, index: u64) -> Result<(), Stop> {
        let at = self.option_object("optind", 4)?;
        self.memory.store(at, 4, Bits::known(index.into()))
    }

    fn set_option_argument(&mut self, address: u64) -> Result<(), Stop> {
        let at = self.option_object("optarg", 8)?;
        self.memory.store(at, 8, Bits::known(address.into()))
    }

    /// An object of `getopt`'s that the program may see.
    fn option_object(&mut self, name: &'static str, size: u64) -> Result<u64, Stop> {
        let mut globals = self.program.globals.iter_enumerated();
        match globals.find(|(_, global)| &*global.name == name) {
            Some((id, _)) => Ok(self.global(id)),
            None => self.library_object(name, size),
        }
    }
}
