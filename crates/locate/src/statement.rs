//! Statements: the source lines that hold code.

use std::collections::{BTreeMap, BTreeSet};

use base::define_id;
use findings::Place;
use run::Program;

define_id!(/// A statement of the program under test.
    StatementId);

/// All statements, and which sites and segments belong to which.
#[derive(Clone, Debug, Default)]
pub struct StatementTable {
    /// In source order; the column is that of the first piece of code on the line.
    pub places: Vec<Place>,
    /// By site.
    pub of_site: Vec<u32>,
    /// By segment, without repetitions.
    of_segment: Vec<BTreeSet<u32>>,
    /// Statements that hold at least one value that can be replaced.
    pub with_sites: BTreeSet<u32>,
    /// Statements in which some value arises, instead of being passed on.
    origins: BTreeSet<u32>,
    /// Statements with a value that is no constant.
    varying: BTreeSet<u32>,
}

impl StatementTable {
    pub fn new(program: &Program) -> Self {
        let mut lines: BTreeMap<(&str, u32), (u32, &str)> = BTreeMap::new();
        let mut note = |file, line, column, function| {
            let entry = lines.entry((file, line)).or_insert((column, function));
            entry.0 = entry.0.min(column);
        };
        for segment in &program.segments {
            for at in &segment.positions {
                note(&at.file, at.line, at.column, &segment.function);
            }
        }
        for site in &program.sites {
            note(&site.at.file, site.at.line, site.at.column, &site.function);
        }
        let numbers: BTreeMap<(&str, u32), u32> =
            lines.keys().enumerate().map(|(index, key)| (*key, index as u32)).collect();
        let number = |file: &str, line| numbers[&(file, line)];
        let of_site: Vec<u32> =
            program.sites.iter().map(|site| number(&site.at.file, site.at.line)).collect();
        let of_segment = program
            .segments
            .iter()
            .map(|segment| segment.positions.iter().map(|at| number(&at.file, at.line)).collect())
            .collect();
        let places = lines
            .iter()
            .map(|((file, line), (column, function))| Place {
                file: file.to_string(),
                line: *line,
                column: *column,
                function: function.to_string(),
            })
            .collect();
        let with_sites = of_site.iter().copied().collect();
        let having = |is: &dyn Fn(&llvm::instrument::Site) -> bool| {
            let sites = program.sites.iter().zip(&of_site);
            sites.filter(|(site, _)| is(site)).map(|(_, s)| *s).collect()
        };
        let origins = having(&|site| site.is_origin);
        let varying = having(&|site| !site.is_constant);
        Self { places, of_site, of_segment, with_sites, origins, varying }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether some value arises in the statement, instead of being passed on.
    pub fn is_origin(&self, id: StatementId) -> bool {
        self.origins.contains(&id.0)
    }

    /// Whether nothing but constants takes effect in the statement.
    pub fn is_constant(&self, id: StatementId) -> bool {
        !self.varying.contains(&id.0)
    }

    pub fn place(&self, id: StatementId) -> &Place {
        &self.places[id.0 as usize]
    }

    /// The statements a run executed, from its segments.
    pub fn covered(&self, segments: &[bool]) -> BTreeSet<StatementId> {
        let hit = self.of_segment.iter().zip(segments).filter(|(_, ran)| **ran);
        hit.flat_map(|(statements, _)| statements.iter().map(|s| StatementId(*s))).collect()
    }
}
