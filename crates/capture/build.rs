//! Builds the exec hook and what holds clang in memory, shared objects that are embedded into
//! the library.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    build("hook/hook.c", "hook.so");
    build("hook/serve.c", "serve.so");
}

fn build(source: &str, object: &str) {
    println!("cargo::rerun-if-changed={source}");
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let output = PathBuf::from(folder).join(object);
    let compiler = cc::Build::new().opt_level(2).pic(true).warnings(true).get_compiler();
    let mut command: Command = compiler.to_command();
    // No library is linked: they must load beside any libc.
    command
        .args(["-shared", "-nostdlib", "-fvisibility=hidden", "-fno-stack-protector"])
        .args(["-U_FORTIFY_SOURCE", "-Wl,-z,now", "-o"])
        .arg(&output)
        .arg(source);
    let status = command.status().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(status.success(), "{source} does not compile: {command:?}");
}
