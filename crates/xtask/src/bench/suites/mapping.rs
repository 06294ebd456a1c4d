//! Words of the suites for kinds of faults, and our rules for them.

use super::model::{Expect, Kind};

pub const BOUNDS: &[&str] = &["buffer-overflow", "buffer-overread", "buffer-underflow"];
const INTEGER: &[&str] = &["integer-overflow"];

const NULL: Expect = Expect { kind: Kind::Null, rules: &["null-dereference"] };
const LEAK: Expect = Expect { kind: Kind::Leak, rules: &["leak"] };
const DESCRIPTOR_LEAK: Expect = Expect { kind: Kind::Descriptor, rules: &["leak"] };
const AFTER_CLOSE: Expect = Expect { kind: Kind::Descriptor, rules: &["write-after-close"] };
const AFTER_FREE: Expect = Expect { kind: Kind::UseAfterFree, rules: &["use-after-free"] };
const DOUBLE_FREE: Expect = Expect { kind: Kind::DoubleRelease, rules: &["double-free"] };
const DOUBLE_CLOSE: Expect =
    Expect { kind: Kind::DoubleRelease, rules: &["write-after-close", "double-free"] };
const INVALID_FREE: Expect = Expect { kind: Kind::InvalidFree, rules: &["invalid-free"] };
const UNSET: Expect = Expect { kind: Kind::Unset, rules: &["uninitialized-read"] };
const OUT_OF_BOUNDS: Expect = Expect { kind: Kind::Bounds, rules: BOUNDS };
const OVERFLOW: Expect = Expect { kind: Kind::Integer, rules: INTEGER };
const SIGN: Expect = Expect { kind: Kind::Integer, rules: &["integer-signedness"] };
const PRECISION: Expect = Expect { kind: Kind::Integer, rules: &["integer-truncation"] };
const DIVISION: Expect = Expect { kind: Kind::Division, rules: &["divide-by-zero"] };
const LOOP: Expect = Expect { kind: Kind::Loop, rules: &["infinite-loop"] };
const LOCK: Expect = Expect { kind: Kind::Lock, rules: &["lock-pairing"] };
const TAINTED_INDEX: Expect = Expect { kind: Kind::Taint, rules: BOUNDS };
const TAINTED_DIVISOR: Expect = Expect { kind: Kind::Taint, rules: &["divide-by-zero"] };

/// Infer's bug types. It calls a second free a use after free.
pub fn of_infer(bug_type: &str) -> Option<Expect> {
    let bug_type = bug_type.strip_suffix("_LATENT").unwrap_or(bug_type);
    Some(match bug_type {
        "NULLPTR_DEREFERENCE" | "NULL_DEREFERENCE" | "COMPARED_TO_NULL_AND_DEREFERENCED" => NULL,
        "MEMORY_LEAK_C" | "MEMORY_LEAK" => LEAK,
        "PULSE_RESOURCE_LEAK" | "RESOURCE_LEAK" => DESCRIPTOR_LEAK,
        "USE_AFTER_FREE" => {
            Expect { kind: Kind::UseAfterFree, rules: &["use-after-free", "double-free"] }
        }
        "PULSE_UNINITIALIZED_VALUE" | "UNINITIALIZED_VALUE" => UNSET,
        "INFINITE_LOOP" => LOOP,
        "DIVIDE_BY_ZERO" => DIVISION,
        name if name.starts_with("BUFFER_OVERRUN_") => OUT_OF_BOUNDS,
        name if name.starts_with("ARRAY_OUT_OF_BOUNDS_") => OUT_OF_BOUNDS,
        name if name.starts_with("INTEGER_OVERFLOW_") => OVERFLOW,
        _ => return None,
    })
}

/// Infer's confidence in numbers: level 1 and 2 are certain, the others may be false.
pub fn is_certain_for_infer(bug_type: &str) -> bool {
    let is_ranked =
        ["BUFFER_OVERRUN_", "INTEGER_OVERFLOW_"].iter().any(|start| bug_type.starts_with(start));
    !is_ranked || bug_type.ends_with("_L1") || bug_type.ends_with("_L2")
}

/// What a message holds, and what it is about; the first that fits counts.
type Phrases = [(&'static str, Option<Expect>)];

const GCC: &Phrases = &[
    ("-wanalyzer-", None), // Options are looked up before.
    ("terminating null", None),
    ("va_list", None),
    ("'va_", None),
    ("after already dereferencing", None),
    ("attacker-controlled value", None), // Told apart by `taint` before.
    ("bounds checking", Some(TAINTED_INDEX)),
    ("leak of file", Some(DESCRIPTOR_LEAK)),
    ("leak", Some(LEAK)),
    ("double-'free'", Some(DOUBLE_FREE)),
    ("double free", Some(DOUBLE_FREE)),
    ("double-'", Some(DOUBLE_FREE)),
    ("double 'fclose'", Some(DOUBLE_CLOSE)),
    ("double fclose", Some(DOUBLE_CLOSE)),
    ("double 'close'", Some(DOUBLE_CLOSE)),
    ("closed file descriptor", Some(AFTER_CLOSE)),
    ("use after 'fclose'", Some(AFTER_CLOSE)),
    ("use after", Some(AFTER_FREE)),
    ("use-after-free", Some(AFTER_FREE)),
    ("not on the heap", Some(INVALID_FREE)),
    ("which points to memory", Some(INVALID_FREE)),
    ("non-heap", Some(INVALID_FREE)),
    ("uninit", Some(UNSET)),
    ("possibly-null", Some(NULL)),
    ("dereference of null", Some(NULL)),
    ("use of null", Some(NULL)),
    ("jump through null", Some(NULL)),
    ("null-dereference", Some(NULL)),
    ("allocated buffer size", None),
    ("buffer over", Some(OUT_OF_BOUNDS)),
    ("buffer under", Some(OUT_OF_BOUNDS)),
    ("out-of-bounds", Some(OUT_OF_BOUNDS)),
    ("infinite loop", Some(LOOP)),
];

const GCC_OPTIONS: &[(&str, Expect)] = &[
    ("double-fclose", DOUBLE_CLOSE),
    ("double-free", DOUBLE_FREE),
    ("fd-double-close", DOUBLE_CLOSE),
    ("fd-leak", DESCRIPTOR_LEAK),
    ("fd-use-after-close", AFTER_CLOSE),
    ("file-leak", DESCRIPTOR_LEAK),
    ("free-of-non-heap", INVALID_FREE),
    ("infinite-loop", LOOP),
    ("malloc-leak", LEAK),
    ("null-argument", NULL),
    ("null-dereference", NULL),
    ("out-of-bounds", OUT_OF_BOUNDS),
    ("possible-null-argument", NULL),
    ("possible-null-dereference", NULL),
    ("tainted-array-index", TAINTED_INDEX),
    ("tainted-divisor", TAINTED_DIVISOR),
    ("tainted-offset", TAINTED_INDEX),
    ("use-after-free", AFTER_FREE),
    ("use-of-uninitialized-value", UNSET),
];

/// What gcc's analyzer looks for and we have a rule for.
pub const GCC_RULES: &[&str] = &[
    "buffer-overflow",
    "buffer-overread",
    "buffer-underflow",
    "double-free",
    "infinite-loop",
    "invalid-free",
    "leak",
    "null-dereference",
    "uninitialized-read",
    "use-after-free",
    "write-after-close",
];

/// The text of `dg-warning` and `dg-bogus`, without backslashes.
pub fn of_gcc(text: &str) -> Option<Expect> {
    let text = text.to_ascii_lowercase();
    if let Some((_, option)) = text.split_once("-wanalyzer-") {
        let end = option.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        return of_gcc_option(&option[..end.unwrap_or(option.len())]);
    }
    if text.contains("tainted-array-index") {
        return Some(TAINTED_INDEX);
    }
    if text.contains("attacker-controlled value") {
        if text.contains("divisor") {
            return Some(TAINTED_DIVISOR);
        }
        let is_place = text.contains("array lookup") || text.contains("as offset");
        return is_place.then_some(TAINTED_INDEX);
    }
    first(GCC, &text)
}

/// The name of an option without `-Wanalyzer-`.
pub fn of_gcc_option(name: &str) -> Option<Expect> {
    GCC_OPTIONS.iter().find(|(option, _)| *option == name).map(|(_, expect)| *expect)
}

const CLANG: &Phrases = &[
    ("va_list", None),
    ("errno", None),
    ("replace with", None),
    ("insecure", None),
    ("size zero", None),
    ("division by zero is undefined", None),
    ("already been used for division", None),
    ("division by a tainted", Some(TAINTED_DIVISOR)),
    ("with tainted index", Some(TAINTED_INDEX)),
    ("with tainted offset", Some(TAINTED_INDEX)),
    ("taint", None),
    ("untrusted", None),
    ("division by zero", Some(DIVISION)),
    ("never closed", Some(DESCRIPTOR_LEAK)),
    ("leak", Some(LEAK)),
    ("stream might be already closed", Some(AFTER_CLOSE)),
    ("released memory", Some(DOUBLE_FREE)),
    ("closing a previously closed", Some(DOUBLE_CLOSE)),
    ("after it is freed", Some(AFTER_FREE)),
    ("after it is released", Some(AFTER_FREE)),
    ("argument to free()", Some(INVALID_FREE)),
    ("non-heap object", Some(INVALID_FREE)),
    ("should not be deallocated", Some(INVALID_FREE)),
    ("undefined value", Some(UNSET)),
    ("undefined or garbage", Some(UNSET)),
    ("undefined pointer", Some(UNSET)),
    ("garbage", Some(UNSET)),
    ("uninitialized", Some(UNSET)),
    ("is undefined", None),
    ("null pointer", Some(NULL)),
    ("is null but should not be null", Some(NULL)),
    ("should not be null", Some(NULL)),
    ("might be null", Some(NULL)),
    ("pointer is null", Some(NULL)),
    ("size of the memory allocation may overflow", Some(OVERFLOW)),
    ("shift", None),
    ("out of bound", Some(OUT_OF_BOUNDS)),
    ("out-of-bound", Some(OUT_OF_BOUNDS)),
    ("overflows the destination buffer", Some(OUT_OF_BOUNDS)),
    ("is a buffer with size", Some(OUT_OF_BOUNDS)),
    ("lock has already", Some(LOCK)),
    ("lock is still locked", Some(LOCK)),
    ("loss of sign", Some(SIGN)),
    ("loss of precision", Some(PRECISION)),
];

/// The text of `expected-warning`.
pub fn of_clang(text: &str) -> Option<Expect> {
    first(CLANG, &text.to_ascii_lowercase())
}

const MEMORY: &[&str] = &["leak", "use-after-free", "double-free", "invalid-free"];
const STREAM: &[&str] = &["leak", "write-after-close", "null-dereference"];

/// Which of our rules correspond to a checker of clang or a package of them.
pub fn of_checker(checker: &str) -> Vec<&'static str> {
    const CHECKERS: &[(&str, &[&[&str]])] = &[
        ("core.NullDereference", &[&["null-dereference"]]),
        ("core.NonNullParamChecker", &[&["null-dereference"]]),
        ("core.CallAndMessage", &[&["null-dereference", "uninitialized-read"]]),
        ("core.UndefinedBinaryOperatorResult", &[&["uninitialized-read"]]),
        ("core.uninitialized", &[&["uninitialized-read"]]),
        ("core.DivideZero", &[&["divide-by-zero"]]),
        ("unix.Malloc", &[MEMORY]),
        ("unix.cstring.NullArg", &[&["null-dereference"]]),
        ("unix.Stream", &[STREAM]),
        ("unix.StdCLibraryFunctions", &[&["null-dereference"], BOUNDS]),
        ("alpha.unix.SimpleStream", &[&["leak", "write-after-close"]]),
        ("alpha.unix.PthreadLock", &[&["lock-pairing"]]),
        ("alpha.unix.cstring.OutOfBounds", &[BOUNDS]),
        ("alpha.unix.cstring.UninitializedRead", &[&["uninitialized-read"]]),
        ("alpha.security.ArrayBound", &[BOUNDS]),
        ("alpha.security.ArrayBoundV2", &[BOUNDS]),
        ("alpha.core.Conversion", &[&["integer-signedness", "integer-truncation"]]),
    ];
    let is_in = |name: &str, package: &str| {
        name == package || name.strip_prefix(package).is_some_and(|rest| rest.starts_with('.'))
    };
    let mut rules: Vec<&str> = CHECKERS
        .iter()
        .filter(|(name, _)| is_in(name, checker) || is_in(checker, name))
        .flat_map(|(_, groups)| groups.concat())
        .collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn first(phrases: &Phrases, text: &str) -> Option<Expect> {
    phrases.iter().find(|(phrase, _)| text.contains(phrase)).and_then(|(_, expect)| *expect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_gcc_are_told_apart() {
        let kind = |text| of_gcc(text).map(|expect| expect.kind);
        assert_eq!(kind("leak of 'p'"), Some(Kind::Leak));
        assert_eq!(kind("leak of FILE 'f'"), Some(Kind::Descriptor));
        assert_eq!(kind("leak of file descriptor 'fd'"), Some(Kind::Descriptor));
        assert_eq!(kind("double 'close' of file descriptor 'fd'"), Some(Kind::DoubleRelease));
        assert_eq!(kind("dereference of possibly-NULL 'p' [CWE-690]"), Some(Kind::Null));
        assert_eq!(kind("check of 'p' for NULL after already dereferencing it"), None);
        assert_eq!(kind("[-Wanalyzer-malloc-leak]"), Some(Kind::Leak));
        assert_eq!(kind("-Wanalyzer-tainted-assertion"), None);
        let divisor = "use of attacker-controlled value 'x' as divisor without checking";
        assert_eq!(of_gcc(divisor), Some(TAINTED_DIVISOR));
        assert_eq!(kind("use of attacker-controlled value 'n' as allocation size"), None);
        assert_eq!(kind("TRUE"), None);
    }

    #[test]
    fn messages_of_clang_are_told_apart() {
        let kind = |text| of_clang(text).map(|expect| expect.kind);
        assert_eq!(
            kind("Dereference of null pointer (loaded from variable 'p')"),
            Some(Kind::Null)
        );
        assert_eq!(kind("Initialized va_list 'a' is leaked"), None);
        assert_eq!(
            kind("Opened stream never closed. Potential resource leak"),
            Some(Kind::Descriptor)
        );
        assert_eq!(kind("An undefined value may be read from 'errno'"), None);
        assert_eq!(kind("division by zero is undefined"), None);
        assert_eq!(kind("Division by zero"), Some(Kind::Division));
        assert_eq!(kind("Subtraction of two pointers is undefined behavior"), None);
        assert_eq!(kind("TRUE"), None);
    }

    #[test]
    fn levels_of_infer_say_how_certain_it_is() {
        assert!(is_certain_for_infer("BUFFER_OVERRUN_L2"));
        assert!(!is_certain_for_infer("BUFFER_OVERRUN_L3"));
        assert!(!is_certain_for_infer("INTEGER_OVERFLOW_U5"));
        assert!(is_certain_for_infer("NULLPTR_DEREFERENCE"));
        assert_eq!(of_infer("NULLPTR_DEREFERENCE_LATENT").map(|e| e.kind), Some(Kind::Null));
        assert_eq!(of_infer("DEADLOCK"), None);
    }

    #[test]
    fn packages_of_checkers_have_the_rules_of_all_in_them() {
        assert_eq!(of_checker("core.DivideZero"), ["divide-by-zero"]);
        assert!(of_checker("core").contains(&"uninitialized-read"));
        assert_eq!(of_checker("core.uninitialized.Assign"), ["uninitialized-read"]);
        assert!(
            of_checker("unix").contains(&"leak") && !of_checker("unix").contains(&"lock-pairing")
        );
        assert!(of_checker("debug.ExprInspection").is_empty());
    }
}
