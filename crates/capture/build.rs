//! Builds the exec hook, a shared object that is embedded into the library.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=hook/hook.c");
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let output = PathBuf::from(folder).join("hook.so");
    let compiler = cc::Build::new().opt_level(2).pic(true).warnings(true).get_compiler();
    let mut command: Command = compiler.to_command();
    // No library is linked: the hook must load beside any libc.
    command
        .args(["-shared", "-nostdlib", "-fvisibility=hidden", "-fno-stack-protector"])
        .args(["-U_FORTIFY_SOURCE", "-Wl,-z,now", "-o"])
        .arg(&output)
        .arg("hook/hook.c");
    let status = command.status().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(status.success(), "the exec hook does not compile: {command:?}");
}
