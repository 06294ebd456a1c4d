//! Input that cannot be compiled or imported is an error of one unit, and never a panic.

use base::child::Tool;
use base::{Cancel, SourceMap};
use llvm::{CompileError, ImportError};

fn compile(text: &str) -> Result<Vec<u8>, CompileError> {
    let map = fixture::identity_map(text);
    llvm::compile(text.as_bytes(), &[""; 0], &map, &Default::default(), &Cancel::new())
}

#[test]
fn a_unit_that_does_not_compile_shows_the_first_errors_in_its_own_positions() {
    let error =
        compile("int f(void) {\n  return undeclared;\n}\n").expect_err("it does not compile");
    let text = error.to_string();
    assert!(text.starts_with("t.c:2:10: error: "), "{text}");
    assert!(text.contains("undeclared"), "{text}");
}

#[test]
fn a_flag_that_asks_for_other_output_is_an_error() {
    let map = SourceMap::default();
    let result =
        llvm::compile(b"int x;", &["-fsyntax-only"], &map, &Default::default(), &Cancel::new());
    assert!(matches!(result, Err(CompileError::Garbage | CompileError::Rejected(_))));
}

#[test]
fn a_compiler_that_hangs_is_stopped() {
    let limits = base::child::Limits {
        deadline: std::time::Duration::from_millis(300),
        ..Default::default()
    };
    let folder = std::env::temp_dir().join(format!("firstfault-hang-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let script = folder.join("clang");
    std::fs::write(&script, "#!/bin/sh\nsleep 60\n").expect("a script");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, permissions).expect("a script to run");
    let map = SourceMap::default();
    let result = llvm::compile_with(
        &Tool::plain(script),
        b"int x;",
        &[""; 0],
        &map,
        &limits,
        &Cancel::new(),
    );
    std::fs::remove_dir_all(&folder).expect("the scratch folder goes");
    assert!(matches!(result, Err(CompileError::Died { .. })), "{result:?}");
}

#[test]
fn damaged_bitcode_is_an_error() {
    let text = "struct s { int a; }; int f(struct s *p) { return p->a ? 1 : 2; }";
    let bitcode = compile(text).expect("it compiles");
    let map = fixture::identity_map(text);
    for length in [0, 1, 4, 100, bitcode.len() / 2, bitcode.len() - 200] {
        let result = llvm::import(&bitcode[..length], &map, "t.c");
        assert!(matches!(result, Err(ImportError::Bitcode { .. })), "{length} bytes");
    }
}
