//! Runs that cannot be analysed say why.

mod support;

use std::time::Duration;

use support::Case;
use suppress::Limits;

fn reason(program: &str, limits: Limits) -> String {
    let case = Case::new(program).limits(limits).find();
    assert!(case.corruption().is_none(), "{:?}", case.findings);
    case.incomplete().to_string()
}

#[test]
fn a_run_that_does_not_fail() {
    assert!(reason("int main(void) { return 0; }", Limits::default()).contains("does not fail"));
}

#[test]
fn a_run_that_does_not_end() {
    let limits = Limits { time: Duration::from_millis(500), ..Limits::default() };
    let said = reason("int main(void) { for (;;) ; }", limits);
    assert!(said.contains("time limit"), "{said}");
}

#[test]
fn a_run_over_its_memory() {
    let program = "#include <stdlib.h>\nint main(void) { for (;;) if (!malloc(1 << 20)) abort(); }";
    let limits = Limits { memory: 16 << 20, ..Limits::default() };
    let said = reason(program, limits);
    assert!(said.contains("memory limit"), "{said}");
}

#[test]
fn a_program_that_forks() {
    let forks = "#include <unistd.h>\nint main(void) { fork(); int *p = 0; *p = 1; }";
    assert!(reason(forks, Limits::default()).contains("other processes"));
}

#[test]
fn a_program_that_fails_differently_each_time() {
    let program = "#include <unistd.h>\n#include <stdlib.h>\n#include <time.h>\n\
        int main(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);\n\
        int n = (int)(t.tv_nsec % 100003); int *a = malloc(4); for (int i = 0; i < n; i++) *a = i;\n\
        a += 400000000; *a = n; return 0; }";
    let said = reason(program, Limits::default());
    assert!(said.contains("differently"), "{said}");
}

#[test]
fn a_program_with_more_threads_than_are_followed() {
    let program = "#include <pthread.h>\n#include <stdlib.h>\n\
        static void *f(void *p) { return p; }\n\
        int main(void) { for (int i = 0; i < 300; i++) { pthread_t t;\n\
        pthread_create(&t, 0, f, 0); pthread_join(t, 0); } abort(); }";
    let said = reason(program, Limits::default());
    assert!(said.contains("more than 256"), "{said}");
}

#[test]
fn a_program_with_threads_that_does_not_fail() {
    let program = "#include <pthread.h>\nstatic void *f(void *p) { return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return pthread_join(t, 0); }";
    let said = reason(program, Limits::default());
    assert!(said.contains("does not fail, in none of 1 orders of its threads"), "{said}");
}
