//! Programs that are large or deep in one way or another: nothing may need a deep stack,
//! and sets that grow too large must stay right.

use std::fmt::Write;

use crate::common::Analysed;
use facts::{Facts, Options};

/// Facts computed with a stack that is small for recursion over the program.
fn analyse_on_small_stack(text: &str) -> Analysed {
    let program = crate::common::import(text);
    let pool = base_pool();
    let facts = pool.install(|| Facts::compute(&program, &Options::default()));
    Analysed { program, facts }
}

fn base_pool() -> rayon::ThreadPool {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(2).stack_size(256 << 10);
    builder.build().expect("threads can be started")
}

#[test]
fn more_escaped_records_than_a_set_can_hold() {
    let mut text = String::from(
        "struct s { int a; struct s *next; int *p; }; extern void keep(struct s *);\n\
         extern struct s *fetch(void); int x;\n\
         static void write_next(struct s *q) { q->next->p = &x; }\n",
    );
    for index in 0..400 {
        writeln!(text, "struct s s{index}; void f{index}(void) {{ keep(&s{index}); }}").unwrap();
    }
    text += "void use(void) { struct s *q = fetch(); write_next(q); see(\"q\", q);\n\
             see(\"next\", q->next); see(\"p\", q->p); see(\"field\", &q->p); }\n";
    let known = analyse_on_small_stack(&text);
    for label in ["q", "next", "field"] {
        for object in ["s0", "s399"] {
            assert!(known.may_point_into(label, object), "{label} {object}");
        }
    }
    assert!(known.may_point_into("p", "x"), "what unknown memory holds escaped");
    let written = known.written_by_call("use", "write_next");
    assert!(written.contains(&"s399+16".to_owned()), "{written:?}");
}

#[test]
fn long_chains_of_everything() {
    let mut text = String::from("int *hold; struct l { struct l *next; int v; };\n");
    text += "int f0(int *p, int n) { hold = p; return n; }\n";
    for index in 1..1500 {
        let before = index - 1;
        writeln!(text, "int f{index}(int *p, int n) {{ return f{before}(p, n + 1); }}").unwrap();
    }
    for index in 0..1500 {
        writeln!(text, "struct t{index} {{ struct t{} *inner; int *leaf; }};", index + 1).unwrap();
    }
    text += "int x; int main(int argc, char **argv) { int n = f1499(&x, 0);\n";
    for index in 0..3000 {
        writeln!(text, "if (n > {index}) n = n * 3 + argc;").unwrap();
    }
    text += "char *p = argv[0];\n";
    for _ in 0..2000 {
        text += "p = p + n;\n";
    }
    text += "see(\"p\", p); see(\"hold\", hold); return n; }\n";
    let known = analyse_on_small_stack(&text);
    assert_eq!(known.points_to("hold"), ["x"]);
    assert!(!known.points_to("p").is_empty());
}
