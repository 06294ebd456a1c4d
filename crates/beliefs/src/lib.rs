//! Rules the code itself follows, and where it breaks them.
//!
//! Units are first summarised ([`known`]), then turned into events ([`extract`]), each on its
//! own; [`aggregate`] counts the events of all units by template and ranks what deviates.

pub mod aggregate;
pub mod columns;
pub mod event;
pub mod extract;
pub mod known;
mod latent;
pub mod plant;
pub mod rank;
pub mod template;

pub use aggregate::{Units, deviations, deviations_of};
pub use event::Events;
pub use extract::{extract, summarise};
pub use known::{Known, Settings, UnitSummary};
pub use template::{Belief, Template, TemplateError, settings};
