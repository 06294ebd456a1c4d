//! Recognising programs of interest by their names.

/// What a program does, judged by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// A compiler driver. The triple is in front of a cross compiler's name.
    Compiler {
        triple: Option<String>,
        language: DriverLanguage,
    },
    /// A compiler cache or distributor in front of a compiler command (`ccache gcc ...`).
    Launcher,
    Archiver,
    Linker,
    Assembler,
    /// Rewrites objects: `strip`, `objcopy`.
    Rewriter,
}

/// What a compiler driver takes a `.c` file for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverLanguage {
    C,
    Cplusplus,
}

/// The tool with this file name, `None` if it is of no interest to us.
///
/// The exec hook has a coarser copy of this test in C; what it lets through in excess
/// is run unchanged.
pub fn tool(path: &str) -> Option<Tool> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = strip_version(name);
    match name {
        "ccache" | "sccache" | "distcc" => return Some(Tool::Launcher),
        "c89" | "c99" | "tcc" => {
            return Some(Tool::Compiler { triple: None, language: DriverLanguage::C });
        }
        _ => {}
    }
    let (triple, base) = match name.rsplit_once('-') {
        // gcc-ar and the like run ar with the compiler's plugin.
        Some(("gcc" | "llvm", base)) => (None, base),
        Some((triple, base)) if triple.contains('-') => {
            (Some(triple.trim_end_matches("-gcc").to_owned()), base)
        }
        Some(_) => return None,
        None => (None, name),
    };
    match base {
        "gcc" | "clang" | "cc" => Some(Tool::Compiler { triple, language: DriverLanguage::C }),
        "g++" | "clang++" | "c++" => {
            Some(Tool::Compiler { triple, language: DriverLanguage::Cplusplus })
        }
        "as" => Some(Tool::Assembler),
        "ar" => Some(Tool::Archiver),
        "ld" | "ld.bfd" | "ld.gold" | "ld.lld" | "ld.mold" | "mold" | "lld" => Some(Tool::Linker),
        "strip" | "objcopy" => Some(Tool::Rewriter),
        _ => None,
    }
}

/// `gcc-12` and `clang-19.1` without their version.
fn strip_version(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((base, version))
            if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit() || b == b'.') =>
        {
            base
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_any_of_their_names() {
        let compiler = |triple| Some(Tool::Compiler { triple, language: DriverLanguage::C });
        let plain = compiler(None);
        for name in ["cc", "gcc", "clang", "gcc-12", "/usr/bin/clang-19", "c99", "gcc-4.9.2"] {
            assert_eq!(tool(name), plain, "{name}");
        }
        let triple = |t: &str| compiler(Some(t.to_owned()));
        assert_eq!(tool("x86_64-linux-gnu-gcc"), triple("x86_64-linux-gnu"));
        assert_eq!(tool("arm-none-eabi-gcc-12"), triple("arm-none-eabi"));
    }

    #[test]
    fn other_tools_and_strangers() {
        assert_eq!(tool("ccache"), Some(Tool::Launcher));
        assert_eq!(tool("gcc-ar-12"), Some(Tool::Archiver));
        assert_eq!(tool("x86_64-linux-gnu-gcc-ar"), Some(Tool::Archiver));
        assert_eq!(tool("llvm-ar-19"), Some(Tool::Archiver));
        assert_eq!(tool("ld.lld-19"), Some(Tool::Linker));
        assert_eq!(tool("objcopy"), Some(Tool::Rewriter));
        let cplusplus = Tool::Compiler { triple: None, language: DriverLanguage::Cplusplus };
        assert_eq!(tool("g++-12"), Some(cplusplus));
        for name in ["clang-format", "make", "gcc-nm", "git-gcc", "cc1", ""] {
            assert_eq!(tool(name), None, "{name}");
        }
    }
}
