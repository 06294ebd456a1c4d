//! Library functions by the name their documentation uses, whatever the headers made of it.

/// The plain name of a library function and which of the call's arguments it does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryName<'n> {
    pub name: &'n str,
    /// Arguments that checking variants add, in the positions they have in the call.
    pub extra: &'static [usize],
}

/// `__builtin___strcpy_chk` and `__strcpy_chk` are `strcpy`, `__isoc99_sscanf` is `sscanf`.
pub fn library_name(name: &str) -> LibraryName<'_> {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    if let Some(checked) = name.strip_prefix("__").and_then(|n| n.strip_suffix("_chk")) {
        return LibraryName { name: checked, extra: extra_arguments(checked) };
    }
    let name = ["__isoc99_", "__isoc23_", "_IO_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    LibraryName { name, extra: &[] }
}

fn extra_arguments(checked: &str) -> &'static [usize] {
    match checked {
        "printf" | "vprintf" => &[0],
        "fprintf" | "vfprintf" | "dprintf" | "asprintf" | "syslog" => &[1],
        "sprintf" | "vsprintf" => &[1, 2],
        "snprintf" | "vsnprintf" => &[2, 3],
        "memcpy" | "memmove" | "memset" | "mempcpy" | "strncpy" | "strncat" | "stpncpy"
        | "wmemcpy" | "wmemmove" | "wmemset" | "wcsncpy" | "wcsncat" | "read" | "recv"
        | "readlink" => &[3],
        "fgets" | "fgetws" => &[1],
        "strcpy" | "strcat" | "stpcpy" | "wcscpy" | "wcscat" | "gets" | "getcwd" | "realpath" => {
            &[2]
        }
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checking_variants_are_the_functions_they_check() {
        assert_eq!(library_name("strcpy").name, "strcpy");
        assert_eq!(library_name("__builtin___memcpy_chk").name, "memcpy");
        assert_eq!(
            library_name("__snprintf_chk"),
            LibraryName { name: "snprintf", extra: &[2, 3] }
        );
        assert_eq!(library_name("__isoc99_sscanf").name, "sscanf");
    }
}
