//! Whole diagnoses of C text.

mod common;
mod figures;
mod library;
mod mistakes;
mod numbers;
mod places;
mod search;
mod told;
