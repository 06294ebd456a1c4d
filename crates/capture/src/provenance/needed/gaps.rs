//! What is left out, line by line.

use std::ops::Range;

/// Ranges of the text to leave out, met in order as its lines are.
pub struct Gaps<'r> {
    ranges: &'r [Range<usize>],
    offset: usize,
}

/// What of a line is left out.
pub enum Left {
    Nothing,
    All,
    /// Ranges of the line.
    Parts(Vec<Range<usize>>),
}

impl<'r> Gaps<'r> {
    pub fn new(ranges: &'r [Range<usize>]) -> Self {
        Self { ranges, offset: 0 }
    }

    /// Takes the next line.
    pub fn next_line(&mut self, line: &[u8]) -> Left {
        let (start, end) = (self.offset, self.offset + line.len());
        self.offset = end + 1;
        let n_passed = self.ranges.iter().take_while(|range| range.end <= start).count();
        self.ranges = &self.ranges[n_passed..];
        let here = self.ranges.iter().take_while(|range| range.start < end);
        let parts: Vec<Range<usize>> =
            here.map(|range| range.start.max(start) - start..range.end.min(end) - start).collect();
        match parts.as_slice() {
            [] => Left::Nothing,
            parts if without(line, parts).iter().all(u8::is_ascii_whitespace) => Left::All,
            _ => Left::Parts(parts),
        }
    }
}

/// `line` with blanks for `parts` of it.
pub fn without(line: &[u8], parts: &[Range<usize>]) -> Vec<u8> {
    let mut line = line.to_vec();
    for part in parts {
        line[part.clone()].fill(b' ');
    }
    line
}
