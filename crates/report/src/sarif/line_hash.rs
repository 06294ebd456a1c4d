//! The identity GitHub's code scanning gives a line: `primaryLocationLineHash`.
//!
//! A report with the value GitHub itself would compute is matched with earlier reports,
//! whichever way it was uploaded. The value of a line is a number in base 37, modulo 2^64,
//! whose digits are the first hundred UTF-16 units from the beginning of the line on, blanks
//! left out; equal ones are counted in the order of lines.

use std::collections::HashMap;

const N_DIGITS: usize = 100;
const BASE: u64 = 37;
/// The digit that ends a file.
const END: u64 = 0xffff;

/// The values of all lines, first line first.
pub fn line_hashes(content: &[u8]) -> Vec<String> {
    let (digits, starts) = digits(&String::from_utf8_lossy(content));
    let mut seen: HashMap<u64, u32> = HashMap::new();
    let name = |start: &usize| {
        let known = digits[*start..].iter().copied().chain(std::iter::repeat(0)).take(N_DIGITS);
        let hash = known.fold(0u64, |sum, digit| sum.wrapping_mul(BASE).wrapping_add(digit));
        let nth = seen.entry(hash).or_insert(0);
        *nth += 1;
        format!("{hash:x}:{nth}")
    };
    starts.iter().map(name).collect()
}

/// The text without blanks and with one kind of line end, and where its lines begin.
fn digits(text: &str) -> (Vec<u64>, Vec<usize>) {
    const NEW_LINE: u64 = b'\n' as u64;
    let mut digits: Vec<u64> = Vec::with_capacity(text.len());
    let mut starts = vec![0];
    let mut after_return = false;
    for unit in text.encode_utf16() {
        let is_pair = after_return && unit == u16::from(b'\n');
        after_return = unit == u16::from(b'\r');
        if unit == u16::from(b' ') || unit == u16::from(b'\t') || is_pair {
            continue;
        }
        digits.push(if after_return { NEW_LINE } else { u64::from(unit) });
        if digits.last() == Some(&NEW_LINE) {
            starts.push(digits.len());
        }
    }
    digits.push(END);
    (digits, starts)
}

#[cfg(test)]
mod tests {
    use super::line_hashes;

    /// Values that GitHub's upload action gives.
    #[test]
    fn the_values_are_those_of_github() {
        let expected =
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"];
        assert_eq!(line_hashes(b" a\nb\n  \t\tc\n d"), expected);
        assert_eq!(line_hashes(b" a\r\nb\r\n  \t\tc\r\n d"), expected);
        assert_eq!(line_hashes(b""), ["c129715d7a2bc9a3:1"]);
    }

    #[test]
    fn equal_lines_are_told_apart_by_their_number() {
        let text = "x = 1;\n".repeat(300);
        let hashes = line_hashes(text.as_bytes());
        assert_eq!(hashes.len(), 301);
        let (first, second) = (&hashes[0], &hashes[1]);
        assert_eq!(first.split(':').next(), second.split(':').next());
        assert!(first.ends_with(":1") && second.ends_with(":2"));
    }

    #[test]
    fn hostile_text_has_values_too() {
        assert_eq!(line_hashes(b"\xff\x00\n\r\r\n").len(), 4);
    }
}
