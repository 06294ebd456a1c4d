//! Whole diagnoses of C text.

mod beyond;
mod checks;
mod common;
mod constants;
mod figures;
mod functions;
mod library;
mod members;
mod mistakes;
mod numbers;
mod omissions;
mod outside;
mod places;
mod search;
mod told;
