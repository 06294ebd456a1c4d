//! What runs watch, rule by rule: each fault at its line, and near misses at none. A comment
//! `//~ rule` marks the line of a fault.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use capture::provenance;
use explore::ending::{loc_of, violations};
use explore::watching::Watching;
use explore::{Property, Rules};
use interpret::{GivenWorld, Machine};
use program::Program;

const NAME: &str = "program.c";
const STEPS: u64 = 2_000_000;

fn import(text: &str) -> Program {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join(NAME), text).expect("a file can be written");
    let preprocessed = Command::new("clang-19")
        .args(["-E", "-dD", "-w", "-D_GNU_SOURCE", NAME])
        .current_dir(&folder)
        .output()
        .expect("clang-19 starts");
    let read = &mut |path: &Path| std::fs::read(folder.path().join(path)).ok();
    let prepared = provenance::prepare(&preprocessed.stdout, provenance::Extent::Needed, read);
    let (limits, cancel) = (base::child::Limits::default(), base::Cancel::new());
    let flags: [&str; 0] = [];
    let bitcode = llvm::compile(&prepared.text, &flags, &prepared.map, &limits, &cancel)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let unit = llvm::import(&bitcode, &prepared.map, NAME).expect("what compiles is imported");
    program::link::link(vec![unit]).program
}

type Shown = BTreeSet<(u32, String)>;

fn shown(text: &str, rules: &spec::Rules, wanted: &Rules) -> Shown {
    let program = import(text);
    let watching = Watching::new(&program, rules, wanted);
    let mut machine = Machine::new(&program, STEPS).expect("globals are laid out");
    machine.watch(Some(&watching.watch));
    let files = [(b"data".to_vec(), b"12345678".to_vec())].into();
    machine.give(GivenWorld { files, ..GivenWorld::default() });
    let result = machine.run_main(&[], b"7\n");
    let told = violations(&machine, &result).map(|(at, property)| {
        let line = program.locs[loc_of(&program, at)].line;
        let rule = match property {
            Property::Fault(kind) => watching.rule(kind),
            Property::Assertion => None,
        };
        (line, rule.unwrap_or(property.rule()).to_owned())
    });
    told.collect()
}

fn expected(text: &str) -> Shown {
    let marked = |(line, text): (usize, &str)| {
        let rule = text.split("//~ ").nth(1)?.trim().to_owned();
        Some((line as u32 + 1, rule))
    };
    text.lines().enumerate().filter_map(marked).collect()
}

#[track_caller]
fn check(body: &str) {
    let rules = spec::discover::rules(&[]).expect("the specifications are right");
    check_with(body, &rules, &Rules::default());
}

#[track_caller]
fn check_with(body: &str, rules: &spec::Rules, wanted: &Rules) {
    const HEAD: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                        #include <fcntl.h>\n#include <unistd.h>\n#include <pthread.h>\n\
                        #include <stdint.h>\n";
    let text = format!("{HEAD}{body}");
    assert_eq!(shown(&text, rules, wanted), expected(&text), "{text}");
}

#[test]
fn memory_is_lost_where_a_variable_is_overwritten() {
    check(
        "int main(void) {
    char *p = malloc(8);
    p = malloc(16); //~ leak
    free(p);
    return 0;
}",
    );
}

#[test]
fn memory_is_lost_where_a_function_returns() {
    check(
        "static int size(int n) {
    char *p = malloc(n);
    if (!p) return -1;
    if (n > 4)
        return 1; //~ leak
    free(p);
    return 0;
}
int main(void) { return size(3) + size(8); }",
    );
}

#[test]
fn memory_is_lost_where_a_place_in_memory_is_overwritten() {
    check(
        "struct box { char *text; };
static void fill(struct box *b) { b->text = strdup(\"abc\"); } //~ leak
int main(void) {
    struct box b = {0};
    fill(&b);
    fill(&b);
    free(b.text);
    return 0;
}",
    );
}

#[test]
fn memory_is_lost_with_what_led_to_it() {
    check(
        "struct node { struct node *next, *before; char *name; };
int main(void) {
    struct node *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    a->next = b; b->before = a;
    a->name = malloc(3);
    free(b);
    a->next = NULL;
    free(a); //~ leak
    return 0;
}",
    );
}

#[test]
fn memory_is_lost_round_by_round() {
    check(
        "int main(void) {
    for (int i = 0; i < 3; i++) {
        char *p = malloc(4);
        if (i == 1)
            continue; //~ leak
        free(p);
    }
    return 0;
}"
        .replace(
            "            continue; //~ leak",
            "            puts(\"lost\"); //~ leak\n        else",
        )
        .as_str(),
    );
}

#[test]
fn an_answer_that_is_not_read_is_lost() {
    check("int main(void) {\n    strdup(\"x\"); //~ leak\n    return 0;\n}");
}

#[test]
fn what_is_in_reach_is_not_lost() {
    check(
        "struct node { struct node *next; int value; };
static struct node *all;
static char *last;
static struct node *push(struct node *head, int value) {
    struct node *n = malloc(sizeof *n);
    n->next = head; n->value = value;
    return n;
}
static char *end_of(char *text) { while (*text) text++; return text; }
int main(void) {
    for (int i = 0; i < 100; i++) all = push(all, i);
    struct node *head = NULL;
    for (int i = 0; i < 9; i++) head = push(head, i);
    while (head) { struct node *next = head->next; free(head); head = next; }
    last = end_of(strdup(\"reached from its end\"));
    char **table = malloc(4 * sizeof *table);
    for (int i = 0; i < 4; i++) table[i] = malloc(i + 1);
    table = realloc(table, 8 * sizeof *table);
    for (int i = 0; i < 4; i++) free(table[i]);
    free(table);
    return 0;
}",
    );
}

#[test]
fn what_a_variable_still_holds_at_exit_is_not_lost() {
    check(
        "static void fail(const char *why) { puts(why); exit(1); }
int main(void) {
    char *p = malloc(10);
    if (getchar() == '7') fail(\"bad\");
    free(p);
    return 0;
}",
    );
}

#[test]
fn streams_and_descriptors_are_lost() {
    check(
        "static int first(const char *name) {
    FILE *f = fopen(name, \"r\");
    if (!f) return -1;
    int c = getc(f);
    if (c == '1')
        return c; //~ leak
    fclose(f);
    return 0;
}
static int count(const char *name) {
    int fd = open(name, O_RDONLY);
    char byte;
    if (fd < 0) return -1;
    if (read(fd, &byte, 1) == 1)
        return byte; //~ leak
    close(fd);
    return 0;
}
int main(void) { return first(\"data\") + count(\"data\") == 0; }",
    );
}

#[test]
fn streams_and_descriptors_that_are_closed_or_kept_are_not_lost() {
    check(
        "static int kept = -1;
struct reader { int fd; };
static int start(struct reader *r) { r->fd = open(\"data\", O_RDONLY); return r->fd < 0; }
static FILE *get(void) { return fopen(\"data\", \"r\"); }
int main(void) {
    struct reader r;
    FILE *f = get();
    if (f) fclose(f);
    kept = open(\"data\", O_RDONLY);
    if (!start(&r)) close(r.fd);
    int fd = open(\"data\", O_RDONLY);
    FILE *g = fdopen(fd, \"r\");
    if (g) fclose(g);
    int three = 3;
    return three == 4;
}",
    );
}

#[test]
fn a_stream_is_used_after_it_was_closed() {
    check(
        "int main(void) {
    FILE *f = fopen(\"data\", \"r\");
    if (!f) return 1;
    int c = getc(f);
    fclose(f);
    fflush(stdout);
    int fd = open(\"data\", O_RDONLY);
    close(fd);
    lseek(fd, 0, SEEK_SET); //~ write-after-close
    return c == 0;
}",
    );
}

#[test]
fn a_lock_is_taken_twice() {
    check(
        "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m); //~ lock-pairing
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m); //~ lock-pairing
    return 0;
}",
    );
}

#[test]
fn an_unsigned_number_that_wraps_becomes_a_size() {
    check(
        "static unsigned less(unsigned a, unsigned b) {
    return a - b; //~ integer-overflow
}
int main(void) {
    unsigned n = less(getchar() - '0', 9);
    char text[4] = \"abc\";
    return n > 4 ? 0 : text[n];
}"
        .replace("n > 4 ? 0 : text[n]", "n > (unsigned)strlen(text) ? 0 : 1")
        .as_str(),
    );
}

#[test]
fn a_sum_that_wraps_passes_a_test() {
    check(
        "static int fits(unsigned at, unsigned size, unsigned all) {
    return at + size <= all; //~ integer-overflow
}
int main(void) { return fits(0xfffffff0u + getchar() - '7', 32, 64); }",
    );
}

#[test]
fn numbers_that_wrap_on_purpose_are_none() {
    check(
        "static unsigned hash(const char *s) { unsigned h = 5381; while (*s) h = h * 33 + *s++; return h; }
static int adds(unsigned a, unsigned b) { return a + b < a; }
static int is_digit(int c) { return (unsigned)c - '0' < 10u; }
static unsigned step(unsigned x) { x ^= x << 13; x ^= x >> 17; return x * 2654435761u; }
int main(void) {
    static int table[64];
    unsigned n = 10, total = 0;
    table[hash(\"some longer text than fits\") % 64]++;
    table[step(12345) & 63]++;
    while (n-- > 0) total += n;
    for (unsigned i = 3; i < 4; i--) total++;
    unsigned a = getchar();
    unsigned back = a - 100 + 100;
    return adds(4000000000u, a * 100000000u) + is_digit(a) + table[back % 64] + (total == back);
}",
    );
}

#[test]
fn a_number_does_not_fit_the_type_it_is_converted_to() {
    check(
        "static unsigned short length(size_t n) {
    unsigned short small = n; //~ integer-truncation
    return small;
}
int main(void) {
    char *p = malloc(length(65536 + (getchar() == '7')));
    free(p);
    unsigned char low = 300 & 0xff;
    unsigned char cast = (unsigned char)(low + 300);
    return cast == low;
}",
    );
}

#[test]
fn a_negative_number_becomes_a_size() {
    check(
        "static int find(const char *s, char c) { const char *at = strchr(s, c); return at ? at - s : -1; }
int main(void) {
    char to[16] = \"\", from[16] = \"abc\";
    int n = find(from, getchar());
    size_t size = n; //~ integer-signedness
    if (size > sizeof to) size = 3;
    memcpy(to, from, size);
    memset(to, 0, n < 0 ? 0 : n);
    return 0;
}"
        .replace("if (size > sizeof to) size = 3;", "char *p = malloc(size); free(p); size = 3;")
        .as_str(),
    );
}

#[test]
fn a_loop_that_repeats_itself_never_ends() {
    check(
        "int main(void) {
    int n = 10, i = 0;
    while (i < n) { //~ infinite-loop
        if (n == 10) continue;
        i++;
    }
    return i;
}",
    );
}

#[test]
fn a_long_loop_ends() {
    check(
        "int main(void) {
    static unsigned a[4];
    long i = 0, n = 3000;
    while (i < n) i++;
    while (a[0] < 40) { a[1] = (a[1] + 1) % 50; if (!a[1]) a[0]++; }
    for (int k = 0; k < 2000; k++) a[2] = k;
    return i == a[0];
}",
    );
}

#[test]
fn rules_of_a_user_are_watched() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("gate.fault");
    let text = "fault gate-open\ntitle \"the gate is left open\"\nseverity error\n\nvars ptr g;\n\n\
                observe\n  at $gate_drive(g)$\n    require State(g) != open\n\n\
                contribute\n  at $gate_open(g)$\n    State(g) := open\n  at $gate_close(g)$\n    \
                State(g) := shut\n\nmessage \"{g} is open\"\n";
    std::fs::write(&path, text).expect("a file can be written");
    let rules = spec::discover::rules(&[path]).expect("the specification is right");
    let body = "struct gate { int height; };
static void gate_open(struct gate *g) { g->height = 3; }
static void gate_close(struct gate *g) { g->height = 0; }
static void gate_drive(struct gate *g) { g->height++; }
int main(void) {
    static struct gate a, b;
    gate_open(&a);
    gate_drive(&b);
    gate_close(&a);
    gate_drive(&a);
    gate_open(&a);
    gate_drive(&a); //~ gate-open
    return 0;
}";
    check_with(body, &rules, &Rules::default());
    // Only what is asked for is watched.
    let other = Rules { only: ["leak".to_owned()].into(), is_strict: false };
    check_with(&body.replace("//~ gate-open", ""), &rules, &other);
}

#[test]
fn what_only_strict_reports_stays_so() {
    let body = "int main(void) {
    unsigned h = 4000000000u;
    h += 500000000u * (getchar() - '0'); //~ integer-overflow
    printf(\"%u\\n\", h);
    return 0;
}";
    let rules = spec::discover::rules(&[]).expect("the specifications are right");
    check_with(&body.replace("//~ integer-overflow", ""), &rules, &Rules::default());
    check_with(body, &rules, &Rules { is_strict: true, ..Rules::default() });
}

#[test]
fn programs_that_make_no_sense_are_watched_without_a_panic() {
    let rules = spec::discover::rules(&[]).expect("the specifications are right");
    for text in [
        "int main(void) { for (;;) { if (main) break; } return 0; }",
        "#include <setjmp.h>\nstatic jmp_buf b; int main(void) { volatile int n = 0; \
         if (setjmp(b) > 3) return 0; n++; longjmp(b, n); }",
        "#include <stdarg.h>\nstatic int f(int n, ...) { va_list l; va_start(l, n); \
         int x = va_arg(l, int); va_end(l); return x; } int main(void) { return f(1, 0); }",
        "#include <stdlib.h>\nstruct s { char *p; long a[3]; }; static struct s f(void) { \
         struct s s = { malloc(1) }; return s; } int main(void) { free(f().p); return 0; }",
        "int main(void) { int n = 3; int a[n]; a[0] = 1; return a[0] - 1; }",
    ] {
        assert_eq!(shown(text, &rules, &Rules::default()), Shown::new(), "{text}");
    }
}
