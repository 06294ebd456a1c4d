//! What programs read and write by `stdio.h` is what they read and write on the machine.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use interpret::{Machine, Stop};

/// What the machine code prints.
fn native(text: &str, arguments: &[&str], stdin: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("program.c"), text).expect("a file can be written");
    let compiled = Command::new("clang-19")
        .args(["-w", "program.c", "-o", "program"])
        .current_dir(&folder)
        .status()
        .expect("clang-19 starts");
    assert!(compiled.success());
    let mut child = Command::new(path("program"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("it has a pipe").write_all(stdin).expect("it reads");
    child.wait_with_output().expect("it ends").stdout
}

fn agrees(text: &str, arguments: &[&str], stdin: &[u8]) {
    let expected = native(text, arguments, stdin);
    assert!(!expected.is_empty(), "the program says something");
    let program = common::import(text, "program.c");
    let mut machine = Machine::new(&program, common::STEPS).expect("it fits");
    let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
    let result = machine.run_main(&arguments, stdin);
    assert!(matches!(result, Ok(_) | Err(Stop::Exit(_))), "{result:?}");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(said(&machine.stdout), said(&expected));
}

const HEADERS: &str = "#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n\
    #include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n";

fn with_headers(body: &str) -> String {
    format!("{HEADERS}{body}")
}

#[test]
fn lines_are_read_whatever_their_length() {
    let text = with_headers(
        "int main(void) {
           char *line = NULL; size_t room = 0; ssize_t n;
           while ((n = getline(&line, &room, stdin)) != -1)
             printf(\"%zd %d [%s]\\n\", n, room >= (size_t)n, line);
           free(line);
           return feof(stdin) ? 0 : 1;
         }",
    );
    let long = "x".repeat(300);
    agrees(&text, &[], format!("one\n\n{long}\nlast").as_bytes());
    let text = with_headers(
        "int main(void) {
           char b[4]; int n = 0;
           while (fgets(b, sizeof b, stdin)) printf(\"<%s>\", b), n++;
           printf(\"%d %d\", n, fgets(b, 1, stdin) == b);
         }",
    );
    agrees(&text, &[], b"abcdef\ngh");
}

#[test]
fn the_end_of_a_stream_shows_after_a_read_that_failed() {
    let text = with_headers(
        "int main(void) {
           printf(\"%d\", feof(stdin));
           printf(\"%d\", getchar());
           printf(\"%d\", feof(stdin));
           printf(\"%d\", getchar());
           printf(\"%d%d\", feof(stdin), ferror(stdin));
           clearerr(stdin);
           printf(\"%d\", feof(stdin));
         }",
    );
    agrees(&text, &[], b"a");
}

#[test]
fn numbers_and_words_are_scanned() {
    let text = with_headers(
        "int main(void) {
           int a = 0, b = 0, n; char w[8] = \"\", c = '?'; double d = 0; long at = 0;
           n = scanf(\"%d,%d\", &a, &b); printf(\"%d %d %d\\n\", n, a, b);
           n = scanf(\"%7s%c\", w, &c); printf(\"%d %s %d\\n\", n, w, c);
           n = scanf(\"%x %o %i\", &a, &b, &n); printf(\"%d %d\\n\", a, b);
           n = scanf(\"%lf %*s %7[a-c]\", &d, w); printf(\"%d %.3f %s\\n\", n, d, w);
           n = scanf(\"%d\", &a); printf(\"%d\\n\", n);
           c = getchar(); printf(\"%c\\n\", c);
           ungetc('9', stdin); n = scanf(\"%d\", &a); printf(\"%d %d\\n\", n, a);
           n = scanf(\"%d\", &a); printf(\"%d\\n\", n);
         }",
    );
    agrees(&text, &[], b" 12,-5 word\nff 17 0x10 2.5e1 skipped abcd!1 ");
}

#[test]
fn blocks_are_read_and_written() {
    let text = with_headers(
        "int main(void) {
           char b[8]; int n;
           n = (int)fread(b, 2, 2, stdin); printf(\"%d %.4s\\n\", n, b);
           fflush(stdout);
           n = (int)read(0, b, 0); printf(\"%d\\n\", n);
           n = (int)fread(b, 3, 2, stdin); printf(\"%d\\n\", n);
           n = (int)fwrite(\"abc\", 1, 3, stdout); printf(\"%d\\n\", n);
           fflush(stdout);
           n = (int)write(1, \"xyz\\n\", 4); printf(\"%d\", n);
           dprintf(2, \"unseen\");
           fputs(\"unseen\", stderr); putc('!', stdout);
           fflush(stdout);
           _exit(0);
         }",
    );
    agrees(&text, &[], b"abcdefgh");
}

#[test]
fn functions_registered_for_the_end_run_in_turn() {
    let text = with_headers(
        "static void a(void) { puts(\"a\"); }
         static void b(void) { puts(\"b\"); }
         int main(int argc, char **argv) {
           atexit(a); atexit(b);
           setenv(\"NAME\", \"value\", 1);
           puts(getenv(\"NAME\"));
           unsetenv(\"NAME\");
           printf(\"%d\\n\", getenv(\"NAME\") == NULL);
           errno = 2; printf(\"%m %s\\n\", strerror(34));
           exit(argc);
         }",
    );
    agrees(&text, &["x"], b"");
}
