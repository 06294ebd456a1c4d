//! Compiles the runtime's C files to objects that are embedded in the library, because
//! they are linked into other people's programs and not into firstfault.

use std::fmt::Write;
use std::path::Path;

/// In link order. The heap, snapshots and descriptors only serve static programs.
const ALWAYS: &[&str] = &["hook", "profile", "candidates", "search", "output", "fork"];
const SNAPSHOT: &[&str] = &["snapshot", "files", "heap"];
/// For execution suppression, in two kinds.
const SUPPRESS: &[&str] = &[
    "failure", "labels", "objects", "heap", "strings", "input", "output", "baton", "policy",
    "races", "locks", "spawn", "waiting",
];

fn main() {
    println!("cargo:rerun-if-changed=c");
    let mut text = String::new();
    embed(&mut text, "ALWAYS", ALWAYS, "", None);
    embed(&mut text, "SNAPSHOT", SNAPSHOT, "", None);
    embed(&mut text, "TRACKING", SUPPRESS, "suppress/", Some("1"));
    embed(&mut text, "SUPPRESSING", SUPPRESS, "suppress/", Some("0"));
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("objects.rs"), text).expect("OUT_DIR is writable");
}

fn embed(text: &mut String, list: &str, names: &[&str], folder: &str, tracking: Option<&str>) {
    writeln!(text, "pub const {list}: &[(&str, &[u8])] = &[").expect("a string takes all");
    for name in names {
        let mut build = cc::Build::new();
        // preserve_most is clang's own; programs under test are compiled by it as well.
        build.compiler("clang-19").std("gnu11").opt_level(2).debug(false).pic(true);
        build.flag("-fno-stack-protector").flag("-Wall").flag("-Wextra");
        if let Some(value) = tracking {
            build.define("FF_TRACKING", value);
            // One folder for each kind, since the files have the same names.
            let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
            build.out_dir(Path::new(&out).join(list));
        }
        let objects = build.file(format!("c/{folder}{name}.c")).compile_intermediates();
        let object = objects.first().expect("one file makes one object");
        writeln!(text, "    (\"{name}.o\", include_bytes!({object:?})),").expect("as above");
    }
    text.push_str("];\n");
}
