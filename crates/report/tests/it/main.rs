//! Reports as their readers get them, each checked by what its readers check with.

mod sarif;
mod schema;
mod support;
