//! What each option of a C compiler means to us.
//!
//! We neither optimise nor warn nor link, so much of a command line does not matter
//! for what the code means. Options outside the tables here reach clang, which says
//! whether it knows them.

/// What an option is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
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
    ("-c", Role::StopAtObject),
    ("--compile", Role::StopAtObject),
    ("-S", Role::StopAtAssembler),
    ("-E", Role::StopEarlier),
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
    ("-nostdinc++", Role::Dropped),
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

/// Prefixes, tried in order after the tables above.
const PREFIXES: &[(&str, Role)] = &[
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
    (best.map_or(Role::Compile, |(_, role)| role), false)
}

#[cfg(test)]
mod tests {
    use super::*;

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
