//! Keepers that wait for the next run: each has one run at a time, and starting one takes
//! longer than a run.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

use super::Level;
use super::keeper::Keeper;

/// What runs of a keeper have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub is_confined: bool,
    pub network: bool,
}

static IDLE: Mutex<BTreeMap<Kind, Vec<Keeper>>> = Mutex::new(BTreeMap::new());

pub(super) fn take(kind: Kind) -> io::Result<Keeper> {
    let mut idle = IDLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    while let Some(keeper) = idle.get_mut(&kind).and_then(Vec::pop) {
        // Somebody else may have killed it.
        if keeper.is_idle() {
            return Ok(keeper);
        }
    }
    drop(idle);
    let wanted = if kind.is_confined { Level::Full } else { Level::Limits };
    Keeper::start_new(wanted, kind.network)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot start a sandbox: {error}")))
}

pub(super) fn give_back(kind: Kind, keeper: Keeper) {
    let mut idle = IDLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    idle.entry(kind).or_default().push(keeper);
}

/// How confined runs are on this machine, and why not more.
pub fn probe() -> io::Result<(Level, String)> {
    let kind = Kind { is_confined: true, network: false };
    let keeper = take(kind)?;
    let found = (keeper.level(), keeper.why().to_owned());
    give_back(kind, keeper);
    Ok(found)
}
