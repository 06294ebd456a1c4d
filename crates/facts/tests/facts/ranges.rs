//! Ranges of values and nullness, as compiled C computes them.

use facts::Nullness;

use crate::common::analyse;

#[test]
fn branches_limit_values() {
    let known = analyse(
        "void f(int n, unsigned u, unsigned char b) { if (n > 3 && n <= 10) see_int(\"both\", n);
            if (u < 16) see_int(\"unsigned\", u); see_int(\"byte\", b); see_int(\"masked\", n & 7);
            switch (n) { case 2: case 5: see_int(\"cases\", n); } if (n != 0) see_int(\"any\", n); }",
    );
    assert_eq!(known.signed_range("both"), (4, 10));
    assert_eq!(known.signed_range("unsigned"), (0, 15));
    assert_eq!(known.signed_range("byte"), (0, 255));
    assert_eq!(known.signed_range("masked"), (0, 7));
    assert_eq!(known.signed_range("cases"), (2, 5));
    assert_eq!(known.signed_range("any"), (i32::MIN.into(), i64::from(i32::MAX)));
}

#[test]
fn unsigned_arithmetic_wraps_around() {
    let known = analyse(
        "void f(unsigned u, unsigned char c) { if (u <= 2) see_int(\"minus\", u - 1);
            unsigned char d = c + 1; see_int(\"narrowed\", d);
            if (u > 4294967290u) see_int(\"plus\", u + 10);
            signed char s = c; see_int(\"sign\", s); see_int(\"shifted\", u << 31); }",
    );
    assert_eq!(known.signed_range("minus"), (0, u32::MAX.into()), "0 - 1 is the largest");
    assert_eq!(known.signed_range("narrowed"), (0, 255));
    let plus = known.range("plus");
    assert!(plus.contains_signed(9) && plus.contains_signed(5), "{plus:?}");
    assert_eq!(known.signed_range("sign"), (-128, 127));
    assert!(known.range("shifted").contains_signed(1 << 31));
}

/// Signed arithmetic is believed not to overflow, as the language promises; decision 004.
#[test]
fn signed_arithmetic_is_believed_not_to_overflow() {
    let known = analyse(
        "void f(int n) { if (n > 2147483640) see_int(\"sum\", n + 100); int m = n + 1;
            if (n >= 0) see_int(\"next\", m); }",
    );
    assert_eq!(known.signed_range("sum"), (i64::from(i32::MAX), i32::MAX.into()));
    assert_eq!(known.signed_range("next").1, i64::from(i32::MAX));
}

#[test]
fn loops_are_widened_and_won_back() {
    let known = analyse(
        "void f(int n) { for (int i = 0; i < 100; i++) see_int(\"in\", i);
            unsigned j = 50; while (j > 3) { see_int(\"down\", j); j--; } see_int(\"after\", j);
            unsigned k = 0; do { see_int(\"wraps\", k); k += 3; } while (k != 100000); }",
    );
    assert_eq!(known.signed_range("in"), (0, 99));
    let (low, high) = known.signed_range("down");
    assert!(low >= 4 && (50..=u32::MAX.into()).contains(&high), "{low} {high}");
    assert!(known.range("after").contains_signed(3));
    assert!(known.range("wraps").contains_signed(4294967295 / 3 * 3), "it goes round");
}

#[test]
fn values_pass_between_functions_and_globals() {
    let known = analyse(
        "static int table[3] = { 4, 8, 6 }; static int written = 5;
         static int half(int n) { see_int(\"argument\", n); return n / 2; }
         int main(int c, char **v) { if (c < 0 || c > 2) return 1; see_int(\"table\", table[c]);
            see_int(\"result\", half(c + 10)); see_int(\"written\", written); written = c + 100; return 0; }",
    );
    let (low, high) = known.signed_range("table");
    assert!(low <= 4 && high == 8, "{low} {high}");
    assert_eq!(known.signed_range("argument"), (10, 12));
    let result = known.range("result");
    assert!(result.contains_signed(5) && result.contains_signed(6) && result.signed_max <= 1 << 30);
    assert!(known.range("written").contains_signed(102));
}

#[test]
fn a_table_read_in_another_width_is_not_its_elements() {
    let known = analyse(
        "static const unsigned char bytes[4] = { 1, 2, 3, 4 };
         int main(int c, char **v) { see_int(\"wide\", *(const int *)bytes); return 0; }",
    );
    assert!(known.range("wide").contains_signed(0x04030201));
}

#[test]
fn blocks_nothing_reaches_are_found() {
    let known = analyse(
        "int f(unsigned char c) { if (c > 300) see_int(\"never\", c); if (c > 200) see_int(\"may\", c);
            return 0; }",
    );
    assert!(known.range("never").signed_min > known.range("never").signed_max);
    assert_eq!(known.signed_range("may"), (201, 255));
}

#[test]
fn pointers_that_can_be_null() {
    let known = analyse(
        "struct s { int a; int b; }; int g; void f(struct s *p) { struct s *q = malloc(8);
            see(\"parameter\", p); see(\"new\", q); see(\"global\", &g);
            if (p) see(\"checked\", p); else see(\"null\", p); if (!q) return; see(\"left\", q);
            see(\"member\", &q->b); }",
    );
    assert_eq!(known.nullness("parameter"), Nullness::Maybe);
    assert_eq!(known.nullness("new"), Nullness::Maybe);
    assert_eq!(known.nullness("global"), Nullness::NotNull);
    assert_eq!(known.nullness("checked"), Nullness::NotNull);
    assert_eq!(known.nullness("null"), Nullness::Null);
    assert_eq!(known.nullness("left"), Nullness::NotNull);
    assert_eq!(known.nullness("member"), Nullness::NotNull);
}
