//! The language as a user meets it: the paper's figures, mistakes, printing and garbage.

use proptest::prelude::*;
use spec::check::{check, has_errors};
use spec::diagnostic::Level;
use spec::parser::parse;
use spec::print::print;

const FIGURES: [&str; 3] = [
    include_str!("figures/fig3.fault"),
    include_str!("figures/fig5.fault"),
    include_str!("figures/fig6.fault"),
];

/// The messages a text gets, warnings marked.
fn messages(text: &str) -> Vec<String> {
    let (_, diagnostics) = check(text);
    diagnostics
        .iter()
        .map(|d| match (d.level, &d.help) {
            (Level::Error, Some(help)) => format!("{} ({help})", d.message),
            (Level::Error, None) => d.message.clone(),
            (Level::Warning, _) => format!("warning: {}", d.message),
        })
        .collect()
}

#[test]
fn the_papers_figures_are_specifications() {
    for text in FIGURES {
        assert_eq!(messages(text), Vec::<String>::new());
    }
    let (fig3, _) = check(FIGURES[0]);
    assert_eq!((fig3.observe.len(), fig3.contribute.len()), (3, 3));
}

#[test]
fn figures_print_to_what_they_were() {
    for text in FIGURES {
        let (first, _) = parse(text);
        let printed = print(&first);
        let (again, diagnostics) = parse(&printed);
        assert!(!has_errors(&diagnostics), "{printed}\n{diagnostics:?}");
        assert_eq!(print(&again), printed);
    }
}

fn fault(rest: &str) -> String {
    format!("fault x\ntitle \"t\"\nvars buffer a, b; int d; any e;\n{rest}\n")
}

/// Each mistake, and the message a user can act on.
#[test]
fn every_kind_of_mistake_has_its_message() {
    let used = "observe\n at $u(a, b, d, e)$ require Value(d) > 0\n";
    let cases = [
        (
            "observe at $f(a)$ require Sise(a) > 0",
            "unknown attribute `Sise` (did you mean `Size`?)",
        ),
        (
            "observe at $strcpy(a, b$ require Size(a) > 0",
            "unbalanced code signature: this `(` is never closed",
        ),
        (
            "observe at $f(a)]$ require Size(a) > 0",
            "unbalanced code signature: this `]` closes nothing",
        ),
        ("observe at $f(a) require Size(a) > 0", "no closing `$`"),
        (
            "observe at $f(d)$ require Size(d) > 0",
            "type error: `Size` takes a variable of kind buffer or ptr, `d` is of kind int",
        ),
        ("observe at $f(a)$ require State(a) > open", "type error: only numbers have an order"),
        (
            "observe at $f(a)$ require Size(a) = true",
            "type error: a number is compared with true or false",
        ),
        (
            "observe at $f(a)$ require Size(a) in 3",
            "type error: expected a range or set after `in`",
        ),
        ("observe at $f(a)$ require Size(a)", "type error: expected a condition, found a number"),
        ("observe at $f(a)$ require Size(q) > 0", "unknown variable `q`"),
        ("observe at $f(a)$ require a > 0", "`a` is a variable, not a value"),
        ("observe at $f(a)$ require Size(b) > 0", "`b` is not bound at this point"),
        (
            "observe at $f(a)$ or $g(b)$ require Size(a) > 0",
            "each of the alternatives must bind it",
        ),
        (
            "observe at $f(a)$ require Size(a, b) > 0",
            "`Size` takes 1 argument, not 2 (write `Size(buffer|ptr)`)",
        ),
        (
            "observe at $f(a)$ require Value(d) > 3 && Value(d) < 2",
            "`d` is not bound at this point",
        ),
        ("observe at $f(a)$ require Size(a) > 3 && Size(a) < 2", "this requirement can never hold"),
        (
            "observe at $f(a)$ require Size(a) > 3 at $f(a)$ require Size(a) <= 3",
            "contradictory sections: an earlier entry requires the opposite here",
        ),
        (
            "observe at $f(a)$ require Size(a) > 3\nseverity error\nseverity note",
            "contradictory sections: `severity` stands here a second time",
        ),
        (
            "observe at $f(a)$ require Size(a) > 3\nobserv",
            "unknown keyword `observ` (did you mean `observe`?)",
        ),
        (
            "observe at $f(a)$ require Size(a) > 3\nseverity fatal",
            "expected `error`, `warning` or `note`, found `fatal`",
        ),
        ("observe at $f(a)$ Size(a) > 3", "expected `require`"),
        (
            "observe at $a[d] = $ require Size(a) > 3",
            "expected an expression in the C code, found the end of the signature",
        ),
        ("observe at $f(..., a)$ require Size(a) > 3", "`...` must be the last argument"),
        (
            "contribute at $f(a)$ Len(a) = 3",
            "expected `:=` after the attribute, found `=` (a condition that starts to hold here is written `assume ...`)",
        ),
        ("contribute at $f(a)$ TMax(a) := 3", "`TMax` cannot be assigned"),
        ("contribute at $f(a)$ State(a) := 3", "type error: `State` is a name, not a number"),
        (
            "contribute at $f(a)$ Len(a) := 3, Len(a) := 4",
            "contradictory transition: this attribute is assigned twice at one point",
        ),
        ("contribute at $f(a)$ write(a)", "event `write` has 2 arguments, not 1"),
        ("contribute at $f(a)$ exit(a)", "only the engine knows where `exit` happens"),
        ("observe at $x = y$ require Op(e) = ad", "Op is never `ad` (did you mean `add`?)"),
        (
            "observe at write(d, d) require Value(d) > 0",
            "type error: `write` takes a variable of kind ptr or buffer, `d` is of kind int",
        ),
        ("vars bufer q;", "unknown kind of variable `bufer` (did you mean `buffer`?)"),
        ("vars int d;", "variable `d` is declared a second time"),
        ("message \"{Len(a)\"", "a `{` of this message is never closed"),
        ("message \"{Lenn(a)}\"", "unknown attribute `Lenn`"),
        (
            "at $f(a)$ require Size(a) > 3",
            "`at` outside a section (write `observe` or `contribute` before it)",
        ),
    ];
    for (text, expected) in cases {
        let found = messages(&fault(&format!("{text}\n{used}")));
        assert!(found.iter().any(|m| m.contains(expected)), "{text}\n  {found:?}");
    }
}

#[test]
fn whole_file_mistakes_have_their_message() {
    let cases = [
        ("", "expected `fault NAME` or `model NAME`"),
        ("fault Bad_Name", "`Bad_Name` is no rule id"),
        ("fault x", "fault `x` is observed nowhere"),
        (
            "model m\nvars ptr p;\nobserve at $f(p)$ require Value(p) != 0",
            "contradictory sections: a model observes nothing",
        ),
        (
            "model m\nvars ptr p;\ncontribute at $f(p)$ State(p) := open\nmessage \"{p}\"",
            "a model has no error state or message",
        ),
        (
            "fault x\nvars ptr p, q;\nobserve at $f(p)$ require Value(p) != 0",
            "warning: unused variable `q`",
        ),
        (
            "fault x\nvars ptr p;\nobserve at $f(p)$ require Value(p) != 0",
            "warning: fault `x` has no title",
        ),
    ];
    for (text, expected) in cases {
        let found = messages(text);
        assert!(found.iter().any(|m| m.contains(expected)), "{text}\n  {found:?}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_reported_at_once() {
    let text = fault(
        "observe\n  at $f(a)$ require Sise(a) > 0\n  at $g(a$ require Size(a) > 0\n  \
         at $h(b)$ require Lenn(b) > 0\ncontribute\n  at $f(a)$ Len(a) 3",
    );
    let errors = messages(&text);
    assert_eq!(errors.iter().filter(|m| !m.starts_with("warning")).count(), 4, "{errors:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    /// Text made of the language's own words in any order.
    #[test]
    fn garbage_is_refused_without_a_panic(words in prop::collection::vec(prop::sample::select(vec![
        "fault", "model", "x", "vars", "ptr", "int", "a", "b", ",", ";", "observe", "contribute", "at",
        "$f(a)$", "$a[", "$x = a + b$", "$if (a >= 0)$", "require", "Size(a)", "Len(", ")", ">", "&&", "||", "!",
        "[", "]", "{", "}", "0", "99999999999999999999999999999999999999999999", "'x'", "\"t{\"", "\"{Len(a)}\"", "when",
        "then", "else", "may", "assume", ":=", "in", "not", "union", "input", "or", "strict", "message", "error-state",
        "write(a, b)", "exit", "undef", "min(", "MatchOperand(*a)", "-", "(", "#c\n", "$", "\u{e9}", "\0",
    ]), 0..60)) {
        let text = words.join(" ");
        let (spec, diagnostics) = check(&text);
        for diagnostic in &diagnostics {
            diagnostic.render("x.fault", &text);
        }
        let _ = print(&spec);
    }

    #[test]
    fn any_text_is_refused_without_a_panic(text in ".{0,200}") {
        check(&text);
    }

}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 8, ..ProptestConfig::default() })]

    /// Nesting far beyond any real specification ends in a message, not in a crash.
    #[test]
    fn deep_nesting_is_refused(depth in 100usize..3000) {
        for (open, close) in [("(", ")"), ("[", "]"), ("!", ""), ("-", ""), ("min(", ")")] {
            let nested = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let text = fault(&format!("observe at $f(a)$ require {nested} > 0"));
            prop_assert!(has_errors(&check(&text).1));
        }
        let code = format!("observe at ${}a{}$ require Size(a) > 0", "(".repeat(depth), ")".repeat(depth));
        prop_assert!(has_errors(&check(&fault(&code)).1));
    }
}
