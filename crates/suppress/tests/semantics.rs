//! What is suppressed and what is not: chapter 7.

mod support;

use support::Case;

/// Everything below corrupts `p` first and crashes on it; what happens in between shows
/// whether suppression stays with what is corrupt.
fn with_wild_pointer(body: &str) -> Case {
    Case::new(&format!(
        r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char buffer[16];
static int *p;
static int cell = 7;
static int twice(int v) {{ return 2 * v; }}
static int classify(int v) {{ if (v > 100) return 1; if (v < -100) return 2; return 3; }}
int main(void)
{{
    p = &cell;
    long *aim = (long *)((char *)&p + atoi("0"));
    *aim = 12345678; /* wild */
{body}
    return 0;
}}
"#
    ))
}

fn assert_first_is_wild(body: &str) {
    let case = with_wild_pointer(body).find();
    assert_eq!(case.line(), case.line_with("/* wild */"), "{:?}", case.chain());
    assert_eq!(case.kind(), "stray-write");
}

#[test]
fn a_wild_write_is_found_from_its_crash() {
    assert_first_is_wild("    printf(\"%d\\n\", *p);");
}

#[test]
fn corruption_goes_through_arguments_and_returned_values() {
    assert_first_is_wild(
        "    int v = twice((int)(long)p);\n    int a[4] = {0};\n    cell = a[v];\n    return *p;",
    );
}

#[test]
fn corruption_goes_through_copies_in_memory() {
    assert_first_is_wild(
        "    int *copies[2]; memcpy(copies, &p, sizeof p); struct { int *q; } s = { copies[0] };\n\
         \x20   printf(\"%d\\n\", *s.q);",
    );
}

#[test]
fn a_clean_definition_clears_corruption() {
    // The second crash has nothing to do with the first corruption: it must still happen.
    let case = with_wild_pointer(
        "    printf(\"%d\\n\", *p);\n    p = &cell;\n    int *q = p;\n    q += 40000000; /* far */\n\
         \x20   *q = 1;",
    )
    .find();
    assert_eq!(case.line(), case.line_with("/* far */"), "{:?}", case.chain());
}

#[test]
fn a_corrupt_predicate_skips_its_region() {
    // The loop would never end and the branch would crash on a null pointer.
    let case = with_wild_pointer(
        "    int n = *p;\n    while (n) n = n | 1;\n    if (n) { int *z = 0; *z = 1; }\n\
         \x20   int *z = &cell;\n    z += 40000000; /* far */\n    *z = 1;",
    )
    .find();
    assert_eq!(case.line(), case.line_with("/* far */"), "{:?}", case.chain());
}

#[test]
fn early_returns_end_with_their_function() {
    let case = with_wild_pointer(
        "    int kind = classify(*p);\n    if (kind == 3) { int *z = 0; *z = kind; }\n\
         \x20   int *z = &cell;\n    z += 40000000; /* far */\n    *z = 1;",
    )
    .find();
    assert_eq!(case.line(), case.line_with("/* far */"), "{:?}", case.chain());
}

#[test]
fn a_corrupt_divisor_divides_nothing() {
    let case = with_wild_pointer(
        "    int d = *p;\n    int v = 100 / (d - d);\n    buffer[0] = (char)v;\n\
         \x20   int *z = &cell;\n    z += 40000000; /* far */\n    *z = 1;",
    )
    .find();
    assert_eq!(case.line(), case.line_with("/* far */"), "{:?}", case.chain());
}

#[test]
fn library_functions_are_not_called_with_corrupt_arguments() {
    let case = with_wild_pointer(
        "    int n = *p;\n    printf(\"%d %zu\\n\", n, strlen((char *)p));\n    memset(buffer, 0, n);\n\
         \x20   int *z = &cell;\n    z += 40000000; /* far */\n    *z = 1;",
    )
    .find();
    assert_eq!(case.line(), case.line_with("/* far */"), "{:?}", case.chain());
}

#[test]
fn copying_functions_are_found_as_the_corruption() {
    let calls = [
        ("strcpy(s.name, argv[1]);", "strcpy"),
        ("sprintf(s.name, \"%s!\", argv[1]);", "sprintf"),
        ("memcpy(s.name, argv[1], strlen(argv[1]) + 1);", "memcpy"),
        ("strcat(s.name, argv[1]);", "strcat"),
        ("strncpy(s.name, argv[1], 40);", "strncpy"),
        ("fgets(s.name, 64, stdin);", "fgets"),
        ("if (read(0, s.name, 40) < 1) return 1;", "read"),
        ("scanf(\"%s\", s.name);", "scanf"),
    ];
    for (call, name) in calls {
        let program = format!(
            r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static struct {{ char name[16]; int *count; }} s;
static int count = 1;
int main(int argc, char **argv)
{{
    s.count = &count;
    {call} /* bad */
    printf("%d\n", *s.count);
    return argc > 5;
}}
"#
        );
        let long = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst";
        let case = Case::new(&program).args(&[long]).stdin(long).find();
        assert_eq!(case.line(), case.line_with("/* bad */"), "{name}: {:?}", case.chain());
        assert_eq!(case.kind(), "overflow", "{name}");
    }
}

#[test]
fn an_overrun_found_by_the_allocator_leads_to_the_write() {
    let case = Case::new(
        r#"
#include <stdlib.h>
int main(void)
{
    int *a = malloc(5 * sizeof *a);
    for (int i = 0; i <= 5; i++)
        a[i] = i; /* overrun */
    free(a);
    return 0;
}
"#,
    )
    .find();
    assert_eq!((case.kind(), case.line()), ("stray-write", case.line_with("/* overrun */")));
    assert!(case.chain()[1].1.contains("the allocator finds"), "{:?}", case.chain());
}

#[test]
fn a_failed_assertion_leads_to_what_it_asks_about() {
    let case = Case::new(
        r#"
#include <assert.h>
#include <string.h>
static struct { char name[8]; int limit; } s = { "", 10 };
int main(int argc, char **argv)
{
    strcpy(s.name, argv[1]); /* bad */
    assert(s.limit == 10);
    return argc - 2;
}
"#,
    )
    .args(&["longer than eight"])
    .find();
    assert_eq!((case.kind(), case.line()), ("overflow", case.line_with("/* bad */")));
    assert!(case.chain()[1].1.contains("aborts"), "{:?}", case.chain());
}

#[test]
fn wrong_output_leads_to_who_overwrote_it() {
    let program = r#"
#include <stdio.h>
#include <string.h>
static struct { char name[8]; int price; } s;
int main(int argc, char **argv)
{
    s.price = 5;
    strcpy(s.name, argv[1]); /* bad */
    printf("name %.4s costs %d\n", s.name, s.price);
    return argc - 2;
}
"#;
    let case = Case::new(program).args(&["ninebytes"]).expect("name nine costs 5\n").find();
    assert_eq!((case.kind(), case.line()), ("overflow", case.line_with("/* bad */")));
    let right = Case::new(program).args(&["eight"]).expect("name eigh costs 5\n").find();
    assert!(right.corruption().is_none());
}

/// A list of names is read through a pointer that was overwritten by that of a short text: what
/// lies there is the text's, and a piece of what comes behind it.
#[test]
fn an_address_is_to_blame_for_what_lies_where_it_leads() {
    let case = Case::new(
        r#"
#include <stdlib.h>
#include <string.h>
static struct { char *sections[2]; char **folders; } s;
int main(int argc, char **argv)
{
    static char *none[] = { 0 };
    s.folders = none;
    for (int i = 0; i < argc + 2; i++) {
        char *text = malloc(1);
        text[0] = (char)(argc - argc); /* text */
        s.sections[i] = text; /* bad */
    }
    for (char **f = s.folders; *f; f++)
        if (strcmp(*f, "/usr/man") == 0)
            return 1;
    return argv == 0;
}
"#,
    )
    .find();
    assert_eq!(case.line(), case.line_with("/* bad */"), "{:?}", case.chain());
}
