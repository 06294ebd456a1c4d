//! The repair program: the user's text in which every edit can be switched on by a selector.
//!
//! Each site becomes `(selector[site] ? selector[site] < 2 ? (first alternative) : (second)
//! : (original))`, the paper's 3.2 with the annotation library of 4.2, so that one compilation
//! serves every edit and a site that is not switched on costs one question. Whole expressions are
//! sites, since a choice between parts of different types converts both. A statement that is
//! added becomes `if (selector[site] == k && (condition)) exit`. Lines stay where they are.

use std::collections::BTreeMap;
use std::ops::Range;

use syntax::Source;

use crate::edits::{Edit, Fate};

/// A file with selectors.
pub struct Meta {
    pub text: Vec<u8>,
    /// The global array of selectors.
    pub global: String,
    /// Element and value that switch each edit on, in the order of the edits.
    pub selectors: Vec<(u32, u32)>,
    /// Where each edit's alternative went.
    places: Vec<Range<usize>>,
}

/// The name of a file's selectors.
pub fn selector_global(file: usize) -> String {
    format!("firstfault_selector_{file}")
}

impl Meta {
    /// Writes all edits of one file into its text.
    pub fn write(source: &Source, file: usize, edits: &[Edit]) -> Meta {
        let global = selector_global(file);
        let mut by_site: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        let mut guards: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, edit) in edits.iter().enumerate() {
            if edit.guard.is_some() {
                guards.entry(edit.site.start).or_default().push(index);
                continue;
            }
            by_site.entry((edit.site.start, edit.site.end)).or_default().push(index);
        }
        // Outer sites before inner ones that start with them.
        let mut sites: Vec<(usize, usize)> = by_site.keys().copied().collect();
        sites.sort_by_key(|(start, end)| (*start, usize::MAX - end));
        let mut selectors = vec![(0, 0); edits.len()];
        for (number, site) in sites.iter().enumerate() {
            for (value, edit) in (1..).zip(&by_site[site]) {
                selectors[*edit] = (number as u32, value);
            }
        }
        for (number, at) in guards.values().enumerate() {
            for (value, edit) in (1..).zip(at) {
                selectors[*edit] = ((sites.len() + number) as u32, value);
            }
        }
        let n_selectors = sites.len() + guards.len();
        let mut writer = Writer {
            source,
            guards,
            selectors: &selectors,
            edits,
            by_site: &by_site,
            sites: &sites,
            global: &global,
            out: Vec::new(),
            places: vec![0..0; edits.len()],
        };
        let first = source.functions().first().map_or(0, |function| function.bytes.start);
        writer.out.extend_from_slice(&source.text()[..first]);
        let declaration = format!("static int {global}[{}]; ", n_selectors.max(1));
        writer.out.extend_from_slice(declaration.as_bytes());
        writer.range(first..source.text().len(), 0);
        let Writer { out, places, .. } = writer;
        Meta { text: out, global, selectors, places }
    }

    /// The edits whose alternative stands at this place of the text; where none does, those
    /// whose line it is.
    pub fn edits_at(&self, line: u32, column: u32) -> Vec<usize> {
        let mut start = 0;
        for _ in 1..line {
            let Some(end) = self.text[start..].iter().position(|byte| *byte == b'\n') else {
                return Vec::new();
            };
            start += end + 1;
        }
        let at = start + (column as usize).saturating_sub(1);
        let places = || self.places.iter().enumerate();
        let inside: Vec<usize> =
            places().filter(|(_, place)| place.contains(&at)).map(|(index, _)| index).collect();
        if !inside.is_empty() {
            return inside;
        }
        let length = self.text[start..].iter().position(|byte| *byte == b'\n');
        let end = length.map_or(self.text.len(), |length| start + length);
        places().filter(|(_, p)| p.start >= start && p.end <= end).map(|(index, _)| index).collect()
    }
}

struct Writer<'a> {
    source: &'a Source,
    edits: &'a [Edit],
    /// Statements that are added, by where; each is written once.
    guards: BTreeMap<usize, Vec<usize>>,
    selectors: &'a [(u32, u32)],
    by_site: &'a BTreeMap<(usize, usize), Vec<usize>>,
    sites: &'a [(usize, usize)],
    global: &'a str,
    out: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl Writer<'_> {
    /// Writes some bytes, with the sites from `from` on that lie inside them.
    fn range(&mut self, bytes: Range<usize>, mut from: usize) {
        let mut at = bytes.start;
        while let Some(&(start, end)) = self.sites.get(from) {
            if start >= bytes.end {
                break;
            }
            if start < at || end > bytes.end {
                from += 1;
                continue;
            }
            self.copy(at..start);
            self.site(from, start..end);
            at = end;
            from += 1;
        }
        self.copy(at..bytes.end);
    }

    /// Writes some bytes as they are, with what is added in or behind them. Statements begin
    /// before the expressions in them, so it never comes into one.
    fn copy(&mut self, bytes: Range<usize>) {
        let mut at = bytes.start;
        while let Some((&place, _)) = self.guards.range(bytes.start..=bytes.end).next() {
            self.out.extend_from_slice(&self.source.text()[at..place]);
            at = place;
            for edit in self.guards.remove(&place).unwrap_or_default() {
                self.guard(edit);
            }
        }
        self.out.extend_from_slice(&self.source.text()[at..bytes.end]);
    }

    fn guard(&mut self, edit: usize) {
        let Some(guard) = &self.edits[edit].guard else { return };
        let (number, value) = self.selectors[edit];
        let start = self.out.len();
        let text = format!(
            "if ({}[{number}]=={value}&&({})) {} ",
            self.global, guard.condition, guard.exit
        );
        self.out.extend_from_slice(text.as_bytes());
        self.places[edit] = start..self.out.len();
    }

    fn site(&mut self, number: usize, bytes: Range<usize>) {
        let edits = &self.by_site[&(bytes.start, bytes.end)];
        let fate = &self.edits[edits[0]].fate;
        self.out.extend_from_slice(format!("({}[{number}]?", self.global).as_bytes());
        self.alternatives((number, 1), edits, fate);
        self.out.push(b':');
        self.out.extend_from_slice(wrapper(fate).as_bytes());
        self.out.push(b'(');
        self.range(bytes, number + 1);
        self.out.extend_from_slice(b"))");
    }

    /// A tree of questions, so that many alternatives take few.
    fn alternatives(&mut self, (number, first): (usize, usize), edits: &[usize], fate: &Fate) {
        if let [edit] = edits {
            self.out.extend_from_slice(wrapper(fate).as_bytes());
            self.out.push(b'(');
            let start = self.out.len();
            // Alternatives stay on the line they belong to.
            let text = self.edits[*edit].site_text.replace(['\n', '\r'], " ");
            self.out.extend_from_slice(text.as_bytes());
            self.places[*edit] = start..self.out.len();
            self.out.push(b')');
            return;
        }
        let (lower, upper) = edits.split_at(edits.len() / 2);
        let next = first + lower.len();
        self.out.extend_from_slice(format!("({}[{number}]<{next}?", self.global).as_bytes());
        self.alternatives((number, first), lower, fate);
        self.out.push(b':');
        self.alternatives((number, next), upper, fate);
        self.out.push(b')');
    }
}

/// Makes the same type of all alternatives, without a change of what becomes of them.
fn wrapper(fate: &Fate) -> String {
    match fate {
        Fate::Dropped => "(void)".to_owned(),
        Fate::Tested => "!!".to_owned(),
        Fate::Converted(ty) => format!("({ty})"),
        Fate::Kept => String::new(),
    }
}
