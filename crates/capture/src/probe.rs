//! Telling the build system's experiments from the project.

use std::path::Path;

/// A source that `configure` or CMake wrote to see what the compiler can do. Both paths
/// are absolute.
pub fn is_probe_source(source: &Path, root: &Path) -> bool {
    let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("conftest") || name.starts_with("CMakeCCompilerId") || is_scratch(source, root)
}

/// Something in a folder that build systems use for experiments. Folders above the
/// project's root may have any name.
pub fn is_scratch(path: &Path, root: &Path) -> bool {
    let path = path.strip_prefix(root).unwrap_or(path);
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
            || parts[at] == "conftest"
            || parts[at].starts_with("conftest.")
            || parts[at] == "meson-private"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_recognised() {
        let root = Path::new("/b/conftest.dir");
        for source in
            ["conftest.c", "CMakeFiles/CMakeScratch/TryCompile-x/src.c", "conftest.dir/a.c"]
        {
            assert!(is_probe_source(&root.join(source), root), "{source}");
        }
        for source in ["main.c", "src/config.c", "CMakeFiles/app.dir/gen.c"] {
            assert!(!is_probe_source(&root.join(source), root), "{source}");
        }
        assert!(is_scratch(Path::new("/b/CMakeFiles/3.25.1/CompilerIdC"), Path::new("/p")));
    }
}
