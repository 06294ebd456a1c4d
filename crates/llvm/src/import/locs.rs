//! Positions: from the preprocessed text, through the unit's source map, into the
//! program's interned locations.

use base::{IdVec, Origin, SourceMap, SourcePosition};
use program::{FileId, Loc, LocId, NameId, SourceFile};
use rustc_hash::FxHashMap;

use super::reader::{Read, Reader};

pub struct Locs<'a> {
    map: &'a SourceMap,
    pub files: IdVec<FileId, SourceFile>,
    pub names: IdVec<NameId, Box<str>>,
    pub locs: IdVec<LocId, Loc>,
    file_ids: FxHashMap<u32, FileId>,
    name_ids: FxHashMap<u32, NameId>,
    by_loc: FxHashMap<Loc, LocId>,
    by_place: FxHashMap<(u32, u32), LocId>,
    /// Where in the text the position that was read last lies: line and column, or zeros.
    pub last_place: (u32, u32),
}

impl<'a> Locs<'a> {
    /// File 0 is the unit's main file, so that the unknown location has a file to name.
    pub fn new(map: &'a SourceMap, unit_path: &str) -> Self {
        let mut locs = Self {
            map,
            files: IdVec::new(),
            names: IdVec::new(),
            locs: IdVec::new(),
            file_ids: FxHashMap::default(),
            name_ids: FxHashMap::default(),
            by_loc: FxHashMap::default(),
            by_place: FxHashMap::default(),
            last_place: (0, 0),
        };
        let main = locs.files.push(SourceFile { path: unit_path.to_string(), is_system: false });
        if let Some(index) = map.files.iter().position(|file| file == unit_path) {
            locs.file_ids.insert(index as u32, main);
        }
        locs.locs.push(Loc { file: main, line: 0, column: 0, origin: Origin::Plain });
        locs
    }

    /// A position as instructions have it: line 0 for none, else line and column.
    pub fn read(&mut self, reader: &mut Reader) -> Read<LocId> {
        let line = reader.small()?;
        self.last_place = (line, 0);
        if line == 0 {
            return Ok(LocId::UNKNOWN);
        }
        let column = reader.small()?;
        self.last_place = (line, column);
        Ok(self.at(line, column))
    }

    /// The location of a place in the preprocessed text; column 0 means the line.
    pub fn at(&mut self, line: u32, column: u32) -> LocId {
        if line == 0 {
            return LocId::UNKNOWN;
        }
        if let Some(&known) = self.by_place.get(&(line, column)) {
            return known;
        }
        let loc = self.lookup(line, column).map_or(LocId::UNKNOWN, |place| self.intern(place));
        self.by_place.insert((line, column), loc);
        loc
    }

    fn lookup(&self, line: u32, column: u32) -> Option<SourcePosition> {
        let found = if column == 0 { None } else { self.map.lookup(line, column) };
        found.or_else(|| {
            let first = self.map.entries.partition_point(|entry| entry.line < line);
            let entry = self.map.entries.get(first).filter(|entry| entry.line == line)?;
            let column = if column == 0 { 0 } else { entry.position.column };
            Some(SourcePosition { column, ..entry.position })
        })
    }

    fn intern(&mut self, place: SourcePosition) -> LocId {
        let origin = match place.origin {
            Origin::Plain => Origin::Plain,
            Origin::Argument(name) => self.name(name).map_or(Origin::Plain, Origin::Argument),
            Origin::Body(name) => self.name(name).map_or(Origin::Plain, Origin::Body),
        };
        let Some(file) = self.file(place.file) else { return LocId::UNKNOWN };
        let loc = Loc { file, line: place.line, column: place.column, origin };
        *self.by_loc.entry(loc).or_insert_with(|| self.locs.push(loc))
    }

    fn file(&mut self, index: u32) -> Option<FileId> {
        if let Some(&known) = self.file_ids.get(&index) {
            return Some(known);
        }
        let path = self.map.files.get(index as usize)?.clone();
        let id = self.files.push(SourceFile { path, is_system: self.map.is_system(index) });
        self.file_ids.insert(index, id);
        Some(id)
    }

    fn name(&mut self, index: u32) -> Option<NameId> {
        if let Some(&known) = self.name_ids.get(&index) {
            return Some(known);
        }
        let id = self.names.push(self.map.macros.get(index as usize)?.as_str().into());
        self.name_ids.insert(index, id);
        Some(id)
    }
}
