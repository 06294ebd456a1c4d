//! Tests of reading compiler command lines.

use super::*;

fn parse(line: &str) -> Invocation {
    Invocation::parse(&words::split(line, words::Quoting::Shell))
}

fn link_words(invocation: &Invocation) -> Vec<String> {
    let show = |word: &LinkWord| match word {
        LinkWord::Source(index) => format!("<{index}>"),
        LinkWord::Word(word) => word.clone(),
    };
    invocation.link.iter().map(show).collect()
}

#[test]
fn a_compile_is_cleaned_to_what_it_means() {
    let it = parse(
        "-std=gnu89 -O2 -g -Wall -Werror -Iinc -D X=1 -UY -include pre.h -MD -MF a.d -MT a.o \
         -fsanitize=address -flto -fwrapv -pipe -save-temps --param max=3 -c -o out/a.o src/a.c",
    );
    assert_eq!(it.stage, Stage::Object);
    assert_eq!(it.sources, [("src/a.c".to_owned(), Language::C)]);
    let expected = "-std=gnu89 -Iinc -D X=1 -UY -include pre.h -fwrapv";
    assert_eq!(it.flags.preprocess.join(" "), expected);
    assert_eq!(it.flags.compile, ["-std=gnu89", "-fwrapv"]);
    assert_eq!(it.object_of(0).as_deref(), Some("out/a.o"));
}

#[test]
fn several_sources_get_an_object_each() {
    let it = parse("-c src/a.c b.c");
    assert_eq!(it.object_of(0).as_deref(), Some("a.o"));
    assert_eq!(it.object_of(1).as_deref(), Some("b.o"));
}

#[test]
fn compile_and_link_keeps_the_order_of_what_is_linked() {
    let it =
        parse("-oprog main.c x.o -Llib -lfoo -Wl,--start-group,a.a -Xlinker b.a util.s -shared");
    assert_eq!(it.stage, Stage::Link);
    assert_eq!(it.output.as_deref(), Some("prog"));
    assert_eq!(it.sources[1].1, Language::Assembler);
    let expected = "<0> x.o -Llib -lfoo --start-group a.a b.a <1> -shared";
    assert_eq!(link_words(&it).join(" "), expected);
}

#[test]
fn the_language_option_rules_until_it_is_taken_back() {
    let it = parse("-x c - odd.name -x none lib.a a.cc -xassembler t.c");
    let languages: Vec<Language> = it.sources.iter().map(|(_, language)| *language).collect();
    assert_eq!(languages, [Language::C, Language::C, Language::Other, Language::Assembler]);
    assert_eq!(link_words(&it), ["<0>", "<1>", "lib.a", "<2>", "<3>"]);
}

#[test]
fn what_makes_no_object_is_seen() {
    for line in ["--version", "-E a.c", "-c -fsyntax-only a.c", "-MM a.c", "-###"] {
        assert_eq!(parse(line).stage, Stage::Nothing, "{line}");
    }
    let it = parse("-S -c dir/a.c");
    assert_eq!((it.stage, it.object_of(0).as_deref()), (Stage::Assembler, Some("a.s")));
}

#[test]
fn words_for_the_preprocessor_are_unpacked() {
    let it = parse("-Wp,-DA=1,-MD,x.d -Xpreprocessor -DB -Xpreprocessor -MMD -c a.c");
    assert_eq!(it.flags.preprocess, ["-DA=1", "-DB"]);
}
