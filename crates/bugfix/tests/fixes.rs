//! Which descriptions a change of a statement gets.

use bugfix::{NoFix, statement_fix};

fn program(statement: &str) -> String {
    format!(
        "#define LIMIT 9\nenum state {{ IDLE, BUSY }};\nstruct s {{ int a, b; struct s *next; }};\n\
         int f(int i, int j, int *a, struct s *p) {{\n  int n = 0;\n  {statement}\n  return n;\n}}\n"
    )
}

fn fixes(old: &str, new: &str) -> Vec<String> {
    let fix = statement_fix(program(old).as_bytes(), program(new).as_bytes());
    let fix = fix.unwrap_or_else(|why| panic!("{old} -> {new}: {why}"));
    fix.fixes.into_iter().filter(|fix| !DIRECTIONS.contains(&fix.as_str())).collect()
}

const DIRECTIONS: [&str; 5] = [
    "off by one",
    "let the condition hold in more cases",
    "let the condition hold in fewer cases",
    "compute a larger value",
    "compute a smaller value",
];

#[test]
fn bounds_and_values_move_by_one() {
    let by_one = |old: &str, new: &str| {
        let fix = statement_fix(program(old).as_bytes(), program(new).as_bytes()).unwrap();
        fix.fixes.contains("off by one")
    };
    assert!(by_one("if (i <= j) n = 1;", "if (i < j) n = 1;"));
    assert!(by_one("n = a[i];", "n = a[i + 1];"));
    assert!(by_one("n = a[i - 1];", "n = a[i];"));
    assert!(by_one("n = 4;", "n = 5;"));
    assert!(!by_one("n = 4;", "n = 6;"));
    assert!(!by_one("if (i < j) n = 1;", "if (i > j) n = 1;"));
}

/// Which way a fix goes, whatever it changes.
#[test]
fn changes_have_a_direction() {
    let direction = |old: &str, new: &str| {
        let fix = statement_fix(program(old).as_bytes(), program(new).as_bytes()).unwrap();
        DIRECTIONS.into_iter().skip(1).find(|direction| fix.fixes.contains(*direction))
    };
    let [_, more, fewer, larger, smaller] = DIRECTIONS.map(Some);
    for (old, new, expected) in [
        ("if (i <= j) n = 1;", "if (i < j) n = 1;", fewer),
        ("if (i < 4) n = 1;", "if (i < 5) n = 1;", more),
        ("if (4 < i) n = 1;", "if (5 < i) n = 1;", fewer),
        ("if (i > j) n = 1;", "if (i > j - 1) n = 1;", more),
        ("if (!(i > 3)) n = 1;", "if (!(i > 4)) n = 1;", more),
        ("if (i && j) n = 1;", "if (i || j) n = 1;", more),
        ("if (i || j) n = 1;", "if (i) n = 1;", fewer),
        ("if (i) n = 1;", "if (i && j > 2) n = 1;", fewer),
        ("if (i < j) n = 1;", "if (i > j) n = 1;", None),
        ("if (a[i] == 2) n = 1;", "if (a[i + 1] == 2) n = 1;", None),
        ("n = i < 3;", "n = i <= 3;", more),
        ("n = 3;", "n = 4;", larger),
        ("n = i + j;", "n = i - j;", smaller),
        ("n = i - (j - 1);", "n = i - j;", smaller),
        ("n = g(i);", "n = g(i - 1);", smaller),
        ("n = a[i + 1];", "n = a[i];", smaller),
        ("n = i;", "n = j;", None),
    ] {
        assert_eq!(direction(old, new), expected, "{old} -> {new}");
    }
}

#[test]
fn changes_have_general_and_specific_descriptions() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "if (i <= j) n = 1;",
            "if (i < j) n = 1;",
            &[
                "change `<=` into `<`",
                "comparison operator mutation",
                "exclude equality from the comparison",
                "operator mutation",
            ],
        ),
        (
            "n = i + j;",
            "n = i - j;",
            &["arithmetic operator mutation", "change `+` into `-`", "operator mutation"],
        ),
        (
            "if (i && j) n = 1;",
            "if (i || j) n = 1;",
            &["change `&&` into `||`", "logical operator mutation", "operator mutation"],
        ),
        (
            "i++;",
            "i--;",
            &["change `++` into `--`", "increment operator mutation", "operator mutation"],
        ),
        (
            "n += j;",
            "n = j;",
            &["assignment operator mutation", "change `+=` into `=`", "operator mutation"],
        ),
        (
            "n = 16;",
            "n = 15;",
            &["constant mutation", "decrease constant value", "decrease constant value by 1"],
        ),
        ("n = 0x10;", "n = 64;", &["constant mutation", "increase constant value"]),
        ("n = 'a';", "n = 'b';", &["change a character constant", "constant mutation"]),
        ("n = IDLE;", "n = BUSY;", &["constant mutation", "use another named constant"]),
        (
            "n = a[i];",
            "n = a[i - 1];",
            &["add -1 term to expression", "add term to expression", "decrease variable value"],
        ),
        (
            "n = a[i + 1];",
            "n = a[i];",
            &[
                "decrease variable value",
                "remove +1 term from expression",
                "remove term from expression",
            ],
        ),
        ("n = i;", "n = i * j;", &["add term to expression"]),
        (
            "while (i < 3) i++;",
            "while (i < 3 && a[i]) i++;",
            &["add a condition", "add a condition with `&&`"],
        ),
        (
            "if (i || j) n = 2;",
            "if (i) n = 2;",
            &["remove a condition", "remove a condition with `||`"],
        ),
        ("if (i) n = 2;", "if (!i) n = 2;", &["negate the condition"]),
        ("if (!(i < j)) n = 2;", "if (i < j) n = 2;", &["negate the condition"]),
        ("n = i;", "n = j;", &["use another variable"]),
        ("n = p->a;", "n = p->b;", &["use another member", "use another variable"]),
        ("n = i;", "n = 0;", &["use a constant instead of a variable"]),
        ("n = 7;", "n = LIMIT;", &["constant mutation", "use another named constant"]),
        ("n = 7;", "n = j;", &["use a variable instead of a constant"]),
        ("n = g(i, j);", "n = g(j, i);", &["swap arguments"]),
        ("n = g(i, j);", "n = h(i, j);", &["call another function"]),
        ("n = g(i);", "n = g(i, j);", &["add an argument"]),
        ("n = i;", "n = abs(i);", &["add a function call"]),
        ("n = i - j;", "n = j - i;", &["swap operands"]),
        ("n = *a;", "n = a;", &["remove a dereference"]),
        ("n = i / j;", "n = (double)i / j;", &["add a cast"]),
        (
            "for (i = 0; i < j; i++) n++;",
            "for (i = 1; i < j; i++) n++;",
            &["constant mutation", "increase constant value", "increase constant value by 1"],
        ),
        (
            "break;",
            "continue;",
            &["change `break` into `continue`", "change the kind of statement"],
        ),
        (
            "if (i < LIMIT) n = 1;",
            "if (i < LIMIT - 1) n = 1;",
            &["add -1 term to expression", "add term to expression", "decrease variable value"],
        ),
    ];
    for (old, new, expected) in cases {
        assert_eq!(fixes(old, new), *expected, "{old} -> {new}");
    }
}

#[test]
fn whole_statements_come_and_go() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "n = p->a;",
            "if (p == NULL) return -1; n = p->a;",
            &["add a check", "add a null check", "add a statement"],
        ),
        (
            "n = a[i];",
            "if (i < 9) n = a[i];",
            &["add a bound check", "add a check", "add a statement"],
        ),
        ("n = 2;", "n = 2; free(p);", &["add a call", "add a call of `free`", "add a statement"]),
        ("n = 2;", "n = 2; i = 0;", &["add a statement", "add an assignment"]),
        ("n = 2; i = 0;", "n = 2;", &["remove a statement", "remove an assignment"]),
        ("if (j) n = 1;", "if (j) { n = 1; break; }", &["add a jump", "add a statement"]),
    ];
    for (old, new, expected) in cases {
        assert_eq!(fixes(old, new), *expected, "{old} -> {new}");
    }
}

#[test]
fn what_is_no_fix_of_one_statement_is_said() {
    let check = |old: &str, new: &str, why: NoFix| {
        let found = statement_fix(program(old).as_bytes(), program(new).as_bytes());
        assert_eq!(found.unwrap_err(), why, "{old} -> {new}");
    };
    check("n = 1;", "n  =  1; /* only looks */", NoFix::Nothing);
    check("n = 1; i = 2;", "n = 2; i = 1;", NoFix::Several);
    check("n = 1;", "n = = 2;", NoFix::NotC);
    let old = program("n = 1;");
    let new = program("n = 2;").replace("LIMIT 9", "LIMIT 8");
    assert_eq!(statement_fix(old.as_bytes(), new.as_bytes()), Err(NoFix::Elsewhere));
    let huge = vec![b'x'; 3 << 20];
    assert_eq!(statement_fix(old.as_bytes(), &huge), Err(NoFix::TooLarge));
    let noise: Vec<u8> = (0..5000u32).map(|n| (n * 7919 % 256) as u8).collect();
    assert!(statement_fix(&noise, old.as_bytes()).is_err());
}

#[test]
fn the_faulty_statement_of_missing_code_is_its_neighbour() {
    let old = program("n = p->a;");
    let new = program("if (!p) return 0;\n  n = p->a;");
    let fix = statement_fix(old.as_bytes(), new.as_bytes()).unwrap();
    assert_eq!(&old[fix.statement.bytes], "n = p->a;");
}
