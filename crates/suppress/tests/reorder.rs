//! Corruptions that fail only in another order of variables.

mod support;

use support::{Case, Found};

fn first_is_bad(case: &Found) {
    assert_eq!(case.line(), case.line_with("/* bad */"), "{:?}", case.chain());
    let order = &case.corruption().expect("it was found").variable_order;
    assert!(!order.is_empty(), "it takes another order");
}

/// Fig 5.6: the overflow reaches two numbers that nothing depends on; with the return address
/// right behind the buffer it fails.
#[test]
fn the_return_address_is_put_behind_a_local_buffer() {
    let case = Case::new(
        r#"
#include <stdio.h>
#include <string.h>
static void comprexx(char **fileptr)
{
    int fdin = 3;
    int fdout = 4;
    char tempname[16];
    strcpy(tempname, *fileptr); /* bad */
    puts(fdin == fdout ? "same" : "different");
}
int main(int argc, char **argv)
{
    comprexx(&argv[argc - 1]);
    return 0;
}
"#,
    )
    .args(&["seventeen letters"])
    .find();
    first_is_bad(&case);
    let order = &case.corruption().expect("it was found").variable_order;
    assert_eq!(order, &["comprexx: tempname, the return address, fileptr, fdin, fdout"]);
    assert!(case.chain()[1].1.contains("the return address"), "{:?}", case.chain());
}

#[test]
fn pointers_are_put_behind_global_buffers() {
    let case = Case::new(
        r#"
#include <stdio.h>
#include <string.h>
char name[16];
char unused[64];
int *count;
int cell = 3;
int main(int argc, char **argv)
{
    count = &cell;
    strcpy(name, argv[argc - 1]); /* bad */
    printf("%d\n", *count);
    unused[0] = 1;
    return 0;
}
"#,
    )
    .args(&["more than sixteen letters"])
    .find();
    first_is_bad(&case);
}

#[test]
fn blocks_that_are_never_freed_are_looked_at_in_the_end() {
    let case = Case::new(
        r#"
#include <stdlib.h>
int main(void)
{
    int *a = malloc(5 * sizeof *a);
    for (int i = 0; i <= 5; i++)
        a[i] = i; /* bad */
    return 0;
}
"#,
    )
    .find();
    first_is_bad(&case);
}

/// Fig 5.7: suppression ends at what was computed from the overwritten byte; another order shows
/// that the copy was there before, and suppression goes on from that failure.
#[test]
fn suppression_and_other_orders_take_turns() {
    let case = Case::new(
        r#"
#include <stdio.h>
#include <string.h>
char name[16];
char unused[64];
char table[64];
int *count;
int cell = 3;
int main(int argc, char **argv)
{
    count = &cell;
    strcpy(name, argv[argc - 1]); /* bad */
    int index = unused[0] * 40000000; /* computed */
    table[index] = 1; /* first crash */
    printf("%d\n", *count); /* second crash */
    return 0;
}
"#,
    )
    .args(&["more than sixteen letters"])
    .find();
    first_is_bad(&case);
    let chain: Vec<u32> = case.chain().iter().map(|(line, _)| *line).collect();
    let expected = ["/* bad */", "/* second crash */", "/* computed */", "/* first crash */"];
    assert_eq!(chain, expected.map(|text| case.line_with(text)));
}
