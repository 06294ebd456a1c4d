//! The fault specification language: what is a fault, where it can be observed, and what
//! contributes to it, said in a text file instead of a program.
//!
//! [`check`](check::check) parses and checks one specification; [`rules::Rules`] joins
//! faults and models into what the detection engine runs; [`matcher`] finds the places in a
//! program; [`lower`] turns conditions and transitions into formulas and effects.

pub mod ast;
pub mod attribute;
pub mod c;
pub mod check;
pub mod diagnostic;
pub mod discover;
pub mod event;
pub mod facts;
pub mod format;
mod lexer;
pub mod lower;
pub mod matcher;
pub mod parser;
pub mod print;
pub mod rules;
pub mod scaffold;
pub mod show;
pub mod text;

pub use discover::{LoadError, Loaded};
pub use rules::Rules;

pub use diagnostic::{Diagnostic, Level, Span};
