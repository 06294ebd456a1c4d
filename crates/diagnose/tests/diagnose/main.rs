//! Whole diagnoses of C text.

mod common;
mod constants;
mod figures;
mod library;
mod mistakes;
mod numbers;
mod omissions;
mod outside;
mod places;
mod search;
mod told;
