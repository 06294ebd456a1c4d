//! Compiles the keeper of the sandbox, a small static program that is embedded in the library:
//! so it is always there, and always the one that belongs to it.

use std::path::PathBuf;

const FILES: &[&str] = &["main", "tree", "run", "confine"];

fn main() {
    println!("cargo::rerun-if-changed=c");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut build = cc::Build::new();
    build.compiler("clang-19").std("gnu11").opt_level(2).debug(false).warnings(true);
    let mut command = build.get_compiler().to_command();
    command.args(["-static", "-Wl,-s", "-o"]).arg(out.join("keeper"));
    command.args(FILES.iter().map(|name| format!("c/{name}.c")));
    let status = command.status().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(status.success(), "the keeper does not compile: {command:?}");
}
