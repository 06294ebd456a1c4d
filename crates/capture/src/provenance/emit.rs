//! Writing the text to compile, and the map from it to the sources.

use std::path::Path;

use base::SourceMap;
use base::source::{Origin, SourceMapEntry, SourcePosition};
use rustc_hash::FxHashMap;

use super::Prepared;

/// Debug information keeps 16 bits of a column, so lines end before this one.
pub const MAX_COLUMN: usize = 60_000;

pub struct Output {
    text: Vec<u8>,
    line: u32,
    map: SourceMap,
    files: FxHashMap<(Box<Path>, bool), u32>,
    macros: FxHashMap<Box<[u8]>, u32>,
}

impl Output {
    pub fn new(capacity: usize) -> Self {
        Self {
            text: Vec::with_capacity(capacity),
            line: 1,
            map: SourceMap::default(),
            files: FxHashMap::default(),
            macros: FxHashMap::default(),
        }
    }

    pub fn file(&mut self, path: &Path, is_system: bool) -> u32 {
        let key = (Box::from(path), is_system);
        *self.files.entry(key).or_insert_with(|| {
            self.map.files.push(path.to_string_lossy().into_owned());
            self.map.system_files.push(is_system);
            (self.map.files.len() - 1) as u32
        })
    }

    pub fn macro_name(&mut self, name: &[u8]) -> u32 {
        if let Some(&index) = self.macros.get(name) {
            return index;
        }
        let index = self.map.macros.len() as u32;
        self.map.macros.push(String::from_utf8_lossy(name).into_owned());
        self.macros.insert(Box::from(name), index);
        index
    }

    /// A line of which at most its source line is known.
    pub fn whole_line(&mut self, line: &[u8], position: Option<SourcePosition>) {
        if let Some(position) = position {
            self.map_from(1, position);
        }
        self.text.extend_from_slice(line);
        self.end_line();
    }

    /// A line of code, token by token: `tokens` says where each begins and ends in `line`,
    /// `positions` where it came from.
    pub fn code_line(
        &mut self,
        line: &[u8],
        tokens: &[(usize, usize)],
        positions: &[SourcePosition],
    ) {
        let mut line_start = 0;
        for (index, (&(start, end), &position)) in tokens.iter().zip(positions).enumerate() {
            // A `#` must not become the first of a line: it would begin a directive.
            let may_break = index > 0 && !matches!(line[start], b'#' | b'%');
            if end - line_start > MAX_COLUMN && may_break {
                self.text.extend_from_slice(&line[line_start..tokens[index - 1].1]);
                self.end_line();
                line_start = start;
            }
            self.map_from((start - line_start + 1) as u32, position);
        }
        self.text.extend_from_slice(&line[line_start..]);
        self.end_line();
    }

    fn end_line(&mut self) {
        self.text.push(b'\n');
        self.line += 1;
    }

    /// From `column` of the current line on, the text comes from `position`; no entry is
    /// made where the run before says so already.
    fn map_from(&mut self, column: u32, position: SourcePosition) {
        if let Some(last) = self.map.entries.last()
            && last.line == self.line
        {
            let mut implied = last.position;
            if implied.column != 0 && !matches!(implied.origin, Origin::Body(_)) {
                implied.column += column - last.column;
            }
            if implied == position {
                return;
            }
        }
        self.map.entries.push(SourceMapEntry { line: self.line, column, position });
    }

    pub fn finish(mut self) -> Prepared {
        self.map.entries.shrink_to_fit();
        self.text.shrink_to_fit();
        Prepared { text: self.text, map: self.map }
    }
}
