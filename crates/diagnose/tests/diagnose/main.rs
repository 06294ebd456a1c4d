//! Whole diagnoses of C text.

mod common;
mod figures;
mod search;
