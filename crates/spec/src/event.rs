//! Events: places that are not one shape of code. The engine announces some at
//! instructions, models announce them at calls, faults observe them.

use crate::ast::VarKind;

pub struct Event {
    pub name: &'static str,
    pub params: &'static [&'static [VarKind]],
    pub summary: &'static str,
    /// Whether models may announce it; the others come from the engine alone.
    pub announced_by_models: bool,
}

const POINTER: &[VarKind] = &[VarKind::Ptr, VarKind::Buffer];
const NUMBER: &[VarKind] = &[VarKind::Int];
const ANY: &[VarKind] =
    &[VarKind::Any, VarKind::Ptr, VarKind::Buffer, VarKind::Int, VarKind::Float];

const fn announced(
    name: &'static str,
    params: &'static [&'static [VarKind]],
    summary: &'static str,
) -> Event {
    Event { name, params, summary, announced_by_models: true }
}

const fn special(
    name: &'static str,
    params: &'static [&'static [VarKind]],
    summary: &'static str,
) -> Event {
    Event { name, params, summary, announced_by_models: false }
}

pub static EVENTS: [Event; 16] = [
    announced("read", &[POINTER, NUMBER], "so many bytes are read where the pointer points"),
    announced("write", &[POINTER, NUMBER], "so many bytes are written where the pointer points"),
    announced("string", &[POINTER], "the memory is read as a string, up to its zero"),
    announced("wstring", &[POINTER], "the memory is read as a string of wide characters"),
    announced("access", &[POINTER, NUMBER], "a read or a write; without bytes, of a string too"),
    announced("free", &[POINTER], "the object is released"),
    announced("io", &[ANY], "an open stream or descriptor is needed"),
    announced("close", &[ANY], "a stream or descriptor is closed"),
    announced("use", &[ANY], "the value decides something: arithmetic, a branch, an argument"),
    announced("lock", &[ANY], "a lock is taken"),
    announced("unlock", &[ANY], "a lock is released"),
    announced("thread-entry", &[ANY], "a thread starts with this argument"),
    special("entry", &[], "the function starts"),
    special("exit", &[ANY], "the function ends; the object is one a contributing point touched"),
    special("lost", &[ANY], "the last reference to the object the function owns goes away"),
    special("back-edge", &[], "a loop starts another iteration"),
];

pub fn find(name: &str) -> Option<&'static Event> {
    EVENTS.iter().find(|event| event.name == name)
}

/// Whether a word where a place or a command may stand begins an event.
pub fn starts_event(word: &str) -> bool {
    word == SCAN || find(word).is_some()
}

/// The effects of a scanf-like format on the remaining arguments, as a command of models.
pub const SCAN: &str = "scan";

/// Whether an event observed as `observed` includes one announced as `announced`.
pub fn covers(observed: &str, announced: &str) -> bool {
    observed == announced
        || observed == "access" && matches!(announced, "read" | "write" | "string" | "wstring")
}
