//! Programs with threads: the figures of the paper's chapter 6, races that do harm and such
//! that do not, deadlocks, and what threads synchronise by.

mod support;

use support::{Case, Found};

/// Fig 6.3. Sleeping makes the threads run in the order of Fig 6.4 (A): thread 1 reads x,
/// thread 2 reads and writes it, thread 1 writes it.
fn critical_section(before: &str, of_x: &str, after: &str) -> String {
    format!(
        r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct s {{ int data; }};
static int *x, *y, z;
static struct s **struct_array, **struct_array2;
static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;
static int foo(int v) {{ return {of_x}; }}
static int foo2(int v) {{ return v * 10; }}
static void *work(void *me)
{{
{before}
    int a = foo(*x);
    if (me == (void *)1)
        usleep(1000);
    *x = *x + a; /* line 2 */
    if (me == (void *)2)
        usleep(3000);
    pthread_mutex_lock(&critical);
    *y = foo2(*x); /* line 3 */
    int b = struct_array[*y]->data; /* line 4 */
    pthread_mutex_unlock(&critical);
    if (me == (void *)1)
        usleep(10000);
    int c = struct_array2[*x]->data; /* line 5 */
{after}
    return (void *)(long)(b + c);
}}
int main(void)
{{
    x = malloc(sizeof *x);
    y = malloc(sizeof *y);
    static struct s one;
    struct_array = calloc(64, sizeof *struct_array);
    struct_array2 = calloc(64, sizeof *struct_array2);
    *x = 1;
    struct_array[10 * 2] = struct_array[10 * 4] = &one;
    struct_array2[2] = struct_array2[4] = &one;
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}}
"#
    )
}

/// Lines, from the first failure on, with the thread that failed there or defined it.
fn sequence(case: &Found) -> Vec<(u32, u32)> {
    let thread_of = |note: &str| {
        let after = note.split("thread ").nth(1).unwrap_or_default();
        after.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    };
    case.chain().iter().rev().map(|(line, note)| (*line, thread_of(note))).collect()
}

#[test]
fn figure_6_4_ends_at_the_harmful_race() {
    let case = Case::new(&critical_section("", "v", "")).find();
    let at = |text: &str| case.line_with(&format!("/* {text} */"));
    let expected = [
        (at("line 4"), 1),
        (at("line 3"), 1),
        (at("line 4"), 2),
        (at("line 3"), 2),
        (at("line 5"), 2),
        (at("line 2"), 1),
    ];
    assert_eq!(sequence(&case), expected, "{:?}", case.chain());
    assert_eq!((case.kind(), case.line()), ("race", at("line 2")));
    let race = &case.corruption().expect("it was found").race;
    let said: Vec<_> =
        race.iter().map(|a| (a.place.line, a.thread.as_str(), a.access.as_str())).collect();
    assert_eq!(said, [(at("line 2"), "2", "write"), (at("line 2"), "1", "write")]);
    assert!(case.message().contains("holds 3, but 2 if thread 1 runs"), "{}", case.message());
}

/// Figs 6.5 and 6.6: the same race, which now changes nothing; the constant is wrong.
#[test]
fn figure_6_6_passes_the_benign_race() {
    let before = "    z = 2; /* line -1 */\n    *x = 3 * z;";
    let after = "    if (z != 5)\n        abort(); /* line 6 */";
    let case = Case::new(&critical_section(before, "v - 6", after)).find();
    let at = |text: &str| case.line_with(&format!("/* {text} */"));
    let expected = [
        (at("line 4"), 1),
        (at("line 3"), 1),
        (at("line 4"), 2),
        (at("line 3"), 2),
        (at("line 5"), 2),
        (at("line 2"), 1),
        (at("line 6"), 2),
        (at("line -1"), 2),
    ];
    assert_eq!(sequence(&case), expected, "{:?}", case.chain());
    assert_eq!((case.kind(), case.line()), ("wrong-value", at("line -1")));
    assert!(case.corruption().is_some_and(|found| found.race.is_empty()));
}

/// Two threads, the first of which runs first.
fn two_threads(globals: &str, first: &str, second: &str) -> Found {
    Case::new(&format!(
        r#"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
static char table[64];
{globals}
static void *one(void *p) {{ {first} return p; }}
static void *two(void *p)
{{
    usleep(10);
{second}
    return p;
}}
int main(void)
{{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return table[0];
}}
"#
    ))
    .find()
}

fn is_race(case: &Found, accesses: [&str; 2]) {
    assert_eq!(case.kind(), "race", "{}", case.message());
    let race = &case.corruption().expect("it was found").race;
    assert_eq!(race.iter().map(|a| a.access.as_str()).collect::<Vec<_>>(), accesses);
    // Of a thread's accesses the outermost call is the one that started it.
    let is_called = |thread: &str, stack: usize| thread == "main" || stack > 0;
    assert!(race.iter().all(|a| is_called(&a.thread, a.stack.len())), "{race:?}");
}

fn is_wrong_value(case: &Found) {
    assert_eq!((case.kind(), case.line()), ("wrong-value", case.line_with("/* bad */")));
    assert!(case.corruption().is_some_and(|found| found.race.is_empty()));
}

#[test]
fn a_write_after_a_read_does_harm_where_its_value_depends_on_the_order() {
    let first = "int n = count; next = n + 70000000;";
    let harmful = "    count = next * 2; /* bad */\n    table[count] = 1;";
    is_race(&two_threads("static int count, next;", first, harmful), ["read", "write"]);
    let benign = "    count = base * 2; /* bad */\n    table[count] = 1;";
    is_wrong_value(&two_threads("static int count, next, base = 70000000;", first, benign));
}

#[test]
fn a_write_after_a_write_does_harm_where_its_value_depends_on_the_order() {
    let harmful = "    count = count + 140000000; /* bad */\n    table[count] = 1;";
    is_race(&two_threads("static int count;", "count = 3;", harmful), ["write", "write"]);
    let benign = "    count = 140000000; /* bad */\n    table[count] = 1;";
    is_wrong_value(&two_threads("static int count;", "count = 140000000;", benign));
}

#[test]
fn a_read_after_a_write_does_harm_where_it_reads_another_value() {
    let first = "\n    count = 140000000; /* bad */\n";
    let reads = "    table[count] = 1;";
    is_race(&two_threads("static int count;", first, reads), ["write", "read"]);
    is_wrong_value(&two_threads("static int count = 140000000;", first, reads));
}

/// Who checks and then uses, while another takes it away.
#[test]
fn a_pointer_taken_away_between_check_and_use() {
    let case = Case::new(
        r#"
#include <threads.h>
static int cell, *shared = &cell;
static int take(void *p) { shared = 0; return p == 0; } /* bad */
int main(void)
{
    thrd_t thread;
    thrd_create(&thread, take, 0);
    if (shared)
        *shared = 1; /* use */
    thrd_join(thread, 0);
    return cell;
}
"#,
    )
    .schedules(200)
    .find();
    is_race(&case, ["write", "read"]);
    assert_eq!(case.chain()[0].0, case.line_with("/* bad */"));
    assert_eq!(case.line(), case.line_with("/* use */"));
}

/// The same wrong value, handed over by each kind of synchronisation: no race.
#[test]
fn synchronisation_orders_accesses() {
    let value = "\n    count = 140000000; /* bad */\n";
    for (globals, before, first, second) in [
        (
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
            "pthread_mutex_lock(&m);",
            "pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); table[count] = 1; pthread_mutex_unlock(&m);",
        ),
        (
            "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;",
            "pthread_rwlock_wrlock(&l);",
            "pthread_rwlock_unlock(&l);",
            "pthread_rwlock_rdlock(&l); table[count] = 1; pthread_rwlock_unlock(&l);",
        ),
        (
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; \
             int is_there;",
            "usleep(1000); pthread_mutex_lock(&m);",
            "is_there = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); while (!is_there) pthread_cond_wait(&c, &m);\n\
             table[count] = 1; pthread_mutex_unlock(&m);",
        ),
        ("sem_t s;", "usleep(1000);", "sem_post(&s);", "sem_wait(&s); table[count] = 1;"),
        (
            "atomic_int is_there;",
            "usleep(1000);",
            "atomic_store(&is_there, 1);",
            "while (!atomic_load(&is_there)) ; table[count] = 1;",
        ),
        (
            "int is_there;",
            "usleep(1000);",
            "__sync_fetch_and_add(&is_there, 1);",
            "while (!__sync_fetch_and_add(&is_there, 0)) ; table[count] = 1;",
        ),
    ] {
        let globals = format!("static int count; static {}", globals.replace("; ", "; static "));
        let first = format!("{before}{value}{first}");
        is_wrong_value(&two_threads(&globals, &first, second));
    }
}

#[test]
fn threads_that_wait_for_each_other_are_a_failure() {
    let case = Case::new(
        r#"
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *other(void *p)
{
    pthread_mutex_lock(&b); /* b first */
    pthread_mutex_lock(&a); /* then a */
    n++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return p;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&a); /* a first */
    pthread_mutex_lock(&b); /* then b */
    n++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, 0);
    return 0;
}
"#,
    )
    .schedules(100)
    .find();
    assert_eq!(case.kind(), "deadlock");
    let held = |text: &str| format!("program.c:{}", case.line_with(text));
    let said: Vec<(u32, &str)> = case.chain();
    assert_eq!(said[0].0, case.line_with("/* then b */"));
    assert!(said[0].1.starts_with("the main thread waits for a mutex, which thread 1 holds since"));
    assert!(said[0].1.ends_with(&held("/* b first */")), "{said:?}");
    assert_eq!(said[1].0, case.line_with("/* then a */"));
    assert!(said[1].1.ends_with(&held("/* a first */")), "{said:?}");
}

/// Barriers, `pthread_once`, a pipe, detached threads, `pthread_exit`, timed waits: the program
/// must come to its end, and to the failure that has nothing to do with them.
#[test]
fn everything_threads_wait_by_lets_the_others_run() {
    let case = Case::new(
        r#"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int pipes[2], n_once, spun;
static void set_up(void) { n_once++; usleep(5); }
static void *work(void *p)
{
    pthread_once(&once, set_up);
    pthread_barrier_wait(&barrier);
    if (p) {
        char c;
        if (read(pipes[0], &c, 1) != 1)
            abort();
        pthread_exit((void *)7);
    }
    usleep(100);
    if (write(pipes[1], "x", 1) != 1)
        abort();
    return 0;
}
static void *spin(void *p)
{
    while (!__atomic_load_n(&spun, __ATOMIC_RELAXED))
        ;
    return p;
}
int main(void)
{
    pthread_t a, b, c;
    void *got;
    if (pipe(pipes))
        return 1;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&a, 0, work, &a);
    pthread_create(&b, 0, work, 0);
    pthread_create(&c, 0, spin, 0);
    pthread_detach(c);
    pthread_join(a, &got);
    pthread_join(b, 0);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec++;
    pthread_mutex_lock(&m);
    int late = pthread_cond_timedwait(&never, &m, &soon);
    pthread_mutex_unlock(&m);
    __atomic_store_n(&spun, 1, __ATOMIC_RELAXED);
    if (got == (void *)7 && n_once == 1 && late == ETIMEDOUT)
        *(volatile int *)(long)n_once = 1; /* end */
    return 0;
}
"#,
    )
    .find();
    let (line, note) = *case.chain().last().expect("it fails");
    assert_eq!(line, case.line_with("/* end */"), "{note}");
}
