//! What a source is made of, macros and broken code included.

use syntax::{Source, StatementKind};

const LOOP: &str = "\
#define MAX 10
static int *
sum(int a[], int n)
{
    int i, total = 0;
    for (i = 0; i <= n; i++) {
        if (a[i] > MAX && total < 5)
            total += f(a[i], n);
        else
            while (*a) a++;
    }
    return &total;
}
";

#[test]
fn functions_have_their_names() {
    let functions = Source::parse(LOOP).functions();
    let names: Vec<&str> = functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["sum"]);
}

#[test]
fn statements_end_where_nested_ones_begin() {
    let source = Source::parse(LOOP);
    let statements = source.statements();
    let texts: Vec<String> = statements.iter().map(|s| source.slice(&s.bytes)).collect();
    assert_eq!(
        texts,
        [
            "int i, total = 0;",
            "for (i = 0; i <= n; i++)",
            "if (a[i] > MAX && total < 5)",
            "total += f(a[i], n);",
            "while (*a)",
            "a++;",
            "return &total;",
        ]
    );
    assert!(statements.iter().all(|s| s.function == "sum"));
    assert_eq!(statements[1].kind, StatementKind::For);
}

#[test]
fn statements_are_found_by_line() {
    let source = Source::parse("int f(int a) {\n  return a\n    + 1;\n}\n");
    let on = |line| source.statements_at(line).into_iter().map(|s| source.slice(&s.bytes));
    assert_eq!(on(2).collect::<Vec<_>>(), ["return a\n    + 1;"]);
    assert_eq!(on(3).collect::<Vec<_>>(), ["return a\n    + 1;"]);
    assert_eq!(on(9).count(), 0);
}

#[test]
fn expressions_have_operators_operands_and_a_role() {
    let source = Source::parse(LOOP);
    let head = source.statements_at(6).remove(0);
    let expressions = source.expressions(&head.bytes);
    let condition = expressions.iter().find(|e| e.parent.1 == Some("condition")).unwrap();
    assert_eq!(condition.kind, "binary_expression");
    assert_eq!(source.slice(condition.operator.as_ref().unwrap()), "<=");
    let operands: Vec<String> = condition.operands.iter().map(|o| source.slice(o)).collect();
    assert_eq!(operands, ["i", "n"]);
    let call = source.statements_at(8).remove(0);
    let call = source.expressions(&call.bytes).into_iter().find(|e| e.kind == "call_expression");
    let operands: Vec<String> = call.unwrap().operands.iter().map(|o| source.slice(o)).collect();
    assert_eq!(operands, ["f", "a[i]", "n"]);
}

#[test]
fn broken_code_costs_only_itself() {
    let source = Source::parse("int f(void) { return 1; }\n@@ ]\nint g(void) { x = 2; }\n");
    let names: Vec<String> = source.functions().into_iter().map(|f| f.name).collect();
    assert!(names.contains(&"f".to_owned()) && names.contains(&"g".to_owned()), "{names:?}");
    assert!(source.has_error(&(0..source.text().len())));
    let deep = "(".repeat(50_000);
    assert!(Source::parse(format!("int f(void) {{ return {deep}")).statements().len() < 3);
    assert_eq!(Source::parse([0u8, 0xff, 0xfe].to_vec()).statements(), []);
}

#[test]
fn lines_and_columns_count_from_one() {
    let source = Source::parse("a\nbc\n");
    assert_eq!(source.position(0), (1, 1));
    assert_eq!(source.position(3), (2, 2));
    assert_eq!(source.line(2), Some(2..4));
    assert_eq!(source.line(0), None);
    assert_eq!(source.line(5), None);
}
