//! Questions that many readers of a program ask.

mod body;
mod types;

pub use body::{Uses, reverse_post_order};
