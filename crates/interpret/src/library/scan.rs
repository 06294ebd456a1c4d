//! `scanf` and its kin: text read as a format says.

use super::format::Variable;
use super::numbers::Fit;
use super::reader::Reader;
use super::{Known, int};
use crate::exec::Machine;
use crate::value::Bits;
use crate::{FaultKind, Stop, Why, float};

/// One `%` of a format.
struct Directive {
    kind: u8,
    /// Nothing is stored.
    is_skipped: bool,
    /// Most bytes it takes; 0 where nothing is said.
    width: u64,
    /// Of what is stored, in bytes.
    size: u64,
    /// An `L` before a floating-point number.
    is_long: bool,
    /// The bytes of `%[`, and whether these are meant or all others.
    set: (Vec<u8>, bool),
}

/// How a directive ended.
enum Scanned {
    Stored,
    /// Something that is no conversion.
    Passed,
    /// The text is not what was asked for, or over; so much of it was taken before.
    Failed(u64),
}

impl Machine<'_> {
    pub(crate) fn scan(
        &mut self,
        reader: &mut Reader,
        format: u64,
        variable: &mut Variable<'_, '_>,
    ) -> Known {
        let (mut at, mut n_stored) = (format, 0);
        // Numbers in a string are searched without blanks before them, as in `strtol`, unless
        // nothing else can end the number before.
        let mut why = if reader.is_text() { Why::Limit } else { Why::Branch };
        loop {
            let scanned = match self.format_byte(&mut at)? {
                0 => return int(n_stored),
                b' ' | b'\t'..=b'\r' => {
                    self.skip_blanks(reader, Why::Branch)?;
                    Scanned::Passed
                }
                b'%' => {
                    let directive = self.scan_directive(&mut at)?;
                    let scanned = self.scan_one(reader, &directive, why, variable)?;
                    reader.limit = u64::MAX;
                    why = Why::Branch;
                    match scanned {
                        Scanned::Stored if directive.is_skipped => Scanned::Passed,
                        other => other,
                    }
                }
                wanted => {
                    why = if reader.is_text() { Why::Limit } else { Why::Branch };
                    self.scan_literal(reader, wanted)?
                }
            };
            match scanned {
                Scanned::Stored => n_stored += 1,
                Scanned::Passed => {}
                Scanned::Failed(n_taken) => {
                    let is_over =
                        n_stored == 0 && reader.n_taken == n_taken && self.is_over(reader)?;
                    return int(if is_over { -1 } else { n_stored });
                }
            }
        }
    }

    fn format_byte(&mut self, at: &mut u64) -> Result<u8, Stop> {
        self.spend()?;
        let byte = self.byte(*at)?;
        *at = at.wrapping_add(1);
        Ok(self.pinned(byte) as u8)
    }

    fn scan_directive(&mut self, at: &mut u64) -> Result<Directive, Stop> {
        let mut d = Directive {
            kind: 0,
            is_skipped: false,
            width: 0,
            size: 4,
            is_long: false,
            set: (Vec::new(), true),
        };
        d.kind = loop {
            match self.format_byte(at)? {
                b'*' => d.is_skipped = true,
                c @ b'0'..=b'9' => d.width = (d.width * 10 + u64::from(c - b'0')).min(1 << 32),
                b'l' | b'z' | b'j' | b't' | b'q' => d.size = 8,
                b'h' => d.size = (d.size / 2).max(1),
                b'L' => (d.size, d.is_long) = (8, true),
                c => break c,
            }
        };
        if d.kind == b'[' {
            d.set = self.scan_set(at)?;
        }
        Ok(d)
    }

    /// The bytes between the brackets, with ranges, and whether they are meant or all others.
    fn scan_set(&mut self, at: &mut u64) -> Result<(Vec<u8>, bool), Stop> {
        let mut c = self.format_byte(at)?;
        let is_meant = c != b'^';
        if !is_meant {
            c = self.format_byte(at)?;
        }
        let mut set = vec![c];
        loop {
            c = self.format_byte(at)?;
            match c {
                0 => return Err(Stop::Unsupported("scanf with %[ and no end".to_owned())),
                b']' => return Ok((set, is_meant)),
                b'-' => {
                    let last = self.format_byte(at)?;
                    if last == b']' {
                        set.push(b'-');
                        return Ok((set, is_meant));
                    }
                    set.extend(set.last().copied().unwrap_or(last)..=last);
                }
                _ => set.push(c),
            }
        }
    }

    fn scan_literal(&mut self, reader: &mut Reader, wanted: u8) -> Result<Scanned, Stop> {
        let is_here = self.accept(reader, &[wanted])?.is_some();
        Ok(if is_here { Scanned::Passed } else { Scanned::Failed(reader.n_taken) })
    }

    fn scan_one(
        &mut self,
        reader: &mut Reader,
        d: &Directive,
        why: Why,
        variable: &mut Variable<'_, '_>,
    ) -> Result<Scanned, Stop> {
        if !matches!(d.kind, b'c' | b'[' | b'n') {
            self.skip_blanks(reader, why)?;
        }
        if d.kind == b'%' {
            return self.scan_literal(reader, b'%');
        }
        let mut to = 0;
        if !d.is_skipped {
            let pointer = self.variable(variable)?;
            to = self.pinned(pointer) as u64;
        }
        if d.kind == b'n' {
            self.memory.store(to, d.size, Bits::known(u128::from(reader.n_taken)))?;
            return Ok(Scanned::Passed);
        }
        if d.width > 0 {
            reader.limit = reader.n_taken.saturating_add(d.width);
        }
        match d.kind {
            b'c' => {
                reader.limit = reader.n_taken.saturating_add(d.width.max(1));
                self.scan_text(reader, d, to)
            }
            b's' | b'[' => self.scan_text(reader, d, to),
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => self.scan_number(reader, d, to),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' => self.scan_float(reader, d, to),
            other => Err(Stop::Unsupported(format!("scanf with %{}", char::from(other)))),
        }
    }

    fn scan_text(&mut self, reader: &mut Reader, d: &Directive, to: u64) -> Result<Scanned, Stop> {
        let before = reader.n_taken;
        let mut n_taken = 0;
        while let Some(byte) = self.peek(reader)? {
            if reader.is_text() && self.is_equal(byte, 0) {
                break;
            }
            let is_wanted = match d.kind {
                b'c' => true,
                b's' => !self.is_one_of(byte, b" \t\n\r\x0b\x0c"),
                _ => self.is_one_of(byte, &d.set.0) == d.set.1,
            };
            if !is_wanted {
                break;
            }
            self.advance(reader)?;
            if !d.is_skipped {
                self.memory.store(to.wrapping_add(n_taken), 1, byte)?;
            }
            n_taken += 1;
        }
        if n_taken < if d.kind == b'c' { d.width.max(1) } else { 1 } {
            return Ok(Scanned::Failed(before));
        }
        if d.kind != b'c' && !d.is_skipped {
            self.memory.store(to.wrapping_add(n_taken), 1, Bits::known(0))?;
        }
        Ok(Scanned::Stored)
    }

    fn scan_number(
        &mut self,
        reader: &mut Reader,
        d: &Directive,
        to: u64,
    ) -> Result<Scanned, Stop> {
        let base = match d.kind {
            b'x' | b'X' => 16,
            b'o' => 8,
            b'i' => 0,
            _ => 10,
        };
        let is_signed = matches!(d.kind, b'd' | b'i');
        let before = reader.n_taken;
        let number = self.read_number(reader, base, Fit::Saturates { is_signed })?;
        if number.n_bytes == 0 {
            return Ok(Scanned::Failed(before));
        }
        if !d.is_skipped {
            let value = self.low(number.value, 8 * d.size as u32);
            self.memory.store(to, d.size, value)?;
        }
        Ok(Scanned::Stored)
    }

    fn scan_float(&mut self, reader: &mut Reader, d: &Directive, to: u64) -> Result<Scanned, Stop> {
        let before = reader.n_taken;
        let Some(number) = self.read_float(reader)? else { return Ok(Scanned::Failed(before)) };
        if !d.is_skipped {
            let (width, size) = match (d.is_long, d.size) {
                (true, _) => (80, 10),
                (_, 8) => (64, 8),
                _ => (32, 4),
            };
            let bits = float::encode(number, width).ok_or(Stop::Fault(FaultKind::Uninitialised))?;
            self.memory.store(to, size, Bits::known(bits))?;
        }
        Ok(Scanned::Stored)
    }
}
