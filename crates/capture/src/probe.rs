//! Telling the build system's experiments from the project.

use std::path::Path;

/// A source that `configure` or CMake wrote to see what the compiler can do.
pub fn is_probe_source(source: &str) -> bool {
    let path = Path::new(source);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("conftest") || name.starts_with("CMakeCCompilerId") || is_scratch(path)
}

/// A folder that build systems use for experiments, or something inside one.
pub fn is_scratch(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let in_cmake = |parts: &[&str]| {
        parts.first() == Some(&"CMakeFiles")
            && parts[1..].iter().any(|part| {
                part.starts_with("CMakeTmp")
                    || part.starts_with("CMakeScratch")
                    || part.starts_with("CompilerId")
            })
    };
    (0..parts.len()).any(|at| {
        in_cmake(&parts[at..])
            || parts[at].starts_with("conftest")
            || matches!(parts[at], "meson-private" | ".conf_check_0" | "conf-tests")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_recognised() {
        for source in
            ["conftest.c", "/b/CMakeFiles/CMakeScratch/TryCompile-x/src.c", "conftest.dir/a.c"]
        {
            assert!(is_probe_source(source), "{source}");
        }
        for source in ["main.c", "src/config.c", "CMakeFiles/app.dir/gen.c"] {
            assert!(!is_probe_source(source), "{source}");
        }
        assert!(is_scratch(Path::new("/b/CMakeFiles/3.25.1/CompilerIdC")));
    }
}
