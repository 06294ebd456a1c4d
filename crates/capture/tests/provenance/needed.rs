//! What is left out of a unit is what its code does not need.

use std::path::Path;

use capture::provenance::Extent;

use crate::clang::{clang, prepare_extent};
use crate::{folder, origins};

fn needed(source: &str) -> String {
    let folder = folder(&[("a.c", source.as_bytes())]);
    let text = prepare_extent(&["a.c"], folder.path(), Extent::Needed).text;
    String::from_utf8(text).expect("the text is as it was").trim().to_owned()
}

/// The compiler's code for a unit, in which positions play no part.
fn code(text: &[u8]) -> String {
    let folder = folder(&[("text.i", text)]);
    let args = ["-w", "-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", "-o", "-"];
    let output = clang(&[&args[..], &["-x", "cpp-output", "text.i"]].concat(), folder.path());
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}in {}", String::from_utf8_lossy(text));
    String::from_utf8(output.stdout).expect("clang writes text")
}

/// Leaves `gone` out, and changes nothing about the code.
#[track_caller]
fn leaves_out(source: &str, gone: &[&str]) {
    let folder = folder(&[("a.c", source.as_bytes())]);
    same_code(&["a.c"], folder.path());
    let text = needed(source);
    for word in gone {
        assert!(source.contains(word), "{word} is in the source");
        assert!(!text.contains(word), "{word} is still in {text}");
    }
}

#[track_caller]
fn same_code(args: &[&str], directory: &Path) {
    let whole = prepare_extent(args, directory, Extent::Whole);
    let needed = prepare_extent(args, directory, Extent::Needed);
    assert_eq!(code(&whole.text), code(&needed.text));
    let mut of_whole = origins(&whole).into_iter();
    for token in origins(&needed) {
        assert!(of_whole.any(|other| other == token), "{token} is not where it was");
    }
}

#[test]
fn what_a_definition_mentions_stays_with_all_that_asks_for() {
    leaves_out(
        "typedef struct a A; struct a { B_FIRST b; };\n\
         typedef struct unused UNUSED; struct unused { int u; };\n\
         int f(A *p) { return p->b.x; }\n"
            .replace("B_FIRST", "struct b { int x; }")
            .as_str(),
        &["UNUSED", "unused"],
    );
    leaves_out(
        "typedef int inner; typedef inner outer; typedef long other;\n\
         extern outer first(void); extern other second(void);\n\
         extern int seen, unseen;\nextern int hidden;\n\
         int f(void) { return first() + seen; }\n",
        &["other", "second", "hidden"],
    );
}

#[test]
fn enumerators_bring_their_enumeration() {
    leaves_out(
        "enum used { ONE = 1, TWO };\nenum { LONELY, ALONE };\n\
         struct holder { enum nested { IN, OUT } e; };\n\
         typedef enum { LEFT, RIGHT = sizeof(int) } side;\n\
         int f(void) { return TWO + OUT + RIGHT; }\n",
        &["LONELY"],
    );
}

#[test]
fn declarators_of_every_shape_are_found() {
    leaves_out(
        "typedef int (*callback)(int arg, void *data);\n\
         typedef int (*(*factory)(int))(long);\n\
         typedef int function(int);\n\
         typedef int row[4], *pointer;\n\
         typedef int (plain);\n\
         extern int (*hook)(int);\n\
         extern int table[], (grouped);\n\
         extern function by_typedef;\n\
         void (*handler(int number, void (*)(int)))(int);\n\
         typedef int (*never)(int);\n\
         int f(callback c, factory g, row r, pointer p, plain i)\n\
         { handler(1, 0); return c(1, 0) + g(2)(3) + r[0] + *p + i + hook(1) + table[0] + grouped\n\
           + by_typedef(1); }\n",
        &["never"],
    );
}

#[test]
fn attributes_and_labels_do_not_hide_names() {
    leaves_out(
        "__attribute__((noreturn)) extern void stop(int) __attribute__((cold));\n\
         extern int renamed(int) __asm__(\"other_name\");\n\
         struct __attribute__((packed)) tight { char c; int i; } __attribute__((aligned(2)));\n\
         __extension__ typedef long long wide;\n\
         extern void lonely(int) __attribute__((cold));\n\
         int f(struct tight *t) { wide w = renamed(t->i); if (!w) stop(1); return (int)w; }\n",
        &["lonely"],
    );
}

#[test]
fn static_functions_go_unless_something_emits_them() {
    leaves_out(
        "static inline int gone(int x) { return x + 1; }\n\
         static int kept(int x) { return x + 2; }\n\
         static void at_start(void) __attribute__((constructor));\n\
         static void at_start(void) { kept(1); }\n\
         static int target(void) { return 3; }\n\
         int alias(void) __attribute__((alias(\"target\")));\n\
         __attribute__((used)) static int used(void) { return 4; }\n\
         int f(void) { return 5; }\n",
        &["gone"],
    );
}

#[test]
fn old_functions_stay_whole() {
    leaves_out(
        "typedef int number;\nint unused(int);\nint helper();\n\
         int f(a, g, p) number a; number g(); struct point { int x; } *p; { return a + g() + p->x; }\n\
         static int old(x) int x; { return x; }\n\
         int g(void) { return old(1) + helper(); }\n",
        &["unused"],
    );
}

/// A tag that first stands in parameters is another one in each of them.
#[test]
fn tags_keep_their_scope() {
    leaves_out(
        "typedef struct shared SHARED;\ntypedef struct other OTHER;\n\
         extern int take(struct shared *);\n\
         int f(struct shared *s) { return _Generic(&take, int (*)(struct shared *): take(s)); }\n",
        &["OTHER"],
    );
}

#[test]
fn what_pragmas_name_stays() {
    leaves_out(
        "extern int faint(void);\n#pragma weak faint\n#pragma pack(push, 1)\n\
         struct tight { char c; int i; };\n#pragma pack(pop)\nextern int gone(void);\n\
         int f(struct tight *t) { return t->i; }\n",
        &["gone"],
    );
}

#[test]
fn one_line_of_many_declarations_is_left_out_in_part() {
    let source = "#define PAIR(t) typedef struct t##_s t; static inline t *t##_new(void) { return 0; }\n\
         PAIR(first) int f(void) { return first_new() == 0; } PAIR(second) int last;\n";
    leaves_out(source, &[]);
    let text = needed(source);
    assert!(text.contains("first_new") && !text.contains("second"), "{text}");
}

#[test]
fn what_is_not_understood_is_kept_whole() {
    for source in
        ["int f(void) { return 1; ) }\nint g(void);\n", "}\nint g(void);\n", "int g(void); {\n"]
    {
        assert!(needed(source).contains("int g(void);"), "{source}");
    }
}

#[test]
fn headers_of_the_system_leave_the_code_as_it_is() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <setjmp.h>\n\
         #include <sys/stat.h>\n#include <pthread.h>\n#include <netdb.h>\n#include <math.h>\n\
         static jmp_buf back;\n\
         int main(int n, char **v) { struct stat s; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         if (n > 1 && !stat(v[1], &s) && !setjmp(back)) printf(\"%ld %f\", (long)s.st_size, sqrt(2));\n\
         pthread_mutex_lock(&m); struct addrinfo *a = 0; getaddrinfo(v[0], 0, 0, &a);\n\
         return strlen(v[0]) > RAND_MAX; }\n";
    let folder = folder(&[("a.c", source.as_bytes())]);
    same_code(&["a.c"], folder.path());
    let text = needed(source);
    assert!(!text.contains("tmpfile"), "unused functions are gone");
    assert!(text.len() < 40_000, "{} bytes are left", text.len());
}
