//! Time, which comes from outside: any moment may be now that is not before the last one.

use std::collections::BTreeMap;

use logic::words::WordOp;

use super::{Given, Known, pointer};
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, signed};
use crate::{FaultKind, Stop, Why};

const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The largest value of seconds, minutes, hours, days, months, years, days of the week and of
/// the year, where the time is not known.
const LAST: [u32; 8] = [59, 59, 23, 30, 11, 130, 6, 364];
const TM_BYTES: u64 = 56;
const EOVERFLOW: u32 = 75;
/// The last second that may be now, in the year 2242, and the last tick of `clock`, after twelve
/// days.
const LAST_SECOND: u64 = 1 << 33;
const LAST_TICK: u64 = 1 << 40;

/// What clocks showed on this run.
#[derive(Default)]
pub(crate) struct Clocks {
    /// The last moment, by the clock it was read from.
    last: BTreeMap<&'static str, Bits>,
    /// The last moment that had parts of a second: its second, and so many of them.
    last_part: BTreeMap<&'static str, (Bits, Bits)>,
    /// By the number of the result from outside.
    pub shown: BTreeMap<u32, u64>,
}

impl Machine<'_> {
    pub(crate) fn call_clock(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "time" => {
                let now = self.moment("time", LAST_SECOND)?;
                let to = self.place(given, 0)?;
                self.library_object("now", 1)?;
                if to != 0 {
                    self.memory.store(to, 8, now)?;
                }
                Ok(Some(Some(now.into())))
            }
            "clock" => Ok(Some(Some(self.moment("clock", LAST_TICK)?.into()))),
            "gettimeofday" | "clock_gettime" => {
                let to = self.place(given, usize::from(name == "clock_gettime"))?;
                self.library_object("now", 1)?;
                let limit = if name == "gettimeofday" { 999_999 } else { 999_999_999 };
                let clock = if name == "gettimeofday" { "time" } else { "clock_gettime" };
                let seconds = self.moment(clock, LAST_SECOND)?;
                let part = self.part_of_second(clock, seconds, limit)?;
                let word = part.word.map(|word| self.memory.words.resize(word, 64, false));
                self.memory.store(to, 8, seconds)?;
                self.memory.store(to.wrapping_add(8), 8, part.with_word(word))?;
                super::int(0)
            }
            "localtime" | "gmtime" | "localtime_r" | "gmtime_r" => {
                if self.fails(Failure::Time) {
                    return pointer(0);
                }
                let from = self.place(given, 0)?;
                let to = match name.ends_with("_r") {
                    true => self.place(given, 1)?,
                    false => self.library_object("tm", TM_BYTES)?,
                };
                let time = self.memory.load(from, 8)?;
                let is_known = self.knows_time();
                // A year has to fit an `int`.
                if is_known && time.is_known() && !has_date(signed(self.pinned(time), 64)) {
                    self.set_errno(EOVERFLOW)?;
                    return pointer(0);
                }
                self.break_down(time, to, is_known)?;
                pointer(to)
            }
            "mktime" | "timegm" => {
                let at = self.place(given, 0)?;
                let fields = self.fields(at)?;
                let time = Bits::known(seconds(&fields) as u128 & u128::from(u64::MAX));
                self.break_down(time, at, true)?;
                Ok(Some(Some(time.into())))
            }
            "strftime" | "strftime_l" => self.strftime(given),
            "difftime" => {
                let (end, start) = (given.bits(0)?, given.bits(1)?);
                let seconds = signed(self.pinned(end), 64) - signed(self.pinned(start), 64);
                let bits = crate::float::encode(seconds as f64, 64).unwrap_or(0);
                Ok(Some(Some(crate::value::Value::known(bits))))
            }
            "clock_getres" => {
                let to = self.place(given, 1)?;
                if to != 0 {
                    self.memory.store(to, 8, Bits::known(0))?;
                    self.memory.store(to + 8, 8, Bits::known(1))?;
                }
                super::int(0)
            }
            "asctime" | "ctime" => {
                let from = self.place(given, 0)?;
                let tm =
                    if name == "asctime" { from } else { self.library_object("tm", TM_BYTES)? };
                if name == "ctime" {
                    let time = self.memory.load(from, 8)?;
                    let is_known = self.knows_time();
                    self.break_down(time, tm, is_known)?;
                }
                let fields = self.fields(tm)?;
                let text = expand("%a %b %e %H:%M:%S %Y\n", &fields);
                let text = text.ok_or_else(|| Stop::Unsupported(format!("a call of {name}")))?;
                let address = self.new_text(&text)?;
                pointer(address)
            }
            _ => Ok(None),
        }
    }

    /// What a clock shows, which never goes backwards.
    fn moment(&mut self, clock: &'static str, latest: u64) -> Result<Bits, Stop> {
        let index = self.inputs.outside.len() as u32;
        let input = self.next_outside()?;
        let mut now = self.take_input(input, 64);
        let last = self.clocks.last.get(clock).copied().unwrap_or(Bits::known(0));
        now.bits = now.bits.clamp(last.bits, latest.into());
        if let Some(word) = now.word {
            let before = self.word(last, 64);
            let words = &mut self.memory.words;
            let latest = words.constant(64, latest.into());
            let is_possible = words.binary(WordOp::UnsignedLe, word, latest);
            let is_later = words.binary(WordOp::UnsignedLe, before, word);
            self.holds(is_possible, Why::Limit);
            self.holds(is_later, Why::Limit);
        }
        self.clocks.last.insert(clock, now);
        self.clocks.shown.insert(index, now.bits as u64);
        Ok(now)
    }

    /// How much of the second has passed, at most this: no less than when it was last asked for
    /// in the same second.
    fn part_of_second(
        &mut self,
        clock: &'static str,
        seconds: Bits,
        limit: u32,
    ) -> Result<Bits, Stop> {
        let index = self.inputs.outside.len() as u32;
        let mut part = self.outside_below(limit)?;
        if let Some((last_seconds, last)) = self.clocks.last_part.get(clock).copied() {
            if last_seconds.bits == seconds.bits {
                part.bits = part.bits.max(last.bits);
            }
            if part.word.is_some() {
                let (before, now) = (self.word(last_seconds, 64), self.word(seconds, 64));
                let (least, own) = (self.word(last, 32), self.word(part, 32));
                let words = &mut self.memory.words;
                let is_same = words.eq(before, now);
                let is_other = words.not(is_same);
                let is_later = words.binary(WordOp::UnsignedLe, least, own);
                let is_possible = words.or(is_other, is_later);
                self.holds(is_possible, Why::Limit);
            }
        }
        self.clocks.last_part.insert(clock, (seconds, part));
        self.clocks.shown.insert(index, part.bits as u64);
        Ok(part)
    }

    /// Whether no time of this run came from outside. Tests are run at the beginning of 1970.
    fn knows_time(&self) -> bool {
        self.inputs.stdin.is_some() || !self.library.contains_key("now")
    }

    /// A `struct tm`: that of a time, or any where it is not known.
    fn break_down(&mut self, time: Bits, to: u64, is_known: bool) -> Result<(), Stop> {
        if !time.is_known() {
            return Err(Stop::Fault(FaultKind::Uninitialised));
        }
        self.memory.fill(to, TM_BYTES, Bits::known(0))?;
        if is_known {
            let fields = fields_of(signed(self.pinned(time), 64));
            for (at, field) in (to..).step_by(4).zip(fields) {
                self.memory.store(at, 4, Bits::known(u128::from(field as u32)))?;
            }
        } else {
            for (index, last) in (0..).zip(LAST) {
                let mut field = self.outside_below(last)?;
                // Days of the month count from 1, and clocks from 1970.
                match index {
                    3 => field = self.plus(field, 1),
                    5 => field = self.plus(field, 70),
                    _ => {}
                }
                self.memory.store(to + 4 * index, 4, field)?;
            }
        }
        let zone = self.new_text("UTC")?;
        self.memory.store(to + 48, 8, Bits::known(u128::from(zone)))
    }

    fn fields(&mut self, at: u64) -> Result<[i64; 9], Stop> {
        let mut fields = [0; 9];
        for (index, field) in (0..).zip(&mut fields) {
            *field = i64::from(self.number_at(at.wrapping_add(4 * index), 4)? as i32);
        }
        Ok(fields)
    }

    fn strftime(&mut self, given: &Given) -> Known {
        let (to, limit) = (self.place(given, 0)?, self.place(given, 1)?);
        let (format, tm) = (self.place(given, 2)?, self.place(given, 3)?);
        let format = self.text_at(format, None)?;
        let format: String =
            format.into_iter().map(|byte| char::from(self.pinned(byte) as u8)).collect();
        let fields = self.fields(tm)?;
        let unknown = || Stop::Unsupported(format!("strftime with {format}"));
        let text = expand(&format, &fields).ok_or_else(unknown)?;
        if text.len() as u64 >= limit {
            return pointer(0);
        }
        for (at, byte) in (0..).zip(text.bytes().chain([0])) {
            self.memory.store(to.wrapping_add(at), 1, Bits::known(byte.into()))?;
        }
        pointer(text.len() as u64)
    }
}

/// Whether the year of a time fits an `int`.
fn has_date(time: i128) -> bool {
    (-67_768_040_609_740_800..=67_768_036_191_676_799).contains(&time)
}

/// Days since 1970 of a day of the civil calendar.
fn days_from(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The members of `struct tm` that are `int`, in its order.
fn fields_of(time: i128) -> [i64; 9] {
    // What lies further away fits no `int`.
    let time = time.clamp(-(1 << 55), 1 << 55) as i64;
    let (days, second) = (time.div_euclid(86_400), time.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    let year_day = days - days_from(year, 1, 1);
    let week_day = (days + 4).rem_euclid(7);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    [second % 60, minute, hour, day, month, year - 1900, week_day, year_day, 0]
}

fn seconds(fields: &[i64; 9]) -> i64 {
    let [second, minute, hour, day, month, year, ..] = *fields;
    let year = year + 1900 + month.div_euclid(12);
    let days = days_from(year, month.rem_euclid(12) + 1, 1) + day - 1;
    ((days * 24 + hour) * 60 + minute) * 60 + second
}

/// What a format of `strftime` makes of a time; `None` where it is not known here.
fn expand(format: &str, tm: &[i64; 9]) -> Option<String> {
    let mut out = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let name = |names: &[&'static str], at: i64| {
            usize::try_from(at).ok().and_then(|at| names.get(at).copied()).unwrap_or("?")
        };
        let hour = if tm[2] % 12 == 0 { 12 } else { tm[2] % 12 };
        let text = match rest.next()? {
            'a' => name(&DAYS, tm[6]).chars().take(3).collect(),
            'A' => name(&DAYS, tm[6]).to_owned(),
            'b' | 'h' => name(&MONTHS, tm[4]).chars().take(3).collect(),
            'B' => name(&MONTHS, tm[4]).to_owned(),
            'c' => expand("%a %b %e %H:%M:%S %Y", tm)?,
            'd' => format!("{:02}", tm[3]),
            'D' | 'x' => expand("%m/%d/%y", tm)?,
            'e' => format!("{:2}", tm[3]),
            'F' => expand("%Y-%m-%d", tm)?,
            'H' => format!("{:02}", tm[2]),
            'I' => format!("{hour:02}"),
            'j' => format!("{:03}", tm[7] + 1),
            'm' => format!("{:02}", tm[4] + 1),
            'M' => format!("{:02}", tm[1]),
            'n' => "\n".to_owned(),
            'p' => if tm[2] < 12 { "AM" } else { "PM" }.to_owned(),
            'R' => expand("%H:%M", tm)?,
            's' => seconds(tm).to_string(),
            'S' => format!("{:02}", tm[0]),
            't' => "\t".to_owned(),
            'T' | 'X' => expand("%H:%M:%S", tm)?,
            'u' => (if tm[6] == 0 { 7 } else { tm[6] }).to_string(),
            'w' => tm[6].to_string(),
            'y' => format!("{:02}", tm[5].rem_euclid(100)),
            'Y' => (tm[5] + 1900).to_string(),
            'z' => "+0000".to_owned(),
            'Z' => "UTC".to_owned(),
            '%' => "%".to_owned(),
            _ => return None,
        };
        out.push_str(&text);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{expand, fields_of, seconds};

    #[test]
    fn times_are_those_of_the_calendar() {
        let iso = |time| expand("%F %T %a %j", &fields_of(time)).unwrap();
        assert!(super::has_date(0) && !super::has_date(1 << 60));
        assert_eq!(iso(0), "1970-01-01 00:00:00 Thu 001");
        assert_eq!(iso(951_782_399), "2000-02-28 23:59:59 Mon 059");
        assert_eq!(iso(951_868_800), "2000-03-01 00:00:00 Wed 061");
        assert_eq!(iso(-1), "1969-12-31 23:59:59 Wed 365");
        for time in [0, 951_868_799, 1_709_210_096, -86_401] {
            assert_eq!(i128::from(seconds(&fields_of(time))), time);
        }
    }
}
