//! The source map against clang's own view of the same tokens.

mod clang;
mod needed;
mod soup;

use std::path::Path;

use base::source::Origin;
use capture::provenance::{Extent, Prepared, prepare};
use clang::{compare, prepare_file};

/// A folder with these files, gone at the end of the test.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("a file can be written");
    }
    folder
}

fn prepared(source: &str) -> Prepared {
    let folder = folder(&[("a.c", source.as_bytes())]);
    prepare_file(&["a.c"], folder.path())
}

/// The tokens of a prepared file as `token origin line:column`.
fn origins(prepared: &Prepared) -> Vec<String> {
    let folder = folder(&[("text.i", &prepared.text)]);
    let tokens = clang::dump_tokens(&["-x", "cpp-output", "text.i"], folder.path());
    let describe = |token: &clang::ClangToken| {
        let text = String::from_utf8_lossy(&token.text);
        let Some(found) = prepared.map.lookup(token.place.line, token.place.column) else {
            return format!("{text} nowhere");
        };
        let origin = match found.origin {
            Origin::Plain => "plain".to_owned(),
            Origin::Argument(name) => format!("argument of {}", prepared.map.macro_name(name)),
            Origin::Body(name) => format!("body of {}", prepared.map.macro_name(name)),
        };
        format!("{text} {origin} {}:{}", found.line, found.column)
    };
    tokens.iter().map(describe).collect()
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(origins(&prepared(source)), expected, "in {source}");
}

#[test]
fn plain_tokens_have_their_own_places() {
    check("int  x ;\n", &["int plain 1:1", "x plain 1:6", "; plain 1:8"]);
}

#[test]
fn body_tokens_stand_at_the_macro_and_arguments_where_they_were_written() {
    check(
        "#define INC(v) v + 1\nx = INC( y );\n",
        &[
            "x plain 2:1",
            "= plain 2:3",
            "y argument of INC 2:10",
            "+ body of INC 2:5",
            "1 body of INC 2:5",
            "; plain 2:13",
        ],
    );
}

#[test]
fn nested_macros_belong_to_the_outermost_body() {
    check(
        "#define ONE 1\n#define TWO ONE + ONE\nTWO;\n",
        &["1 body of TWO 3:1", "+ body of TWO 3:1", "1 body of TWO 3:1", "; plain 3:4"],
    );
}

#[test]
fn a_macro_written_in_an_argument_is_a_body_at_its_own_place() {
    check(
        "#define ONE 1\n#define ID(x) x\nID(ONE + z)\n",
        &["1 body of ONE 3:4", "+ argument of ID 3:8", "z argument of ID 3:10"],
    );
}

#[test]
fn an_argument_passed_on_stays_an_argument_of_the_outermost() {
    check(
        "#define IN(x) (x)\n#define OUT(x) IN(x)\nOUT(a)\n",
        &["( body of OUT 3:1", "a argument of OUT 3:5", ") body of OUT 3:1"],
    );
}

#[test]
fn a_macro_may_take_its_arguments_from_behind_the_expansion() {
    check(
        "#define CALL(x) f(x)\n#define NAME CALL\nNAME\n  (q)\n",
        &[
            "f body of NAME 3:1",
            "( body of NAME 3:1",
            "q argument of NAME 4:4",
            ") body of NAME 3:1",
        ],
    );
}

#[test]
fn pasted_and_stringified_tokens_are_the_body_s() {
    check(
        "#define CAT(a, b) a ## b\n#define STR(a) #a\nCAT(x, 1) CAT(y,) STR( p  q )\n",
        &["x1 body of CAT 3:1", "y argument of CAT 3:15", "\"p q\" body of STR 3:19"],
    );
}

#[test]
fn a_macro_s_own_name_is_not_expanded_again() {
    check(
        "#define self self + 1\nself;\n",
        &["self body of self 2:1", "+ body of self 2:1", "1 body of self 2:1", "; plain 2:5"],
    );
}

#[test]
fn conditional_lines_inside_an_argument_list_are_followed() {
    check(
        "#define ID(x) x\nID(a\n#ifdef NO\n+ b\n#elif 1\n+ c\n#endif\n);\n",
        &["a argument of ID 2:4", "+ argument of ID 6:1", "c argument of ID 6:3", "; plain 8:2"],
    );
}

#[test]
fn code_behind_an_invocation_without_tokens_keeps_its_place() {
    check(
        "#define DROP(x)\n#define OTHER 3\nDROP(a\n  OTHER b) ; c\n",
        &["; plain 4:12", "c plain 4:14"],
    );
}

#[test]
fn a_pragma_operator_splits_an_expansion_without_loss() {
    check(
        "#define P(x) a _Pragma(\"pack(1)\") x\nP(b) c;\n",
        &["a body of P 2:1", "b argument of P 2:3", "c plain 2:6", "; plain 2:7"],
    );
    let prepared = prepared("#define P(x) a _Pragma(\"pack(1)\") x\nP(b) c;\n");
    assert!(String::from_utf8_lossy(&prepared.text).contains("#pragma pack(1)\n"));
}

#[test]
fn predefined_macros_are_bodies() {
    check(
        "#define CAT(a, b) a ## b\n#define X(a, b) CAT(a, b)\n__LINE__ X(v, __LINE__)\n",
        &["3 body of __LINE__ 3:1", "v3 body of X 3:10"],
    );
}

#[test]
fn line_directives_name_the_place_and_the_column_is_the_file_s() {
    let prepared = prepared("#define ID(x) x\n#line 70 \"gen.y\"\nint ID(z);\n  int w;\n");
    let found = prepared.map.lookup(1, 5).expect("the token has a place");
    assert_eq!(prepared.map.file(found.file), "gen.y");
    assert_eq!((found.line, found.column), (70, 8));
    let next = prepared.map.lookup(2, 7).expect("the token has a place");
    assert_eq!((next.line, next.column), (71, 7));
}

#[track_caller]
fn agrees_with_clang(name: &str, source: &[u8], flags: &[&str]) {
    let folder = folder(&[("a.c", source)]);
    let comparison = compare(flags, "a.c", folder.path(), folder.path());
    assert!(comparison.compared > 0, "nothing was compared for {name}");
    assert!(
        comparison.disagreements.is_empty(),
        "{name} {flags:?}: {} of {} disagree: {:#?}",
        comparison.disagreements.len(),
        comparison.compared,
        comparison.disagreements
    );
}

#[test]
fn every_token_of_tricky_macros_agrees_with_clang() {
    let source = include_bytes!("tricky.c.txt");
    for standard in ["-std=gnu17", "-std=gnu89", "-std=c99", "-std=c89", "-std=c2x"] {
        agrees_with_clang("tricky.c", source, &[standard]);
    }
}

#[test]
fn odd_bytes_and_line_ends_do_no_harm() {
    let source = b"#define ID(x) x\r\n#define SWAP(a, b) b a\r\nID(1) y;\r\nSWAP(1,\r\n2) x\r\n  \
        y;\r\nID(\0 1) \0 \"a\0b\" \xff ID(\xfe);\na\\\nb\\\r\nc ID\\\nENT ID(l\\\nm) <: %: n;\n";
    agrees_with_clang("odd bytes", source, &[]);
}

#[test]
fn every_token_of_generated_macros_agrees_with_clang() {
    // Chance makes some that are errors, such as an invocation that never closes.
    let is_valid = |source: &String| {
        let folder = folder(&[("a.c", source.as_bytes())]);
        clang::clang(&["-E", "-w", "a.c"], folder.path()).status.success()
    };
    let valid: Vec<String> = (1..=30).map(soup::generate).filter(is_valid).collect();
    assert!(valid.len() >= 10, "only {} of 30 are valid", valid.len());
    for source in valid {
        agrees_with_clang(&source, source.as_bytes(), &[]);
    }
}

#[test]
fn system_headers_keep_their_tokens_and_know_their_lines() {
    let source =
        b"#include <stdio.h>\n#include <string.h>\n#include <stdint.h>\n#include <errno.h>\n\
        int f(void) { errno = 0; return putchar(EOF) + INT32_MAX; }\n";
    let folder = folder(&[("a.c", source)]);
    let comparison = compare(&["-O2"], "a.c", folder.path(), folder.path());
    assert!(comparison.tokens > 1000);
    assert_eq!(comparison.disagreements, Vec::<String>::new());
    let prepared = prepare_file(&["a.c"], folder.path());
    let system = prepared.map.entries.iter().find(|e| prepared.map.is_system(e.position.file));
    assert!(system.is_some_and(|entry| entry.position.column == 0 && entry.position.line > 0));
}

#[test]
fn a_source_that_is_gone_leaves_lines() {
    let folder = folder(&[("a.c", b"#define M 1\n\nint x = M;\n")]);
    let preprocessed = clang::preprocess(&["a.c"], folder.path());
    let prepared = prepare(&preprocessed, Extent::Whole, &mut |_: &Path| None);
    assert_eq!(origins(&prepared)[0], "int plain 3:0");
    assert_eq!(origins(&prepared)[3], "1 plain 3:0");
}

#[test]
fn a_source_that_changed_loses_columns_only_where_it_differs() {
    let folder = folder(&[("a.c", b"#define M 1\nint x = M;\nint y = M;\n")]);
    let preprocessed = clang::preprocess(&["a.c"], folder.path());
    let changed = b"#define M 1\nlong long q(void) { return 0; }\nint y = M;\n";
    let prepared = prepare(&preprocessed, Extent::Whole, &mut |_: &Path| Some(changed.to_vec()));
    let origins = origins(&prepared);
    assert_eq!(origins[0], "int plain 2:0");
    assert_eq!(origins[5..9], ["int plain 3:1", "y plain 3:5", "= plain 3:7", "1 body of M 3:9"]);
}

#[test]
fn long_lines_are_broken_between_tokens() {
    let numbers = (0..30_000).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let source = format!("#define ALL {numbers}\nint a[] = {{ ALL }};\nint b;\n");
    let prepared = prepared(&source);
    let longest = prepared.text.split(|&byte| byte == b'\n').map(<[u8]>::len).max();
    assert!(longest < Some(65_000), "a line of {longest:?} bytes");
    agrees_with_clang("long lines", source.as_bytes(), &[]);
}

#[test]
fn hostile_macros_end_soon() {
    let mut bomb = String::from("#define A0(x) x x\n");
    for level in 1..40 {
        bomb += &format!("#define A{level}(x) A{0}(A{0}(x))\n", level - 1);
    }
    // What the compiler printed cannot be right: nothing was expanded.
    let preprocessed = format!("# 1 \"a.c\"\n{bomb}# 41 \"a.c\"\nA39(1) tail;\n");
    let nested = format!("{}1{}", "A0(".repeat(5000), ")".repeat(5000));
    let source = format!("{bomb}A39(1) tail;\n{nested}\n");
    let preprocessed = format!("{preprocessed}{nested}\n");
    let prepared = prepare(preprocessed.as_bytes(), Extent::Whole, &mut |_: &Path| {
        Some(source.clone().into())
    });
    assert!(String::from_utf8_lossy(&prepared.text).starts_with("A39(1) tail;\n"));
}

#[test]
fn the_text_never_depends_on_the_sources() {
    let source = include_bytes!("tricky.c.txt");
    let folder = folder(&[("a.c", source)]);
    let preprocessed = clang::preprocess(&["a.c"], folder.path());
    let text = prepare(&preprocessed, Extent::Whole, &mut |_: &Path| Some(source.to_vec())).text;
    let mut random = soup::Random::new(3);
    for _ in 0..200 {
        let mut mangled = source.to_vec();
        for _ in 0..1 + random.below(6) {
            let start = random.below(mangled.len());
            let end = (start + random.below(200)).min(mangled.len());
            if random.below(2) == 0 {
                mangled.drain(start..end);
            } else {
                let copy = mangled[start..end].to_vec();
                let at = random.below(mangled.len());
                mangled.splice(at..at, copy);
            }
        }
        let prepared = prepare(&preprocessed, Extent::Whole, &mut |_: &Path| Some(mangled.clone()));
        assert!(prepared.text == text);
    }
}

#[test]
fn garbage_passes_through() {
    let mut random = soup::Random::new(7);
    let alphabet = b"#\"'\\/*?<>%:()., \n\r\t\0abL1_\xff\x80ID define undef pragma 1 \"a.c\" 1 3";
    for _ in 0..300 {
        let mut bytes = b"# 1 \"a.c\"\n#define ID(x) #x ## x __VA_OPT__(x\n".to_vec();
        let length = random.below(300);
        bytes.extend((0..length).map(|_| alphabet[random.below(alphabet.len())]));
        let source: Vec<u8> = bytes.iter().skip(8).copied().collect();
        let prepared = prepare(&bytes, Extent::Whole, &mut |_: &Path| Some(source.clone()));
        for entry in &prepared.map.entries {
            assert!((entry.position.file as usize) < prepared.map.files.len());
        }
    }
}
