//! Every implicit conversion, with both C types, in order.

mod common;

use common::{conversions, import, insts, returns};
use program::{ConversionKind, ConversionOrigin, Op};

#[test]
fn truncation_sign_change_and_both() {
    let program = import(
        "void take(unsigned char);
         void f(int i, unsigned u, long l, unsigned long ul) {
           short s = i;
           unsigned char c = u;
           unsigned v = i;
           int w = u;
           signed char both = u;
           unsigned long wide = i;
           int from_long = l;
           unsigned from_ulong = ul;
           take(i);
         }",
    );
    assert_eq!(
        conversions(&program, "f"),
        [
            "Implicit Truncate int -> short",
            "Implicit Truncate unsigned int -> unsigned char",
            "Implicit SignChange int -> unsigned int",
            "Implicit SignChange unsigned int -> int",
            "Implicit Truncate unsigned int -> signed char",
            "Implicit SignExtend int -> unsigned long",
            "Implicit Truncate long -> int",
            "Implicit Truncate unsigned long -> unsigned int",
            "Implicit Truncate int -> unsigned char",
        ]
    );
}

#[test]
fn compound_assignment_increment_return_and_argument() {
    let program = import(
        "typedef unsigned char u8;
         void take(u8 byte, unsigned word);
         short f(short s, u8 c, int n) {
           s += c;
           s++;
           --c;
           c <<= n;
           take(n, s);
           return n;
         }",
    );
    assert_eq!(
        conversions(&program, "f"),
        [
            "Implicit Truncate int -> short",
            "Implicit Truncate int -> short",
            "Implicit Truncate int -> u8",
            "Implicit Truncate int -> u8",
            "Implicit Truncate int -> u8",
            "Implicit SignExtend short -> unsigned int",
            "Implicit Truncate int -> short",
        ]
    );
}

#[test]
fn chained_conversions_keep_their_order_and_feed_each_other() {
    let program = import("int f(int n) { unsigned u; int i; i = u = n; return i; }");
    assert_eq!(
        conversions(&program, "f"),
        ["Implicit SignChange int -> unsigned int", "Implicit SignChange unsigned int -> int"]
    );
    assert_eq!(returns(&program, "f"), ["(int)(unsigned int)param0"]);
}

#[test]
fn conversions_in_conditionals_and_comparisons() {
    let program = import(
        "unsigned f(int c, int n, unsigned u) { return c ? n : u; }
         int g(int n, unsigned u) { return n < u; }
         unsigned h(int n) { return n ?: 5u; }",
    );
    let sign = ["Implicit SignChange int -> unsigned int"];
    assert_eq!(conversions(&program, "f"), sign);
    assert_eq!(conversions(&program, "g"), sign);
    assert_eq!(conversions(&program, "h"), sign);
    assert_eq!(returns(&program, "h"), ["phi((unsigned int)param0, 5)"]);
    let compared = insts(&program, "g").find_map(|inst| match &inst.op {
        Op::Compare { lhs, .. } => {
            Some(common::operand(&program, common::body(&program, "g"), *lhs))
        }
        _ => None,
    });
    assert_eq!(compared.as_deref(), Some("(unsigned int)param0"));
}

#[test]
fn converted_constants_are_conversions_too() {
    let program = import(
        "void take(unsigned);
         int f(unsigned u) { take(-1); return u == -2; }
         void g(char *p) { p[0] = 300; }",
    );
    assert_eq!(
        conversions(&program, "f"),
        ["Implicit SignChange int -> unsigned int", "Implicit SignChange int -> unsigned int"]
    );
    assert_eq!(conversions(&program, "g"), ["Implicit Truncate int -> char"]);
    let call = common::calls(&program, "f")[0];
    let argument = common::operand(&program, common::body(&program, "f"), call.args[0]);
    assert_eq!(argument, "(unsigned int)-1");
}

#[test]
fn bit_field_targets_have_their_width() {
    let program = import(
        "struct s { unsigned a : 5; int b : 7; };
         void f(struct s *p, int n, unsigned u, long l) {
           p->a = n;
           p->a = u;
           p->b = u;
           p->b = l;
           p->b += n;
           p->a++;
         }",
    );
    assert_eq!(
        conversions(&program, "f"),
        [
            "Implicit Truncate int -> unsigned int :5",
            "Implicit Truncate unsigned int -> unsigned int :5",
            "Implicit Truncate unsigned int -> int :7",
            "Implicit Truncate long -> int :7",
            "Implicit Truncate int -> int :7",
            "Implicit Truncate unsigned int -> unsigned int :5",
        ]
    );
}

#[test]
fn casts_the_programmer_wrote_are_explicit() {
    let program = import(
        "unsigned char f(int n) { return (unsigned char)n; }
         unsigned long g(int n) { return (unsigned long)n; }
         int h(double d) { return (int)d; }
         int i(char *p) { return (int)(long)p; }",
    );
    assert_eq!(conversions(&program, "f"), ["Explicit Truncate int -> unsigned char"]);
    assert_eq!(conversions(&program, "g"), ["Explicit SignExtend int -> unsigned long"]);
    assert_eq!(conversions(&program, "h"), ["Explicit FloatToSigned double -> int"]);
    assert_eq!(conversions(&program, "i")[0], "Explicit PointerToInt char * -> unsigned long");
}

#[test]
fn promotions_booleans_and_indices_are_the_compilers() {
    let program = import(
        "int f(char *p, int i, _Bool b) { if (b) return p[i]; return i == 3; }
         long g(int i) { return i; }
         long h(char *p, char *q) { return p - q; }",
    );
    assert_eq!(conversions(&program, "f"), [""; 0]);
    assert_eq!(conversions(&program, "g"), [""; 0]);
    assert_eq!(conversions(&program, "h"), [""; 0]);
    let widened = insts(&program, "g").find_map(|inst| match &inst.op {
        Op::Convert(conversion) => Some((conversion.kind, conversion.origin)),
        _ => None,
    });
    assert_eq!(widened, Some((ConversionKind::SignExtend, ConversionOrigin::Compiler)));
}

#[test]
fn wide_integers_are_checked_like_narrow_ones() {
    let program = import("long f(__int128 w) { long l = w; unsigned __int128 u = w; return l; }");
    assert_eq!(
        conversions(&program, "f"),
        ["Implicit Truncate __int128 -> long", "Implicit SignChange __int128 -> unsigned __int128"]
    );
}

#[test]
fn checks_leave_no_blocks_behind() {
    let program =
        import("short f(int a, int b) { short s = a; unsigned char c = b; return s + c; }");
    assert_eq!(common::body(&program, "f").blocks.len(), 1);
}

/// Conversions of a function that the compiler needed, widenings among them.
fn widenings(program: &program::Program, name: &str) -> Vec<String> {
    let shown = |inst: &program::Inst| match &inst.op {
        Op::Convert(c) if c.origin == ConversionOrigin::Compiler => {
            Some(format!("{} -> {}", program.type_name(c.from), program.type_name(c.to)))
        }
        _ => None,
    };
    insts(program, name).filter_map(shown).collect()
}

#[test]
fn widened_values_have_the_type_of_what_they_are_used_with() {
    let program = import(
        "long sum(unsigned char b, long l) { return b + l; }
         unsigned long unsigned_sum(unsigned char b, unsigned long l) { return b + l; }
         int choice(int c, unsigned char b, long l) { return c ? b : l; }
         int less(unsigned short b, long l) { return b < l; }
         long quotient(unsigned a, long b) { return a / b; }",
    );
    assert_eq!(widenings(&program, "sum"), ["unsigned char -> long"]);
    assert_eq!(widenings(&program, "unsigned_sum"), ["unsigned char -> unsigned long"]);
    assert_eq!(widenings(&program, "choice"), ["unsigned char -> long"]);
    assert_eq!(widenings(&program, "less")[0], "unsigned short -> long");
    assert_eq!(widenings(&program, "quotient"), ["unsigned int -> long"]);
    let sum = insts(&program, "sum").find(|i| matches!(i.op, Op::Binary { .. })).expect("a sum");
    assert_eq!(program.type_name(sum.ctype), "long");
}

#[test]
fn casts_of_the_sign_alone_show_in_what_is_widened() {
    let program = import(
        "long f(unsigned u) { return (int)u; }
         unsigned long g(int i) { return (unsigned)i; }
         double h(unsigned u) { return (int)u; }
         long divides(unsigned u) { return (int)u / 2; }
         struct s { int b : 3; };
         long beside_bits(struct s *p, unsigned short u) { p->b = 1; return (short)u; }",
    );
    assert_eq!(widenings(&program, "f"), ["int -> long"]);
    assert_eq!(widenings(&program, "g"), ["unsigned int -> unsigned long"]);
    assert_eq!(widenings(&program, "beside_bits"), ["short -> long"]);
    assert_eq!(widenings(&program, "h"), ["int -> double"]);
    let quotient = insts(&program, "divides").find(|i| matches!(i.op, Op::Binary { .. }));
    assert_eq!(program.type_name(quotient.expect("a quotient").ctype), "int");
}

#[test]
fn the_text_tells_casts_to_and_from_floats_and_pointers() {
    let program = import(
        "typedef int whole;
         int f(double d, float g, long l, char *p) {
           int i = d;
           i = (int)d;
           i = (whole)d;
           g = d;
           g = (float)(d + 1);
           d = l;
           d = (double)l;
           i += (d);
           i = (long)p;
           long q = p;
           return i + g + q;
         }",
    );
    let all = conversions(&program, "f");
    let floats: Vec<_> = all.iter().filter(|line| !line.contains("Truncate long")).collect();
    assert_eq!(
        floats,
        [
            "Implicit FloatToSigned double -> int",
            "Explicit FloatToSigned double -> int",
            "Explicit FloatToSigned double -> int",
            "Implicit FloatTruncate double -> float",
            "Explicit FloatTruncate double -> float",
            "Implicit SignedToFloat long -> double",
            "Explicit SignedToFloat long -> double",
            "Implicit FloatToSigned double -> int",
            "Explicit PointerToInt char * -> long",
            "Implicit PointerToInt char * -> long",
            "Implicit SignedToFloat int -> float",
            "Implicit SignedToFloat long -> float",
            "Implicit FloatToSigned float -> int",
        ]
    );
}
