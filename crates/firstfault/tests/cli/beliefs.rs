//! `firstfault beliefs`: the fixtures of every template, through the real binary.

use std::path::{Path, PathBuf};

use fixture::{Binary, check_all};

fn templates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../beliefs").canonicalize().unwrap()
}

#[test]
fn every_fixture_deviates_where_it_says_and_nowhere_else() {
    let binary = Binary {
        program: PathBuf::from(env!("CARGO_BIN_EXE_firstfault")),
        command: "beliefs".to_owned(),
    };
    let mut n_fixtures = 0;
    let mut complaints = Vec::new();
    for template in std::fs::read_dir(templates()).unwrap() {
        let folder = template.unwrap().path();
        let id = folder.file_name().unwrap().to_string_lossy().into_owned();
        let checked = check_all(&folder.join("fixtures"), |fixture| {
            let mut fixture = fixture.clone();
            // Each fixture is about one template; what others say of it is theirs.
            fixture.flags.splice(0..0, ["--template".to_owned(), id.clone()]);
            binary.analyse(&fixture)
        });
        match checked {
            Ok(n) => n_fixtures += n,
            Err(complaint) => complaints.push(complaint),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(n_fixtures >= 1);
}
