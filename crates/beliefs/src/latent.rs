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
