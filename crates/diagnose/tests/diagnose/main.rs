//! Whole diagnoses of C text.

mod common;
mod figures;
mod library;
mod mistakes;
mod omissions;
mod places;
mod search;
mod told;
