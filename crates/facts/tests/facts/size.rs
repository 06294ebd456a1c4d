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

/// One copy between so many places that they are no longer told apart.
#[test]
fn a_copy_between_many_records() {
    let members: String = (0..40).map(|index| format!("int *m{index}; ")).collect();
    let mut text = format!("struct s {{ {members}}}; static int zero, rest, last;\n");
    text += "static void copy(struct s *to, struct s *from) { memcpy(to, from, sizeof *to); }\n";
    for index in 0..60 {
        writeln!(text, "static struct s s{index}, t{index};").unwrap();
    }
    text += "static void later(struct s *to, struct s *from) { memcpy(to, from, sizeof *to); }\n\
             static struct s *table[60]; int main(void) { struct s from; from.m0 = &zero;\n";
    for index in 1..39 {
        writeln!(text, "from.m{index} = &rest;").unwrap();
    }
    for index in 0..60 {
        writeln!(text, "copy(&s{index}, &from); table[{index}] = &t{index};").unwrap();
    }
    // These targets are found when the parts are known, those above before.
    text += "later(table[59], &from); see(\"late\", t59.m0); from.m39 = &last; see(\"m0\", s0.m0);\n\
             see(\"m39\", s0.m39); see(\"last\", s59.m39); return 0; }\n";
    let known = analyse_on_small_stack(&text);
    for (label, object) in [("m0", "zero"), ("m39", "last"), ("last", "last"), ("late", "zero")] {
        assert!(known.may_point_into(label, object), "{label} {object}");
    }
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
