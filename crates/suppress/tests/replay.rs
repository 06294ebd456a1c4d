//! A failing order of threads is repeated exactly; both kinds of instrumented code number
//! their definitions alike.

use std::path::{Path, PathBuf};

use base::Cancel;
use run::suppressed::{Failure, Plan, Run, Schedule, SuppressedProgram, SuppressedRunner};
use suppress::{BuildOptions, Limits, Oracle, Source, Test};

fn with_program(text: &str, check: impl FnOnce(&SuppressedRunner<'_>)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file: PathBuf = folder.path().join("program.c");
    std::fs::write(&file, text).expect("the folder is writable");
    let options = BuildOptions { sources: vec![Source::File(file)], ..BuildOptions::default() };
    let cancel = Cancel::new();
    let program = SuppressedProgram::build(&options, folder.path(), &cancel).expect("it builds");
    let test = Test {
        name: "the run".to_string(),
        args: Vec::new(),
        stdin: b"3 1 4 1 5 9 2 6\n".to_vec(),
        environment: Vec::new(),
        inputs: Vec::new(),
        oracle: Oracle::Output(Default::default()),
        permissions: Default::default(),
    };
    let limits = Limits::default();
    check(&SuppressedRunner { program: &program, test: &test, limits, cancel: &cancel });
}

fn run(runner: &SuppressedRunner<'_>, executable: &Path, plan: &Plan) -> Run {
    runner.run(executable, plan).expect("the program runs")
}

/// Four threads that count without a lock; a lost update makes the end fail.
const LOST_UPDATE: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static int count;
static void *work(void *p)
{
    for (int i = 0; i < 20; i++)
        count = count + 1;
    return p;
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    if (count != 80)
        abort();
    return 0;
}
"#;

#[test]
fn a_failing_schedule_replays_100_times_out_of_100() {
    with_program(LOST_UPDATE, |runner| {
        let tracking = &runner.program.tracking;
        let failing = (1..50)
            .map(|seed| Schedule::Random { seed, horizon: 500 })
            .map(|schedule| run(runner, tracking, &Plan { schedule, ..Plan::default() }))
            .find(|run| run.failure == Some(Failure::Abort))
            .expect("some order loses an update");
        let switches = failing.threads.recorded.clone();
        assert!(switches.len() > 4, "threads take turns: {switches:?}");
        let schedule = Schedule::Replay(switches.into());
        let plan = Plan { schedule, ..Plan::default() };
        for _ in 0..100 {
            let again = run(runner, tracking, &plan);
            assert_eq!(again.threads, failing.threads);
            assert_eq!(again.culprits, failing.culprits);
            let same = Run { plain: failing.plain.clone(), ..again } == failing;
            assert!(same, "everything else is the same, too");
        }
    });
}

/// The sites at which two runs reach the same definitions.
fn reached(run: &Run) -> Vec<(u32, u32, u32)> {
    run.reached.iter().map(|r| (r.event.thread, r.event.event, r.site)).collect()
}

/// Every definition of the first run is a point: both programs must reach each of them at
/// the same site. Suppressing them one by one keeps later ones where they were.
fn numbers_agree(text: &str) {
    with_program(text, |runner| {
        let suppressing = runner.program.suppressing(runner.cancel).expect("it builds");
        let tracking = &runner.program.tracking;
        let whole = run(runner, tracking, &Plan::default());
        let n_threads = whole.threads.started.max(1);
        let n_events = whole.events as u32;
        assert!(n_events > 20, "{n_events}");
        for thread in 0..n_threads {
            for event in (1..=n_events).step_by((n_events as usize / 40).max(1)) {
                let points = vec![run::suppressed::Event { thread, event }];
                let plan = Plan { points, ..Plan::default() };
                let (slow, fast) = (run(runner, tracking, &plan), run(runner, &suppressing, &plan));
                assert_eq!(reached(&slow), reached(&fast), "definition {event} of {thread}");
            }
        }
    });
}

#[test]
fn both_builds_number_definitions_alike() {
    numbers_agree(
        r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { int first, second; char name[8]; };
static int sum, counts[10];
static struct pair *make(int a, int b)
{
    struct pair *p = malloc(sizeof *p);
    p->first = a;
    p->second = b;
    snprintf(p->name, sizeof p->name, "%d", a + b);
    return p;
}
static int by_value(const void *a, const void *b) { return *(int *)a - *(int *)b; }
int main(void)
{
    int values[8], n = 0;
    while (n < 8 && scanf("%d", &values[n]) == 1)
        n++;
    qsort(values, n, sizeof *values, by_value);
    for (int i = 0; i + 1 < n; i += 2) {
        struct pair *p = make(values[i], values[i + 1]), copy = *p;
        sum += copy.first * copy.second;
        counts[copy.first % 10]++;
        switch (p->second % 3) {
        case 0: sum ^= 1; break;
        case 1: sum = sum > 5 ? sum - 5 : 5 - sum;
        default: strcat(p->name, "!");
        }
        free(p);
    }
    double mean = n ? (double)sum / n : 0;
    printf("%d %g\n", sum, mean);
    return 0;
}
"#,
    );
}

#[test]
fn both_builds_number_definitions_of_threads_alike() {
    numbers_agree(LOST_UPDATE);
}
