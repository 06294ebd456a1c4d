//! Whole diagnoses of C text.

mod beyond;
mod common;
mod figures;
mod functions;
mod library;
mod members;
mod mistakes;
mod places;
mod search;
mod told;
