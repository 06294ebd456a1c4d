//! Runs `firstfault crash` cannot use: it says why, exits with 3, and leaves nothing running.

use std::fs;
use std::process::Command;

use crate::support::Sandbox;

/// Processes whose environment holds the marker.
fn left_running(marker: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_marked = |entry: &fs::DirEntry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
    };
    processes.filter(is_marked).map(|entry| entry.path().display().to_string()).collect()
}

/// The program is not analysed, and `expected` says why.
fn refused(name: &str, program: &str, options: &[&str], expected: &str) {
    let sandbox = Sandbox::new(&[("program.c", program)]);
    let marker = format!("FIRSTFAULT_TEST_MARKER={name}-{}", std::process::id());
    let mut command = Command::new(env!("CARGO_BIN_EXE_firstfault"));
    command.args(["crash", "program.c", "--env", &marker, "--seek-failure", "2"]).args(options);
    let output = command.current_dir(sandbox.path("")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{name}: {said}");
    assert!(said.contains(expected), "{name}: {said}");
    assert_eq!(left_running(&marker), Vec::<String>::new(), "{name}");
}

#[test]
fn a_run_that_does_not_fail() {
    refused("passes", "int main(void) { return 0; }", &[], "the run does not fail");
}

#[test]
fn a_run_that_fails_differently_each_time() {
    let program = "#include <stdlib.h>\n#include <time.h>\n\
        int main(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);\n\
        int n = (int)(t.tv_nsec % 100003); int *a = malloc(4);\n\
        for (int i = 0; i < n; i++) *a = i;\n\
        a += 400000000; *a = n; return 0; }";
    refused("differs", program, &[], "fails differently each time");
}

#[test]
fn a_run_that_needs_a_terminal() {
    let program = "#include <stdio.h>\n#include <termios.h>\n\
        int main(void) { struct termios t; if (tcgetattr(0, &t) < 0) { puts(\"no terminal\");\n\
        return 1; } char *p = 0; *p = 1; return 0; }";
    refused("terminal", program, &[], "it calls tcgetattr(), and here runs without a terminal");
}

#[test]
fn a_run_that_waits_for_a_network() {
    let program = "#include <netinet/in.h>\n#include <sys/socket.h>\n\
        int main(void) { struct sockaddr_in a = { .sin_family = AF_INET };\n\
        int s = socket(AF_INET, SOCK_STREAM, 0); bind(s, (struct sockaddr *)&a, sizeof a);\n\
        listen(s, 1); int c = accept(s, 0, 0); char *p = 0; p[c] = 1; return 0; }";
    refused("network", program, &["--time-limit", "1"], "it calls socket()");
}

/// The child would outlive everybody: it leaves its group and sleeps.
#[test]
fn a_run_that_starts_other_processes() {
    let program = "#include <unistd.h>\n\
        int main(void) { if (fork() == 0) { setsid(); sleep(600); } char *p = 0; *p = 1; }";
    refused("forks", program, &[], "the program starts other processes, which are not followed");
    let program = "#include <unistd.h>\n\
        int main(void) { execlp(\"sleep\", \"sleep\", \"600\", (char *)0); return 0; }";
    refused("becomes", program, &[], "the program starts other processes, which are not followed");
}

#[test]
fn a_run_over_its_memory() {
    let program = "#include <stdlib.h>\n#include <string.h>\n\
        int main(void) { for (;;) { char *p = malloc(1 << 20); if (!p) abort();\n\
        memset(p, 1, 1 << 20); } }";
    refused("memory", program, &["--memory-limit", "16"], "reaches its memory limit");
}

#[test]
fn threads_that_never_end() {
    let program = "#include <pthread.h>\nstatic volatile int stop;\n\
        static void *spin(void *p) { while (!stop) ; return p; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, spin, 0);\n\
        return pthread_join(t, 0); }";
    refused("spins", program, &["--time-limit", "1"], "time limit");
}
