//! What real code does and is not a fault: each such rule of the design has its fixture.
//!
//! That the fixtures are clean where they say so is what `fixtures.rs` tests. Here every rule
//! names one, and the function in it that keeps the rule.

use std::path::Path;

/// Rule, fixture, function.
const RULES: &[(&str, &str, &str)] = &[
    (
        "a violation must happen for all unknowns, not for some",
        "buffer-overflow/fixtures/amounts.c",
        "copy_ok",
    ),
    (
        "a test inside a callee says nothing about its caller's value",
        "null-dereference/fixtures/callee_decides.c",
        "open_if_present_ok",
    ),
    (
        "a test inside a callee says nothing about its caller's memory",
        "buffer-overflow/fixtures/callee_decides.c",
        "short_ok",
    ),
    (
        "a test inside a macro's body says nothing about its argument",
        "null-dereference/fixtures/macro_null.c",
        "element_ok",
    ),
    (
        "two tests are no evidence that both outcomes occur at once",
        "integer-overflow/fixtures/coincidence.c",
        "both_ok",
    ),
    (
        "calls that nobody follows leave don't-knows",
        "null-dereference/fixtures/filled_later.c",
        "name_compare_ok",
    ),
    (
        "stores through another pointer to the same type leave don't-knows",
        "divide-by-zero/fixtures/aliases.c",
        "parameters_ok",
    ),
    (
        "a pointer read again after such a call may lead to the same place",
        "lock-pairing/fixtures/read_again.c",
        "reads_again_ok",
    ),
    (
        "loops that are not followed to their end leave don't-knows",
        "buffer-underflow/fixtures/tables.c",
        "buckets_ok",
    ),
    (
        "a trailing array of one element or none uses the whole region",
        "buffer-overflow/fixtures/struct_member.c",
        "trailing_ok",
    ),
    (
        "a flexible array uses the whole region",
        "buffer-overflow/fixtures/struct_member.c",
        "flexible_ok",
    ),
    (
        "container_of uses the whole region",
        "buffer-overflow/fixtures/whole_object.c",
        "container_ok",
    ),
    (
        "arithmetic on char * uses the whole region",
        "buffer-overflow/fixtures/whole_object.c",
        "bytes_ok",
    ),
    (
        "memset from the first member's address uses the enclosing object",
        "buffer-overflow/fixtures/whole_object.c",
        "clear_ok",
    ),
    (
        "strncpy is no fault until its result is read as a string",
        "buffer-overread/fixtures/unterminated.c",
        "not_read_ok",
    ),
    (
        "an error return goes with the out-parameters",
        "null-dereference/fixtures/out_parameter.c",
        "correlated_ok",
    ),
    ("storing into reachable memory ends ownership", "leak/fixtures/handed_over.c", "stored_ok"),
    ("returning ends ownership", "leak/fixtures/handed_over.c", "returned_ok"),
    ("passing to unknown code ends ownership", "leak/fixtures/handed_over.c", "passed_ok"),
    (
        "allocators of the program are known by their shape",
        "null-dereference/fixtures/own_allocator.c",
        "checked_ok",
    ),
    (
        "unsigned wrap is a fault only where it becomes a size or an index",
        "integer-overflow/fixtures/hash.c",
        "hash_ok",
    ),
    (
        "explicit narrowing is a fault only where it becomes a size or an index",
        "integer-truncation/fixtures/explicit.c",
        "low_byte_ok",
    ),
];

#[test]
fn every_rule_of_evidence_has_its_fixture() {
    let faults = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../faults");
    for (rule, fixture, function) in RULES {
        let path = faults.join(fixture);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|why| panic!("{rule}: {} cannot be read: {why}", path.display()));
        assert!(text.contains(&format!("{function}(")), "{rule}: no {function} in {fixture}");
        assert!(text.contains("//~ ok["), "{rule}: {fixture} marks nothing as right");
    }
}
