//! Suggestions for fixing a statement, learned from how similar ones were fixed.
//!
//! A *debugging situation* is a set of *situation descriptors* of a suspicious statement: its
//! structure, patterns in its IVMPs and in the values it had. A *scenario* is a situation with the
//! descriptions of its fix. From scenarios come association rules, and for a new situation the
//! rules that apply to it give an ordered list of suggestions (D. Jeffrey, *Dynamic State
//! Alteration Techniques for Automatically Locating Software Errors*, chapter 8).

mod apriori;
mod best_rules;
mod change;
mod database;
mod describe;
mod direction;
mod edits;
mod evaluate;
mod likely;
mod literal;
pub mod patch;
mod patterns;
mod repository;
mod rules;
mod scenario;
mod scope;
mod shipped;
mod situation;
mod store;
mod structure;
mod suggested;
mod term;

pub use apriori::{Rules, apriori};
pub use best_rules::{BestRules, best_rules};
pub use change::{NoFix, StatementFix, statement_fix};
pub use database::Database;
pub use describe::Fixes;
pub use edits::{Candidate, candidates};
pub use evaluate::{Judged, LeaveOut, evaluate, evaluate_on};
pub use patterns::{alternates, value_descriptors};
pub use repository::{ChangedBlob, PastFix, Repository, RepositoryError};
pub use rules::{Ranked, Rule, Thresholds, in_reading_order, prioritise, rank_rules};
pub use scenario::{Scenario, Situation};
pub use scope::Scope;
pub use shipped::load_shipped;
pub use situation::{Evidence, deviation_descriptors, fault_descriptors, situation};
pub use store::{Store, StoreError};
pub use structure::structure_descriptors;
pub use suggested::{Suggested, Wanted, suggested};
