//! The figures of the paper's chapter 5, written anew: the same failures in the same order,
//! and the same statements suppressed.

mod support;

use support::Case;

/// Figs 5.1 and 5.2: a copied line that was not changed. The run fails at the index, at the
/// null pointer and at the second free, and ends at the copied line.
const COPY_PASTE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
struct s { int f; };
static int read_int(void) { int v = 0; scanf("%d", &v); return v; }
int main(void)
{
    int *x = malloc(2 * sizeof(int)), *y = malloc(2 * sizeof(int));
    int *int_array = malloc(16 * sizeof(int));
    struct s **struct_array = calloc(64, sizeof(struct s *));
    static struct s one;
    struct_array[1] = &one;
    int *p1 = &x[1];
    int *p2 = &x[0];
    int *q1 = &y[1];
    int *q2 = &x[0]; /* copied */
    *p1 = read_int();
    *p2 = read_int();
    *q1 = read_int();
    *q2 = read_int(); /* clobbers */
    int a = *p1 + *p2;
    int b = *q1 + *q2;
    int c = a + b + 1; /* index */
    int_array[c] = 0; /* first crash */
    struct_array[*p2]->f = 0; /* second crash */
    free(p2);
    free(q2); /* third crash */
    return 0;
}
"#;

#[test]
fn a_copied_line_is_found_behind_three_crashes() {
    let case = Case::new(COPY_PASTE).stdin("1 1 3 40000000\n").find();
    assert_eq!(case.kind(), "wrong-value");
    assert_eq!(case.line(), case.line_with("/* copied */"));
    let chain: Vec<u32> = case.chain().iter().map(|(line, _)| *line).collect();
    let expected = [
        "/* copied */",
        "/* third crash */",
        "/* clobbers */",
        "/* second crash */",
        "/* index */",
        "/* first crash */",
    ];
    assert_eq!(chain, expected.map(|text| case.line_with(text)));
}

#[test]
fn the_corrected_program_does_not_fail() {
    let corrected = COPY_PASTE.replace("int *q2 = &x[0];", "int *q2 = &y[0];");
    let corrected = corrected.replace("struct_array[*p2]->f", "if (0) struct_array[*p2]->f");
    let corrected = corrected.replace("int_array[c]", "int_array[c % 16]");
    let corrected = corrected.replace("free(p2)", "free(x)").replace("free(q2)", "free(y)");
    let case = Case::new(&corrected).stdin("1 1 3 40000000\n").find();
    assert!(case.corruption().is_none());
    assert!(case.incomplete().contains("does not fail"), "{}", case.incomplete());
}

/// Fig 5.6 with an input long enough to reach the return address by itself.
#[test]
fn an_overwritten_return_address_leads_to_the_copy() {
    let case = Case::new(
        r#"
#include <stdio.h>
#include <string.h>
static void comprexx(char **fileptr)
{
    int fdin = 3;
    int fdout = 4;
    char tempname[16];
    strcpy(tempname, *fileptr); /* overflow */
    printf("%d %d\n", fdin, fdout);
}
int main(int argc, char **argv)
{
    if (argc > 1)
        comprexx(&argv[1]);
    return 0;
}
"#,
    )
    .args(&["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"])
    .find();
    assert_eq!((case.kind(), case.line()), ("overflow", case.line_with("/* overflow */")));
    assert!(case.chain()[1].1.contains("the return address of `comprexx`"), "{:?}", case.chain());
}
