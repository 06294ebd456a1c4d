//! Whole diagnoses of C text.

mod checks;
mod common;
mod figures;
mod library;
mod mistakes;
mod places;
mod search;
mod told;
