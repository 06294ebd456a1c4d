//! Queries: the questions raised at observable points, and what became of them.

use base::define_id;
use findings::{Place, Segment};
use program::{BlockId, FunctionId, InstId, LocId, Program};
use rustc_hash::FxHashMap;

define_id!(/// A query of one run, in program order.
    QueryId);

/// Whether a constraint can be violated at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Index of the rule.
    pub rule: u32,
    /// Index of the observation among the rule's matches at the point.
    pub point: u32,
    pub function: FunctionId,
    pub at: At,
}

/// One fault: a violated query, and for those asked wherever a function returns the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaultKey {
    pub query: QueryId,
    /// Unknown where the query has a place of its own.
    pub loc: LocId,
}

impl FaultKey {
    /// Of a query that stands at one place.
    pub fn of(query: QueryId) -> Self {
        Self { query, loc: LocId::UNKNOWN }
    }
}

/// Where in its function a query stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    Inst(InstId),
    /// Where control leaves a block.
    End(BlockId),
    /// Wherever the function returns.
    Exit,
}

/// Queries by the point they are asked at.
pub type Points = FxHashMap<(FunctionId, At), Vec<QueryId>>;

impl Query {
    pub fn loc(&self, program: &Program) -> LocId {
        let function = &program.functions[self.function];
        match (self.at, &function.body) {
            (At::Inst(inst), Some(body)) => body.insts[inst].loc,
            (At::End(block), Some(body)) => body.blocks[block].loc,
            _ => function.loc,
        }
    }
}

/// A violation on a path, in plain data: it outlives the search that found it.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub message: String,
    pub input_dependent: bool,
    pub segment: Segment,
    pub error_state: String,
    /// Where it shows, if not at the query's own place.
    pub place: Option<Place>,
    /// Where the object came from that an exit query is about.
    pub origin: Option<Place>,
}

/// What one search says of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Whether some path came to the point.
    pub reached: bool,
    /// At an exit several, one for each object; otherwise at most one.
    pub violations: Vec<Violation>,
    /// Paths on which the violation is up to the outermost function's callers.
    pub needs_callers: bool,
    /// What must hold at entry, in C terms, where that is simple.
    pub requires: Option<String>,
    /// The first thing that left the question open on some path.
    pub open: Option<(String, LocId)>,
    /// Paths were left out.
    pub cut: Option<(String, LocId)>,
}

/// What is known of a query in the end.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    Safe,
    /// No path reaches the point.
    Infeasible,
    Unsafe(Vec<Violation>),
    /// Callers that are not part of the program decide.
    Contract {
        function: FunctionId,
        requires: Option<String>,
    },
    DontKnow {
        reason: String,
        at: Place,
    },
}
