//! What each option of a C compiler means to us.
//!
//! We neither optimise nor warn nor link, so much of a command line does not matter
//! for what the code means. A project may be hostile, and options of clang load plugins, read
//! configurations and write files: only options that these tables allow reach it. Options
//! that stand in no table are left out, and one notice names them.

/// What an option is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In no table: it may do anything, so it is left out and named in a notice.
    Unknown,
    /// Means nothing to us: optimisation, warnings, debug information, sanitizers,
    /// coverage, link-time optimisation, dependency files, plugins.
    Dropped,
    /// Only the preprocessor cares.
    Preprocess,
    /// Preprocessor and compiler care: dialect, target, semantics.
    Compile,
    /// Compiler and linker care.
    CompileAndLink,
    /// Only the linker cares.
    Link,
    /// The output file.
    Output,
    /// The language of what follows (`-x`).
    Language,
    /// Stops after compiling (`-c`).
    StopAtObject,
    /// Stops at assembler text (`-S`).
    StopAtAssembler,
    /// Makes nothing that can be linked (`-E`, `-M`, `-fsyntax-only`).
    StopEarlier,
    /// A word for the preprocessor, given to the driver (`-Xpreprocessor`).
    ForPreprocessor,
    /// A word for the linker, given to the driver (`-Xlinker`).
    ForLinker,
    /// Asks about the compiler itself (`--version`): no compile.
    Query,
}

/// Options that take the next word when nothing is joined to them. `joined` says
/// whether the argument may also be joined to the option.
struct Separate {
    name: &'static str,
    role: Role,
    joined: bool,
}

const fn separate(name: &'static str, role: Role) -> Separate {
    Separate { name, role, joined: false }
}

const fn joined(name: &'static str, role: Role) -> Separate {
    Separate { name, role, joined: true }
}

const SEPARATE: &[Separate] = &[
    joined("-D", Role::Preprocess),
    joined("-U", Role::Preprocess),
    joined("-I", Role::Preprocess),
    joined("-include", Role::Preprocess),
    joined("-imacros", Role::Preprocess),
    joined("-isystem", Role::Preprocess),
    joined("-iquote", Role::Preprocess),
    joined("-idirafter", Role::Preprocess),
    joined("-iprefix", Role::Preprocess),
    joined("-iwithprefixbefore", Role::Preprocess),
    joined("-iwithprefix", Role::Preprocess),
    separate("--include-directory", Role::Preprocess),
    separate("--include-directory-after", Role::Preprocess),
    separate("--define-macro", Role::Preprocess),
    separate("--undefine-macro", Role::Preprocess),
    separate("--include", Role::Preprocess),
    separate("--imacros", Role::Preprocess),
    separate("--output", Role::Output),
    separate("--language", Role::Language),
    separate("--config", Role::Dropped),
    separate("--gcc-toolchain", Role::Dropped),
    joined("-isysroot", Role::CompileAndLink),
    separate("--sysroot", Role::CompileAndLink),
    separate("-target", Role::CompileAndLink),
    separate("-arch", Role::CompileAndLink),
    separate("-imultilib", Role::Dropped),
    joined("-A", Role::Dropped),
    joined("-o", Role::Output),
    joined("-x", Role::Language),
    joined("-MF", Role::Dropped),
    joined("-MT", Role::Dropped),
    joined("-MQ", Role::Dropped),
    joined("-MJ", Role::Dropped),
    separate("-Xpreprocessor", Role::ForPreprocessor),
    separate("-Xlinker", Role::ForLinker),
    separate("-Xassembler", Role::Dropped),
    separate("-Xclang", Role::Dropped),
    separate("-mllvm", Role::Dropped),
    separate("--param", Role::Dropped),
    separate("-aux-info", Role::Dropped),
    separate("-dumpbase", Role::Dropped),
    separate("-dumpbase-ext", Role::Dropped),
    separate("-dumpdir", Role::Dropped),
    separate("-wrapper", Role::Dropped),
    separate("-working-directory", Role::Dropped),
    separate("-resource-dir", Role::Dropped),
    separate("--serialize-diagnostics", Role::Dropped),
    separate("-serialize-diagnostics", Role::Dropped),
    separate("-index-store-path", Role::Dropped),
    joined("-B", Role::Dropped),
    joined("-G", Role::Dropped),
    joined("-L", Role::Link),
    joined("-l", Role::Link),
    joined("-T", Role::Link),
    joined("-u", Role::Link),
    joined("-z", Role::Link),
    separate("-e", Role::Link),
    separate("-h", Role::Link),
    separate("--entry", Role::Link),
    separate("-soname", Role::Link),
    separate("-rpath", Role::Link),
    separate("-framework", Role::Link),
];

const EXACT: &[(&str, Role)] = &[
    // Dialects, and what a platform's C is like.
    ("-ansi", Role::Compile),
    ("--ansi", Role::Compile),
    ("-traditional-cpp", Role::Compile),
    ("-trigraphs", Role::Compile),
    ("--trigraphs", Role::Compile),
    ("-nobuiltininc", Role::Compile),
    ("-ffreestanding", Role::Compile),
    ("-fhosted", Role::Compile),
    ("-ftrapv", Role::Compile),
    ("-fextended-identifiers", Role::Compile),
    ("-EL", Role::Compile),
    ("-EB", Role::Compile),
    ("-c", Role::StopAtObject),
    ("--compile", Role::StopAtObject),
    ("-S", Role::StopAtAssembler),
    ("--assemble", Role::StopAtAssembler),
    ("-E", Role::StopEarlier),
    ("--preprocess", Role::StopEarlier),
    ("--dependencies", Role::StopEarlier),
    ("--user-dependencies", Role::StopEarlier),
    ("-M", Role::StopEarlier),
    ("-MM", Role::StopEarlier),
    ("-fsyntax-only", Role::StopEarlier),
    ("--analyze", Role::StopEarlier),
    ("-emit-llvm", Role::StopEarlier),
    ("-###", Role::Query),
    ("--version", Role::Query),
    ("--help", Role::Query),
    ("-dumpversion", Role::Query),
    ("-dumpfullversion", Role::Query),
    ("-dumpmachine", Role::Query),
    ("-dumpspecs", Role::Query),
    ("-nostdinc", Role::Preprocess),
    ("--no-standard-includes", Role::Preprocess),
    ("-nostdinc++", Role::Dropped),
    ("--write-dependencies", Role::Dropped),
    ("--write-user-dependencies", Role::Dropped),
    ("-undef", Role::Preprocess),
    ("-C", Role::Dropped),
    ("-CC", Role::Dropped),
    ("-P", Role::Dropped),
    ("-H", Role::Dropped),
    ("-v", Role::Dropped),
    ("-w", Role::Dropped),
    ("-p", Role::Dropped),
    ("-pg", Role::Dropped),
    ("-Q", Role::Dropped),
    ("-time", Role::Dropped),
    ("-pipe", Role::Dropped),
    ("-pedantic", Role::Dropped),
    ("-pedantic-errors", Role::Dropped),
    ("--pedantic", Role::Dropped),
    ("--verbose", Role::Dropped),
    ("--coverage", Role::Dropped),
    ("-coverage", Role::Dropped),
    ("-integrated-as", Role::Dropped),
    ("-no-integrated-as", Role::Dropped),
    ("-pthread", Role::CompileAndLink),
    ("-pthreads", Role::CompileAndLink),
    ("-fopenmp", Role::CompileAndLink),
    ("-m32", Role::CompileAndLink),
    ("-m64", Role::CompileAndLink),
    ("-mx32", Role::CompileAndLink),
    ("-r", Role::Link),
    ("-s", Role::Link),
    ("-shared", Role::Link),
    ("-static", Role::Link),
    ("-static-pie", Role::Link),
    ("-static-libgcc", Role::Link),
    ("-shared-libgcc", Role::Link),
    ("-symbolic", Role::Link),
    ("-pie", Role::Link),
    ("-no-pie", Role::Link),
    ("-nopie", Role::Link),
    ("-rdynamic", Role::Link),
    ("-nostdlib", Role::Link),
    ("-nolibc", Role::Link),
    ("-nodefaultlibs", Role::Link),
    ("-nostartfiles", Role::Link),
    ("-t", Role::Link),
];

/// Options `-fNAME` and `-fno-NAME` that change what C means.
const MEANINGS: &[&str] = &[
    "asm",
    "blocks",
    "builtin",
    "common",
    "delete-null-pointer-checks",
    "dollars-in-identifiers",
    "exceptions",
    "gnu-keywords",
    "gnu89-inline",
    "honor-infinities",
    "honor-nans",
    "math-errno",
    "ms-compatibility",
    "ms-extensions",
    "non-call-exceptions",
    "openmp",
    "openmp-simd",
    "pack-struct",
    "pic",
    "PIC",
    "pie",
    "PIE",
    "plan9-extensions",
    "rounding-math",
    "short-enums",
    "short-wchar",
    "signed-bitfields",
    "signed-char",
    "signed-zeros",
    "strict-aliasing",
    "strict-flex-arrays",
    "strict-overflow",
    "trapping-math",
    "unsigned-bitfields",
    "unsigned-char",
    "visibility",
    "wrapv",
    "wrapv-pointer",
];

/// Those of them that may have a value, which is a word: `-fpack-struct=1`.
const WITH_VALUE: &[&str] = &[
    "-fbuiltin-",
    "-fexec-charset=",
    "-finput-charset=",
    "-fno-builtin-",
    "-fopenmp=",
    "-fpack-struct=",
    "-fstrict-flex-arrays=",
    "-fvisibility=",
    "-std=",
    "--std=",
    "--target=",
];

/// Prefixes, tried in order after the tables above.
const PREFIXES: &[(&str, Role)] = &[
    ("--sysroot=", Role::CompileAndLink),
    ("--include-directory=", Role::Preprocess),
    ("--include-directory-after=", Role::Preprocess),
    ("--define-macro=", Role::Preprocess),
    ("--undefine-macro=", Role::Preprocess),
    ("--include=", Role::Preprocess),
    ("--imacros=", Role::Preprocess),
    ("--output=", Role::Output),
    ("--language=", Role::Language),
    ("--config=", Role::Dropped),
    ("--config-", Role::Dropped),
    ("--optimize", Role::Dropped),
    ("--debug", Role::Dropped),
    ("--warn-", Role::Dropped),
    ("--extra-warnings", Role::Dropped),
    ("--all-warnings", Role::Dropped),
    ("-Xclang=", Role::Dropped),
    ("-mllvm=", Role::Dropped),
    ("-mtune=", Role::Dropped),
    ("-falign-", Role::Dropped),
    ("-fno-align-", Role::Dropped),
    ("-fomit-frame-pointer", Role::Dropped),
    ("-fno-omit-frame-pointer", Role::Dropped),
    ("-fasynchronous-unwind-tables", Role::Dropped),
    ("-fno-asynchronous-unwind-tables", Role::Dropped),
    ("-funwind-tables", Role::Dropped),
    ("-fno-unwind-tables", Role::Dropped),
    ("-ffunction-sections", Role::Dropped),
    ("-fno-function-sections", Role::Dropped),
    ("-fdata-sections", Role::Dropped),
    ("-fno-data-sections", Role::Dropped),
    ("-fstack-protector", Role::Dropped),
    ("-fno-stack-protector", Role::Dropped),
    ("-fstack-clash-protection", Role::Dropped),
    ("-fno-stack-clash-protection", Role::Dropped),
    ("-fstack-check", Role::Dropped),
    ("-fno-stack-check", Role::Dropped),
    ("-fcf-protection", Role::Dropped),
    ("-fhardened", Role::Dropped),
    ("-fplt", Role::Dropped),
    ("-fno-plt", Role::Dropped),
    ("-fsemantic-interposition", Role::Dropped),
    ("-fno-semantic-interposition", Role::Dropped),
    ("-ftrivial-auto-var-init", Role::Dropped),
    ("-fzero-", Role::Dropped),
    ("-fident", Role::Dropped),
    ("-fno-ident", Role::Dropped),
    ("-finline", Role::Dropped),
    ("-fno-inline", Role::Dropped),
    ("-fkeep-inline", Role::Dropped),
    ("-funroll", Role::Dropped),
    ("-fno-unroll", Role::Dropped),
    ("-fvectorize", Role::Dropped),
    ("-fno-vectorize", Role::Dropped),
    ("-fslp-vectorize", Role::Dropped),
    ("-fno-slp-vectorize", Role::Dropped),
    ("-ftree-", Role::Dropped),
    ("-fno-tree-", Role::Dropped),
    ("-fipa-", Role::Dropped),
    ("-fno-ipa-", Role::Dropped),
    ("-fgcse", Role::Dropped),
    ("-fno-gcse", Role::Dropped),
    ("-foptimize-", Role::Dropped),
    ("-fno-optimize-", Role::Dropped),
    ("-fmerge-", Role::Dropped),
    ("-fno-merge-", Role::Dropped),
    ("-freorder-", Role::Dropped),
    ("-fno-reorder-", Role::Dropped),
    ("-fschedule-", Role::Dropped),
    ("-fno-schedule-", Role::Dropped),
    ("-fexpensive-optimizations", Role::Dropped),
    ("-fprefetch-", Role::Dropped),
    ("-fpeel-loops", Role::Dropped),
    ("-fsplit-", Role::Dropped),
    ("-fno-split-", Role::Dropped),
    ("-fshow-", Role::Dropped),
    ("-fno-show-", Role::Dropped),
    ("-fcaret-diagnostics", Role::Dropped),
    ("-fno-caret-diagnostics", Role::Dropped),
    ("-fmacro-backtrace-limit", Role::Dropped),
    ("-ffp-contract", Role::Dropped),
    ("-ffast-math", Role::Dropped),
    ("-fno-fast-math", Role::Dropped),
    ("-ffinite-math-only", Role::Dropped),
    ("-fno-finite-math-only", Role::Dropped),
    ("-fassociative-math", Role::Dropped),
    ("-freciprocal-math", Role::Dropped),
    ("-funsafe-math-optimizations", Role::Dropped),
    ("-fexcess-precision", Role::Dropped),
    ("-fthreadsafe-statics", Role::Dropped),
    ("-fno-threadsafe-statics", Role::Dropped),
    ("-fworking-directory", Role::Dropped),
    ("-fno-working-directory", Role::Dropped),
    ("-print-", Role::Query),
    ("--print-", Role::Query),
    ("--help=", Role::Query),
    ("-Wl,", Role::Link),
    ("-W", Role::Dropped),
    ("-O", Role::Dropped),
    ("-g", Role::Dropped),
    ("-M", Role::Dropped),
    ("-d", Role::Dropped),
    ("-save-temps", Role::Dropped),
    ("--save-temps", Role::Dropped),
    ("--param=", Role::Dropped),
    ("-specs=", Role::Dropped),
    ("--specs=", Role::Dropped),
    ("-working-directory=", Role::Dropped),
    ("-fuse-ld=", Role::Link),
    ("-fsanitize", Role::Dropped),
    ("-fno-sanitize", Role::Dropped),
    ("-fprofile", Role::Dropped),
    ("-fno-profile", Role::Dropped),
    ("-fcs-profile", Role::Dropped),
    ("-fauto-profile", Role::Dropped),
    ("-fbranch-probabilities", Role::Dropped),
    ("-ftest-coverage", Role::Dropped),
    ("-fcoverage", Role::Dropped),
    ("-fno-coverage", Role::Dropped),
    ("-flto", Role::Dropped),
    ("-fno-lto", Role::Dropped),
    ("-fthinlto", Role::Dropped),
    ("-ffat-lto", Role::Dropped),
    ("-fno-fat-lto", Role::Dropped),
    ("-fuse-linker-plugin", Role::Dropped),
    ("-fno-use-linker-plugin", Role::Dropped),
    ("-fwhole-program", Role::Dropped),
    ("-fplugin", Role::Dropped),
    ("-fpass-plugin", Role::Dropped),
    ("-fdiagnostics", Role::Dropped),
    ("-fno-diagnostics", Role::Dropped),
    ("-fcolor-diagnostics", Role::Dropped),
    ("-fno-color-diagnostics", Role::Dropped),
    ("-fansi-escape-codes", Role::Dropped),
    ("-fmessage-length", Role::Dropped),
    ("-fmax-errors", Role::Dropped),
    ("-ferror-limit", Role::Dropped),
    ("-fdump", Role::Dropped),
    ("-fdebug-", Role::Dropped),
    ("-ffile-prefix-map", Role::Dropped),
    ("-fmacro-prefix-map", Role::Dropped),
    ("-frandom-seed", Role::Dropped),
    ("-frecord-gcc-switches", Role::Dropped),
    ("-fanalyzer", Role::Dropped),
    ("-fno-analyzer", Role::Dropped),
    ("-fstack-usage", Role::Dropped),
    ("-fcallgraph-info", Role::Dropped),
    ("-fopt-info", Role::Dropped),
    ("-fsave-optimization-record", Role::Dropped),
    ("-ftime-", Role::Dropped),
    ("-fmem-report", Role::Dropped),
    ("-finstrument-functions", Role::Dropped),
    ("-fembed-bitcode", Role::Dropped),
    ("-fverbose-asm", Role::Dropped),
    ("-fxray", Role::Dropped),
];

/// The role of an option, and whether the next word is its argument.
pub fn role(arg: &str) -> (Role, bool) {
    if let Some(option) = SEPARATE.iter().find(|option| option.name == arg) {
        return (option.role, true);
    }
    if let Some((_, role)) = EXACT.iter().find(|(name, _)| *name == arg) {
        return (*role, false);
    }
    // The longest joined name wins: `-iwithprefixbefore` over `-iwithprefix`, and all
    // of them over the plain prefixes, except where those are more specific.
    let joined = SEPARATE.iter().filter(|o| o.joined && arg.starts_with(o.name));
    let prefixed = PREFIXES.iter().filter(|(prefix, _)| arg.starts_with(prefix));
    let joined = joined.map(|o| (o.name.len(), o.role)).max_by_key(|(length, _)| *length);
    let prefixed = prefixed.map(|(p, role)| (p.len(), *role)).next();
    let best = joined.into_iter().chain(prefixed).max_by_key(|(length, _)| *length);
    match best {
        Some((_, role)) => (role, false),
        None if changes_meaning(arg) => (Role::Compile, false),
        None => (Role::Unknown, false),
    }
}

/// Whether an option outside the tables of names is one that clang may have: it changes what
/// the code means, and can do nothing else.
fn changes_meaning(arg: &str) -> bool {
    let is_word =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+,:".contains(&b));
    let is_one_of = |name: &str| MEANINGS.contains(&name.strip_prefix("no-").unwrap_or(name));
    if arg.strip_prefix("-f").is_some_and(is_one_of) {
        return true;
    }
    let value = WITH_VALUE.iter().find_map(|option| arg.strip_prefix(option));
    // What a machine can do, `-mavx2` and `-march=armv8-a+crc`, decides which macros there are.
    let machine = arg.strip_prefix("-m").map(|rest| rest.split_once('=').unwrap_or((rest, "")));
    let machine = machine.is_some_and(|(name, value)| {
        let is_other = ["odule", "llvm", "link"].iter().any(|other| name.starts_with(other));
        !is_other && !name.is_empty() && is_word(name) && is_word(value)
    });
    machine || value.is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_may_do_anything_do_not_reach_clang() {
        for arg in [
            "-fproc-stat-report=out",
            "-fcrash-diagnostics-dir=x",
            "-fmodules-cache-path=x",
            "-fthinlto-index=x",
            "-module-file-info",
            "-foptimization-record-file=x",
            "--analyzer-output",
            "-ccc-install-dir",
            "-cc1",
            "-fsomething-new=/etc/x",
            "-std=../x/y",
            "-march=/x",
        ] {
            let reaches = [Role::Compile, Role::CompileAndLink, Role::Preprocess];
            assert!(!reaches.contains(&role(arg).0), "{arg}");
        }
        for arg in [
            "--write-dependencies",
            "-Xclang=-load",
            "-mllvm=-x",
            "--config=f",
            "--config-user-dir=x",
        ] {
            assert_eq!(role(arg), (Role::Dropped, false), "{arg}");
        }
        for arg in ["-Xclang", "-mllvm", "--config"] {
            assert_eq!(role(arg), (Role::Dropped, true), "{arg}");
        }
        assert_eq!(role("--output=b.o"), (Role::Output, false));
        assert_eq!(role("--output"), (Role::Output, true));
    }

    #[test]
    fn options_have_the_role_their_meaning_asks_for() {
        for (arg, expected) in [
            ("-DX=1", (Role::Preprocess, false)),
            ("-D", (Role::Preprocess, true)),
            ("-includefoo.h", (Role::Preprocess, false)),
            ("-isystem", (Role::Preprocess, true)),
            ("-O2", (Role::Dropped, false)),
            ("-Wall", (Role::Dropped, false)),
            ("-Werror=return-type", (Role::Dropped, false)),
            ("-Wl,-Map=x", (Role::Link, false)),
            ("-MMD", (Role::Dropped, false)),
            ("-MF", (Role::Dropped, true)),
            ("-M", (Role::StopEarlier, false)),
            ("-ggdb3", (Role::Dropped, false)),
            ("-std=gnu89", (Role::Compile, false)),
            ("-fwrapv", (Role::Compile, false)),
            ("-fno-builtin-printf", (Role::Compile, false)),
            ("-funsigned-char", (Role::Compile, false)),
            ("-fno-short-enums", (Role::Compile, false)),
            ("-fpack-struct=1", (Role::Compile, false)),
            ("-mavx2", (Role::Compile, false)),
            ("-mno-sse4.1", (Role::Compile, false)),
            ("-march=armv8-a+crc", (Role::Compile, false)),
            ("--target=arm-linux-gnueabi", (Role::Compile, false)),
            ("-fstack-protector-strong", (Role::Dropped, false)),
            ("-fno-plt", (Role::Dropped, false)),
            ("--define-macro=X=1", (Role::Preprocess, false)),
            ("-fsanitize=address", (Role::Dropped, false)),
            ("-flto=auto", (Role::Dropped, false)),
            ("-m32", (Role::CompileAndLink, false)),
            ("-lm", (Role::Link, false)),
            ("-static", (Role::Link, false)),
            ("-specs=/x/hardened", (Role::Dropped, false)),
            ("-print-search-dirs", (Role::Query, false)),
            ("-save-temps=obj", (Role::Dropped, false)),
            ("-undef", (Role::Preprocess, false)),
        ] {
            assert_eq!(role(arg), expected, "{arg}");
        }
    }
}
