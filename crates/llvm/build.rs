//! Builds the C++ shim against LLVM 19 and links `libLLVM-19` dynamically. Every
//! `shim/*.cpp` is compiled, so that adding a file needs no edit here.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    let llvm_config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-19".to_string());

    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").warnings(false).opt_level(2).debug(false);
    for flag in ask(&llvm_config, "--cxxflags").split_whitespace() {
        // The standard is ours to choose; LLVM's headers are not ours to be warned about.
        match flag.strip_prefix("-I") {
            Some(dir) => build.flag("-isystem").flag(dir),
            None if flag.starts_with("-std=") => &mut build,
            None => build.flag(flag),
        };
    }
    // Assertions of LLVM's headers are for whoever works on the shim.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        build.define("NDEBUG", None);
    }
    build.flag("-fno-rtti").flag("-Wall").files(shim_files()).compile("firstfault_shim");

    println!("cargo:rustc-link-search=native={}", ask(&llvm_config, "--libdir"));
    for library in ask(&llvm_config, "--libs").split_whitespace() {
        let name = library.strip_prefix("-l").unwrap_or(library);
        println!("cargo:rustc-link-lib=dylib={name}");
    }
}

/// The sources in a fixed order, so that the archive does not depend on the file system.
fn shim_files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("shim").expect("crates/llvm/shim holds the C++ sources");
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
        .collect();
    files.sort();
    files
}

/// What `llvm-config` answers; a build without LLVM 19 ends with what to install.
fn ask(llvm_config: &str, question: &str) -> String {
    let output = Command::new(llvm_config).arg("--link-shared").arg(question).output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_string()
        }
        _ => panic!(
            "{llvm_config} does not answer {question}: install llvm-19-dev, or set LLVM_CONFIG \
             to the llvm-config of LLVM 19"
        ),
    }
}
