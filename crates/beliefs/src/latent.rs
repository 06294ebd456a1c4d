//! Latent specifications: what names tell other programmers, and so tell us.

/// Words that mark routines which end the program.
const CRASH: [&str; 5] = ["panic", "abort", "fatal", "die", "bug"];

/// Whether a name alone says that the routine does not come back. Used only for routines
/// whose code is not part of the input.
pub fn is_crash_routine(name: &str) -> bool {
    words(name).any(|word| CRASH.contains(&word.as_str()))
}

/// Words that mark routines which give something back.
const RELEASE: [&str; 14] = [
    "free", "dealloc", "release", "destroy", "delete", "close", "unref", "put", "drop", "dispose",
    "cleanup", "deinit", "finalize", "clear",
];

/// Whether a name says that the routine releases what it is handed.
pub fn is_release(name: &str) -> bool {
    words(name).any(|word| {
        RELEASE
            .iter()
            .any(|release| word == *release || (word.ends_with("free") && *release == "free"))
    })
}

/// Whether a name says that the routine begins something that is to be ended or undone.
pub fn is_first_half(name: &str) -> bool {
    const WORDS: [&str; 24] = [
        "lock", "alloc", "malloc", "calloc", "new", "create", "open", "init", "begin", "start",
        "get", "ref", "push", "register", "add", "map", "dup", "strdup", "attach", "enter",
        "acquire", "disable", "save", "connect",
    ];
    words(name).any(|word| {
        WORDS.contains(&word.as_str()) || (word.ends_with("lock") && !word.ends_with("unlock"))
    })
}

/// What a routine does to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAction {
    Acquire,
    Release,
}

/// What a routine does to a lock, if its name says so. Routines that only try are neither.
pub fn lock_action(name: &str) -> Option<LockAction> {
    let words: Vec<String> = words(name).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    if has(&["try", "trylock", "init", "destroy", "new", "free", "alloc", "file"]) {
        return None;
    }
    let about_lock = has(&["mutex", "sem", "semaphore", "critical", "spin", "irq", "interrupts"]);
    if has(&["unlock", "rdunlock", "wrunlock"])
        || (about_lock && has(&["leave", "release", "exit", "up", "restore", "enable", "post"]))
        || name == "sti"
    {
        return Some(LockAction::Release);
    }
    if has(&["lock", "rdlock", "wrlock", "rlock", "wlock"])
        || (about_lock && has(&["enter", "acquire", "down", "disable", "wait"]))
        || name == "cli"
    {
        return Some(LockAction::Acquire);
    }
    None
}

/// The name of a lock that its routines alone name: `lock_kernel` is about `kernel`.
pub fn lock_base(routine: &str) -> String {
    const ACTIONS: [&str; 10] = [
        "lock", "unlock", "enter", "leave", "acquire", "release", "disable", "enable", "save",
        "restore",
    ];
    if matches!(routine, "cli" | "sti") {
        return "interrupts".to_owned();
    }
    let rest: Vec<String> =
        words(routine).filter(|word| !ACTIONS.contains(&word.as_str())).collect();
    if rest.is_empty() { "the lock".to_owned() } else { rest.join("_") }
}

/// Whether a routine makes or ends objects: what it touches is not shared yet, or no longer.
pub fn is_life_cycle(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["init", "new", "create", "alloc", "setup", "fini", "open", "shutdown"];
    // `init0` and `new2` do what `init` and `new` do.
    let plain =
        |word: &String| WORDS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit()));
    is_release(name) || words(name).any(|word| plain(&word))
}

/// Whether a routine's name says that what it keeps of its arguments is its own from then on.
/// Many routines remember a pointer for a while; these take it over.
pub fn takes_over(name: &str) -> bool {
    const WORDS: [&str; 28] = [
        "set", "set0", "add", "add0", "push", "push0", "insert", "append", "prepend", "attach",
        "register", "enqueue", "new", "create", "wrap", "assign", "store", "save", "put", "give",
        "link", "track", "cache", "keep", "bind", "own", "queue", "schedule",
    ];
    words(name).any(|word| WORDS.contains(&word.as_str()))
}

/// Whether a routine's name says that it answers a question about permission or validity.
pub fn is_check(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "check",
        "verify",
        "auth",
        "authenticate",
        "perm",
        "permission",
        "permitted",
        "capable",
        "allow",
        "allowed",
        "access",
        "valid",
        "validate",
        "suser",
    ];
    words(name).any(|word| WORDS.contains(&word.as_str()))
}

/// The words of an identifier, in lower case: `CRYPTO_free`, `xmlFreeDoc`.
pub fn words(name: &str) -> impl Iterator<Item = String> + '_ {
    let bytes = name.as_bytes();
    let mut cuts = vec![0];
    for index in 1..bytes.len() {
        let (before, here) = (bytes[index - 1], bytes[index]);
        let starts = here.is_ascii_uppercase() && before.is_ascii_lowercase();
        let capital_before_word = here.is_ascii_uppercase()
            && before.is_ascii_uppercase()
            && bytes.get(index + 1).is_some_and(u8::is_ascii_lowercase);
        if starts || capital_before_word || here == b'_' || before == b'_' {
            cuts.push(index);
        }
    }
    cuts.push(bytes.len());
    let pieces: Vec<String> = cuts
        .windows(2)
        .filter_map(|cut| name.get(cut[0]..cut[1]))
        .map(|piece| piece.trim_matches('_').to_ascii_lowercase())
        .filter(|piece| !piece.is_empty())
        .collect();
    pieces.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_fall_into_words() {
        let words = |name| words(name).collect::<Vec<_>>();
        assert_eq!(words("CRYPTO_free"), ["crypto", "free"]);
        assert_eq!(words("xmlFreeDoc"), ["xml", "free", "doc"]);
        assert_eq!(words("EVPCtxFree"), ["evp", "ctx", "free"]);
        assert_eq!(words("__spin_lock"), ["spin", "lock"]);
    }

    #[test]
    fn crash_routines_are_known_by_whole_words() {
        assert!(is_crash_routine("kernel_panic"));
        assert!(is_crash_routine("OPENSSL_die"));
        assert!(!is_crash_routine("debug_print"));
        assert!(!is_crash_routine("diet"));
    }
}
