//! Locates faulty statements by Value Replacement: in each failing run, the value used at
//! each instance of a statement is replaced by values other runs used there; a statement
//! where that makes runs pass is likely faulty. Statements tie-break by coverage formulas,
//! which are available alone as well.
//!
//! The words are the paper's: a *value profile* is what was seen at each site, an *IVMP*
//! (interesting value mapping pair) a replacement that turned a failing run around.

mod consistency;
mod evidence;
mod examine;
mod formula;
mod ivmp;
mod line_map;
mod multiple;
mod parallel;
mod rank;
mod request;
mod rounds;
mod session;
mod statement;
mod to_findings;

pub use consistency::{Consistency, StatementChange, Support, consistency};
pub use examine::{Examined, Which, examine};
pub use formula::{Formula, Spectrum};
pub use ivmp::{Ivmps, Search, SearchStats, Searcher, StatementIvmp};
pub use multiple::{Partial, RankRuns, clusters};
pub use rank::{FailingRun, Order, Ranked, rank, rank_as_paper, rank_by_formula, rank_runs, score};
pub use request::{Built, Located, Ranking, Request, RequestError, locate};
pub use rounds::{Answer, Question, Recompute, locate_clusters, locate_in_rounds};
pub use run::{Allowed, BuildOptions, Preprocessed, Source};
pub use session::{LocateError, Options, RunCost, Session, SetAside, TestRun};
pub use statement::{StatementId, StatementTable};
pub use to_findings::to_findings;
