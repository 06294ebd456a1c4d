//! The real binary on real input, good and bad, as a user would run it.

mod bad_input;
mod beliefs;
mod bugfix;
mod cache;
mod config;
mod correlate;
mod crash;
mod crash_bad_input;
mod determinism;
mod diagnose;
mod hostile;
mod identity;
mod inputs;
mod interrupt;
mod locate;
mod locate_project;
mod lsp;
mod output;
mod readme;
mod sandbox;
mod show;
mod spec;
mod support;
