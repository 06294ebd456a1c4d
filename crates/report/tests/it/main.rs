//! Reports as their readers get them, each checked by what its readers check with.

mod browser;
mod diff;
mod html;
mod sarif;
mod schema;
mod snapshots;
mod support;
