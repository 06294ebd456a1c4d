//! What functions outside the program do to pointers and memory.
//!
//! The table is data, in a notation small enough to review by eye; see [`table`]. It knows
//! pointers only: sizes, string lengths and failure are the business of the fault models.

mod parse;
mod table;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// What the result of an external function points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Returned {
    /// No pointer, or only null.
    #[default]
    Nothing,
    /// An object of its own for each call: allocation, or a handle such as `FILE`.
    Fresh,
    /// Exactly what this argument points to.
    Argument(u8),
    /// Somewhere within the object this argument points into.
    Within(u8),
    /// An object the library owns, one for each function.
    Static,
    /// Whatever the pointer stored at this argument's target points to.
    Pointee(u8),
}

/// A function argument that the external function calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The position of the function pointer.
    pub argument: u8,
    /// Which argument each of its parameters receives.
    pub passes: Vec<u8>,
    /// It runs in a thread of its own.
    pub is_thread: bool,
}

/// The effects of one external function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct External {
    pub returned: Returned,
    pub is_allocator: bool,
    pub never_returns: bool,
    /// Arguments whose target is written with bytes that hold no pointer we follow.
    pub writes: Vec<u8>,
    /// All arguments from here on are written (`scanf`).
    pub writes_from: Option<u8>,
    pub reads: Vec<u8>,
    pub reads_from: Option<u8>,
    pub frees: Vec<u8>,
    /// The argument that limits how many bytes are touched.
    pub size_argument: Option<u8>,
    /// `(to, from)`: what the target of `from` holds is copied, pointers included. `to` is
    /// `None` for the fresh result.
    pub copies: Vec<(Option<u8>, u8)>,
    /// `(to, value)`: the argument `value` itself, a pointer, is stored at `to`'s target
    /// (`strtol`'s end); `to` is `None` for the fresh result.
    pub stores: Vec<(u8, u8)>,
    pub callbacks: Vec<Callback>,
    /// Arguments the function keeps for later.
    pub keeps: Vec<u8>,
}

/// The effects of a function that has no body in the program, if it is a known one.
pub fn lookup(name: &str) -> Option<&'static External> {
    static TABLE: OnceLock<FxHashMap<&'static str, External>> = OnceLock::new();
    TABLE.get_or_init(|| parse::parse(table::EXTERNALS)).get(plain_name(name))
}

pub fn never_returns(name: &str) -> bool {
    lookup(name).is_some_and(|external| external.never_returns)
}

/// Fortified and otherwise renamed variants behave as the function they stand for.
fn plain_name(name: &str) -> &str {
    let name = name.strip_prefix('\u{1}').unwrap_or(name);
    let name = name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name);
    match name.strip_prefix("__").and_then(|rest| rest.strip_suffix("_chk")) {
        Some(plain) => plain,
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_parses_and_renamed_variants_are_found() {
        let memcpy = lookup("__memcpy_chk").unwrap();
        assert_eq!(memcpy.returned, Returned::Argument(0));
        assert_eq!(memcpy.copies, [(Some(0), 1)]);
        let qsort = lookup("qsort").unwrap();
        assert_eq!(qsort.callbacks[0].passes, [0, 0]);
        assert!(lookup("malloc").unwrap().is_allocator);
        assert!(!lookup("fopen").unwrap().is_allocator);
        assert!(never_returns("_exit") && !never_returns("printf"));
        assert_eq!(lookup("__isoc99_sscanf").unwrap().writes_from, Some(2));
        assert!(lookup("no_such_function").is_none());
    }
}
