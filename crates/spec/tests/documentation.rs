//! The reference says what is true: its examples are correct and nothing is left out.

use spec::attribute::AttributeId;
use spec::check::check;
use spec::event::EVENTS;
use spec::{Rules, print, show};

const REFERENCE: &str = include_str!("../../../docs/specification-language.md");

fn examples() -> Vec<&'static str> {
    let blocks = REFERENCE.split("```").skip(1).step_by(2);
    blocks
        .filter_map(|block| block.strip_prefix("fault\n").or_else(|| block.strip_prefix("model\n")))
        .collect()
}

#[test]
fn the_examples_of_the_reference_are_correct() {
    let examples = examples();
    assert!(examples.len() >= 4);
    for text in examples {
        let (spec, diagnostics) = check(text);
        let shown: String = diagnostics.iter().map(|d| d.render("example", text)).collect();
        assert!(diagnostics.is_empty(), "{shown}");
        Rules::new(std::slice::from_ref(&spec)).unwrap();
        let (again, _) = check(&print::print(&spec));
        assert_eq!(show::show(&again), show::show(&spec));
    }
}

#[test]
fn every_attribute_and_event_is_in_the_reference() {
    for id in AttributeId::all() {
        assert!(REFERENCE.contains(&format!("`{}(", id.name())), "{}", id.name());
    }
    for event in &EVENTS {
        let mentioned =
            ["(", "`"].iter().any(|end| REFERENCE.contains(&format!("`{}{end}", event.name)));
        assert!(mentioned, "{}", event.name);
    }
}

/// The paper's Fig 8: the syntax trees of an entry, and the pattern it became.
#[test]
fn show_prints_trees_and_patterns() {
    let (spec, _) = check(include_str!("figures/fig3.fault"));
    let shown = show::show(&spec);
    let expected = "\
observable point 1
  point $strcpy(a, b)$
    matches a call of strcpy with (a, b)
  constraint
    >=
      Size(a)
      Len(b)
observable point 2
  point $memcpy(a, b, d)$
    matches a call of memcpy with (a, b, d)
  constraint
    >=
      Size(a)
      min
        Len(b)
        Value(d)
";
    assert!(shown.starts_with(expected), "{shown}");
    let conditional = "\
  transition
    when
      ||
        >
          Len(a)
          Value(d)
        =
          Len(a)
          undef
    then
      :=
        Len(a)
        Value(d)
";
    assert!(shown.ends_with(conditional), "{shown}");
}
