//! Signatures against real C: compiled by clang, imported, matched.

use std::io::Write;
use std::process::{Command, Stdio};

use base::{Cancel, SourceMap};
use program::{FunctionId, Program};
use spec::ast::VarIndex;
use spec::check::check;
use spec::lower::Argument;
use spec::matcher::{Found, Pattern, PatternSet};
use spec::{Rules, discover};

/// The program of a C text.
fn import(code: &str) -> Program {
    let mut clang = Command::new("clang-19")
        .args(["-E", "-P", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("clang-19 is installed by scripts/setup");
    clang.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
    let text = clang.wait_with_output().unwrap().stdout;
    let (map, limits) = (SourceMap::default(), base::child::Limits::default());
    let bitcode = llvm::compile(&text, &[""; 0], &map, &limits, &Cancel::new()).unwrap();
    llvm::import(&bitcode, &map, "test.c").unwrap()
}

fn function(program: &Program, name: &str) -> FunctionId {
    let found = program.functions.iter_enumerated().find(|(_, f)| &*f.name == name);
    found.unwrap_or_else(|| panic!("no function {name}")).0
}

/// The matches of one point in one function; `a b p q` are pointers, `n d` integers,
/// `x e` anything, `w` floating point.
fn matches(program: &Program, name: &str, point: &str) -> Vec<Found> {
    let text = format!(
        "fault t\ntitle \"t\"\nvars ptr p, q, a, b; int n, d; any x, e; float w;\n\
         observe at {point} require Value(x) = 0"
    );
    let (spec, _) = spec::parser::parse(&text);
    let point = &spec.observe.first().unwrap_or_else(|| panic!("{point} does not parse")).point;
    let pattern = Pattern::compile(point, &spec.vars, false).unwrap();
    PatternSet::new([pattern]).scan(program, function(program, name))
}

const CODE: &str = r#"
#include <string.h>
#include <stdio.h>
struct s { int val; struct s *next; union { int i; float f; } u; char name[8]; };
int g; int table[10];
void callee(int, const char *);
int calls(char *p, char *q, int n) { strcpy(p, q); callee(n, "text"); return (int)strlen(p); }
void through(void (**f)(int), struct s *o) { (*f)(3); f[1](4); }
int arithmetic(int a, int b, unsigned u, double w) {
  int x = a + b; x -= 1; x++; x = x * a; x = -x; x = ~x; u = u / 3; w = w / 2.0; g += 2;
  return x + (int)u + (int)w;
}
int accesses(int *p, struct s *q, int n) {
  *p = 1; p[n] = 2; p[3] = 4; q->val = n; q->next->val = 5; q->u.i = 6; q->name[n] = 0;
  struct s local; local.val = 7; table[n] = 8; g = 9;
  return *p + p[n] + q->val + local.val + table[2];
}
int branches(int a, int b, int *p) {
  if (a >= 0) b++;
  if (!p) b--;
  if (a != 0 && b < 5) return 0;
  while (p) { if (b == 3) break; b++; }
  switch (a) { case 1: return b; default: return 3; }
}
void declared(void) { int x; char text[10]; unsigned long u; scanf("%d%9s%lu", &x, text, &u); }
unsigned char converted(int a, long b) { short s = b; unsigned u = a; return (unsigned char)(s + u); }
void copied(struct s *p, struct s *q) { *p = *q; memset(p, 0, sizeof *p); }
int null(void) { int *p = 0; char *t = "text"; return p == (int *)t; }
"#;

#[test]
fn each_signature_matches_the_operations_it_describes() {
    let program = import(CODE);
    // Function, point, how often it matches.
    let cases = [
        ("calls", "$strcpy(p, q)$", 1),
        ("calls", "$p = strcpy(_, q)$", 1),
        ("calls", "$strcpy(p, p)$", 0),
        ("calls", "$callee(n, \"text\")$", 1),
        ("calls", "$callee(n, \"other\")$", 0),
        ("calls", "$callee(_)$", 0),
        ("calls", "$callee(...)$", 1),
        ("calls", "$_(...)$", 3),
        ("calls", "$n = strlen(p)$", 1),
        ("calls", "$return n$", 1),
        ("through", "$_(3)$", 1),
        ("arithmetic", "$n + d$", 5),
        ("arithmetic", "$x += 2$", 1),
        ("arithmetic", "$x -= 1$", 1),
        ("arithmetic", "$x++$", 1),
        ("arithmetic", "$n * d$", 1),
        ("arithmetic", "$-x$", 1),
        ("arithmetic", "$~x$", 1),
        ("arithmetic", "$n / 3$", 1),
        ("arithmetic", "$n / d$", 1),
        ("arithmetic", "$w / _$", 1),
        ("accesses", "$*p = e$", 1),
        ("accesses", "$p[d] = e$", 4),
        ("accesses", "$p[3] = e$", 1),
        ("accesses", "$p->val = e$", 2),
        ("accesses", "$q->next->val = e$", 1),
        ("accesses", "$p->i = e$", 1),
        ("accesses", "$_.val = e$", 1),
        ("accesses", "$table[d] = e$", 1),
        ("accesses", "$g = 9$", 1),
        ("accesses", "$x = p->val$", 1),
        ("accesses", "$n = p[d]$", 2),
        ("accesses", "$n = table[2]$", 1),
        ("accesses", "$n = g[2]$", 0),
        ("accesses", "MatchOperand(*p) != empty", 2),
        ("accesses", "MatchOperand(p->e) != empty", 5),
        ("branches", "$if (n >= 0)$", 1),
        ("branches", "$if (n < 0)$", 1),
        // The edges where the condition holds, whichever way it was tested.
        ("branches", "$if (!p)$", 2),
        ("branches", "$if (p)$", 2),
        ("branches", "$if (n == 3)$", 1),
        ("branches", "$if (n != 3)$", 1),
        ("branches", "$switch (n)$", 1),
        ("declared", "$int x$", 1),
        ("declared", "$unsigned long x$", 1),
        ("declared", "$char p[]$", 1),
        ("declared", "$_ x$", 3),
        ("converted", "$d = (short) n$", 1),
        ("converted", "$d = (unsigned) n$", 2),
        ("converted", "$d = (unsigned char) n$", 1),
        ("copied", "write(p, d)", 1),
        ("copied", "read(p, d)", 1),
        ("null", "$p = NULL$", 1),
        ("null", "$p = q$ && IsConstStr(q)", 2),
    ];
    let mut wrong = Vec::new();
    for (name, point, expected) in cases {
        let found = matches(&program, name, point).len();
        if found != expected {
            wrong.push(format!("{name}: {point}: {found} instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_edge_of_a_branch_is_the_one_where_the_condition_holds() {
    let program = import(CODE);
    let edges = |point: &str| -> Vec<Option<bool>> {
        matches(&program, "branches", point).iter().map(|found| found.bindings.edge).collect()
    };
    assert_eq!(edges("$if (n >= 0)$"), [Some(true)]);
    assert_eq!(edges("$if (n < 0)$"), [Some(false)]);
}

#[test]
fn constant_indices_and_sizes_bind_as_numbers() {
    let program = import(CODE);
    let d = VarIndex(5);
    let bound: Vec<Argument> = matches(&program, "accesses", "$table[d] = e$")
        .iter()
        .chain(&matches(&program, "accesses", "$*p = e$"))
        .filter_map(|found| found.bindings.get(d).cloned())
        .collect();
    assert_eq!(bound.len(), 1);
    let sizes: Vec<Argument> = matches(&program, "copied", "read(p, d)")
        .iter()
        .filter_map(|found| found.bindings.get(d).cloned())
        .collect();
    assert_eq!(sizes, [Argument::Number(32)]);
}

/// What the built-in rules observe in a function, as rule ids.
fn observed(rules: &Rules, program: &Program, name: &str) -> Vec<String> {
    let found = rules.observed_patterns.scan(program, function(program, name));
    found.iter().map(|found| rules.fault(rules.observed(found.pattern).fault).id.clone()).collect()
}

#[test]
fn models_make_library_calls_observable() {
    let program = import(CODE);
    let rules = discover::rules(&[]).unwrap();
    let in_calls = observed(&rules, &program, "calls");
    let count = |id: &str| in_calls.iter().filter(|found| *found == id).count();
    // strcpy writes; it and strlen read strings; all three pointers are dereferenced.
    assert_eq!((count("buffer-overflow"), count("buffer-overread")), (1, 2), "{in_calls:?}");
    assert_eq!(count("null-dereference"), 3);
    // scanf stores one string of at most ten bytes.
    let declared = observed(&rules, &program, "declared");
    assert!(declared.contains(&"buffer-overflow".to_string()), "{declared:?}");
}

#[test]
fn a_program_that_defines_its_own_strcpy_is_taken_at_its_word() {
    let program = import(
        "char *strcpy(char *a, const char *b) { return a; }\n\
                          void f(char *a, char *b) { strcpy(a, b); }\n",
    );
    let rules = discover::rules(&[]).unwrap();
    // Its arguments are used, but nothing is said about what the call writes.
    let found = observed(&rules, &program, "f");
    let is_use = |id: &String| matches!(id.as_str(), "uninitialized-read" | "use-after-free");
    assert!(found.iter().all(is_use), "{found:?}");
}

#[test]
fn the_figures_find_what_the_paper_says() {
    let program = import(CODE);
    let figure = |text: &str, name: &str| {
        let (spec, diagnostics) = check(text);
        assert_eq!(diagnostics, Vec::new());
        let rules = Rules::new(&[spec]).unwrap();
        rules.observed_patterns.scan(&program, function(&program, name)).len()
    };
    assert_eq!(figure(include_str!("figures/fig3.fault"), "calls"), 1);
    assert_eq!(figure(include_str!("figures/fig3.fault"), "accesses"), 4);
    assert_eq!(figure(include_str!("figures/fig5.fault"), "arithmetic"), 8);
    assert_eq!(figure(include_str!("figures/fig6.fault"), "accesses"), 13);
}
