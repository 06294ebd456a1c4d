//! The knowledge that comes with firstfault, so that the first use gives suggestions already.
//!
//! It was learned from faults seeded into the example programs of this repository by
//! `cargo xtask seed-knowledge`, one scenario a line.

use crate::{Database, Scenario};

const SHIPPED: &str = include_str!("../knowledge/shipped.jsonl");

/// Adds the shipped scenarios to a database.
pub fn load_shipped(database: &mut Database) {
    for scenario in SHIPPED.lines().filter_map(|line| serde_json::from_str::<Scenario>(line).ok()) {
        database.add(&scenario);
    }
}
