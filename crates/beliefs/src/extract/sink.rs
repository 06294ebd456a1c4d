//! Where extractors put their rows.

use program::LocId;

use super::function::Fun;
use crate::event::{Event, Events, Kind, MACRO, Outcome, Symbol};

/// The events of a unit so far.
#[derive(Default)]
pub struct Sink {
    events: Events,
    next_site: u32,
    function: Symbol,
}

/// A row before it has a place.
pub struct Row<'a> {
    pub kind: Kind,
    pub outcome: Outcome,
    pub a: &'a str,
    pub b: &'a str,
    pub detail: &'a str,
    pub flags: u32,
    pub with: u32,
    pub without: u32,
    pub other_line: u32,
}

impl<'a> Row<'a> {
    pub fn new(kind: Kind, outcome: Outcome, a: &'a str) -> Self {
        Self { kind, outcome, a, b: "", detail: "", flags: 0, with: 0, without: 0, other_line: 0 }
    }
}

impl Sink {
    pub fn enter(&mut self, fun: &Fun) {
        self.function = self.events.strings.intern(&fun.function.name);
    }

    /// A number for a place whose rows belong together.
    pub fn site(&mut self) -> u32 {
        self.next_site += 1;
        self.next_site
    }

    pub fn add(&mut self, fun: &Fun, loc: LocId, site: u32, row: Row) {
        let place = &fun.program.locs[loc];
        let file = fun.program.files.get(place.file).map_or("", |file| file.path.as_str());
        let in_macro = if fun.macro_body(loc).is_some() { MACRO } else { 0 };
        let strings = &mut self.events.strings;
        let event = Event {
            kind: row.kind,
            outcome: row.outcome,
            site,
            function: self.function,
            file: strings.intern(file),
            line: place.line,
            column: place.column,
            a: strings.intern(row.a),
            b: strings.intern(row.b),
            detail: strings.intern(row.detail),
            flags: row.flags | in_macro,
            with: row.with,
            without: row.without,
            other_line: row.other_line,
        };
        self.events.rows.push(event);
    }

    pub fn finish(self) -> Events {
        self.events
    }
}
