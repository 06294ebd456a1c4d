//! Each format as a whole, as it is kept in `expected/`. With `FIRSTFAULT_UPDATE=1` the files
//! are written anew; read the difference before committing it.

use report::{Format, Options};

use crate::support::{everything, folder, rules, sources};

#[track_caller]
fn compare(name: &str, format: Format, options: Options) {
    let text = report::render(&everything(), format, &mut sources(), &rules(), options);
    let path = folder().join("expected").join(name);
    if std::env::var_os("FIRSTFAULT_UPDATE").is_some() {
        std::fs::create_dir_all(folder().join("expected")).unwrap();
        std::fs::write(path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap();
    assert!(text == expected, "{name} is now:\n{text}");
}

#[test]
fn text() {
    let options = Options { dont_knows: true, contracts: true, ..Options::default() };
    compare("report.txt", Format::Text, options);
}

#[test]
fn brief_text() {
    compare("brief.txt", Format::Text, Options { brief: true, ..Options::default() });
}

#[test]
fn outline() {
    compare("outline.txt", Format::Text, Options { graph: true, ..Options::default() });
}

#[test]
fn json() {
    compare("report.json", Format::Json, Options::default());
}

#[test]
fn sarif() {
    compare("report.sarif", Format::Sarif, Options::default());
}

#[test]
fn dot() {
    compare("graph.dot", Format::Dot, Options::default());
}

#[test]
fn svg() {
    compare("graph.svg", Format::Svg, Options::default());
}
