//! Files, folders, pipes and the environment are what they are on the machine.

mod common;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use interpret::{Failure, FileId, GivenWorld, Input, Inputs, Limits, Machine, Name, Stop, Stream};

/// What a run gets.
#[derive(Default)]
struct Run<'a> {
    arguments: &'a [&'a str],
    stdin: &'a [u8],
    files: &'a [(&'a str, &'a [u8])],
    environment: &'a [(&'a str, &'a str)],
}

const HEADERS: &str = "#define _GNU_SOURCE\n#include <ctype.h>\n#include <dirent.h>\n\
    #include <err.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <libgen.h>\n\
    #include <limits.h>\n#include <poll.h>\n#include <pthread.h>\n#include <signal.h>\n\
    #include <setjmp.h>\n#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
    #include <string.h>\n#include <sys/mman.h>\n#include <sys/stat.h>\n#include <sys/uio.h>\n\
    #include <time.h>\n#include <unistd.h>\n#include <wchar.h>\n";

/// What the machine code prints.
fn native(folder: &Path, run: &Run) -> Vec<u8> {
    let work = folder.join("work");
    std::fs::create_dir(&work).expect("a folder can be made");
    for (name, bytes) in run.files {
        let path = work.join(name);
        let parent = path.parent().expect("it lies in a folder");
        std::fs::create_dir_all(parent).expect("a folder can be made");
        std::fs::write(path, bytes).expect("a file can be written");
    }
    let mut child = Command::new(folder.join("program"))
        .args(run.arguments)
        .env_clear()
        .envs(run.environment.iter().copied())
        .current_dir(&work)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("it has a pipe").write_all(run.stdin).expect("it reads");
    child.wait_with_output().expect("it ends").stdout
}

fn agrees(body: &str, run: &Run) {
    let text = format!("{HEADERS}{body}");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("program.c"), &text).expect("a file can be written");
    let compiled = Command::new("clang-19")
        .args(["-w", "program.c", "-o", "program", "-lpthread"])
        .current_dir(&folder)
        .status()
        .expect("clang-19 starts");
    assert!(compiled.success());
    let expected = native(folder.path(), run);
    assert!(!expected.is_empty(), "the program says something");
    let program = common::import(&text, "program.c");
    let mut machine = Machine::new(&program, common::STEPS).expect("it fits");
    let bytes = |text: &str| text.as_bytes().to_vec();
    machine.give(GivenWorld {
        files: run.files.iter().map(|(name, held)| (bytes(name), held.to_vec())).collect(),
        environment: run
            .environment
            .iter()
            .map(|(name, value)| (bytes(name), bytes(value)))
            .collect::<BTreeMap<_, _>>(),
    });
    let arguments: Vec<String> = run.arguments.iter().map(|text| (*text).to_owned()).collect();
    let result = machine.run_main(&arguments, run.stdin);
    assert!(matches!(result, Ok(_) | Err(Stop::Exit(_))), "{result:?}");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(said(&machine.stdout), said(&expected));
}

#[test]
fn each_file_is_a_stream_of_its_own() {
    agrees(
        "int main(int argc, char **argv) {
           FILE *a = fopen(argv[1], \"r\"), *b = fopen(\"b\", \"r\");
           char line[32];
           while (fgets(line, sizeof line, a)) {
             printf(\"a:%s\", line);
             if (fgets(line, sizeof line, b)) printf(\"b:%s\", line);
             int c = getchar(); if (c != EOF) printf(\"in:%c\\n\", c);
           }
           printf(\"%d %d %d\\n\", feof(a), feof(b), feof(stdin));
           rewind(a); printf(\"%d %ld\\n\", fgetc(a), ftell(a));
           printf(\"%d\\n\", fopen(\"none\", \"r\") == NULL && errno == ENOENT);
           fclose(a); a = fopen(argv[1], \"r\"); printf(\"%d %d\\n\", fgetc(a), fgetc(b));
         }",
        &Run {
            arguments: &["x"],
            stdin: b"12",
            files: &[("x", b"one\ntwo\nthree\n"), ("b", b"eins\nzwei\n")],
            ..Run::default()
        },
    );
}

#[test]
fn what_is_written_can_be_read_again() {
    agrees(
        "int main(void) {
           FILE *f = fopen(\"new\", \"w+\"); char line[64]; long at; int c;
           fprintf(f, \"%s %d\\n\", \"first\", 17); fputs(\"second\\n\", f); at = ftell(f);
           fwrite(\"third\", 1, 5, f); fseek(f, at, SEEK_SET);
           printf(\"%s\", fgets(line, sizeof line, f)); printf(\"|%d\\n\", feof(f));
           fseek(f, 2, SEEK_SET); fputc('X', f); rewind(f);
           printf(\"%s\", fgets(line, sizeof line, f)); fclose(f);
           f = fopen(\"new\", \"a\"); fputs(\"!\\n\", f); printf(\"%ld\\n\", ftell(f)); fclose(f);
           f = fopen(\"old\", \"r+\"); fputs(\"OLD\", f); fflush(f); fseek(f, -2, SEEK_END);
           printf(\"%d %d\\n\", c = fgetc(f), ungetc(c, f)); fclose(f);
           f = fopen(\"old\", \"r\"); while ((c = getc(f)) != EOF) putchar(c); fclose(f);
           f = fopen(\"new\", \"r\"); while ((c = getc(f)) != EOF) putchar(c); fclose(f);
           printf(\"%d %d\\n\", rename(\"new\", \"other\"), access(\"new\", F_OK));
           printf(\"%d %d\\n\", unlink(\"other\"), unlink(\"other\"));
           f = fopen(\"old\", \"w\"); fclose(f); struct stat s; stat(\"old\", &s);
           printf(\"%ld\\n\", (long)s.st_size);
           f = tmpfile(); fputs(\"t\", f); rewind(f); printf(\"%c\\n\", getc(f)); fclose(f);
           freopen(\"log\", \"w\", stderr); fputs(\"to the log\", stderr); fclose(stderr);
           f = fopen(\"log\", \"r\"); printf(\"%s\\n\", fgets(line, sizeof line, f));
         }",
        &Run { files: &[("old", b"old text\n")], ..Run::default() },
    );
}

#[test]
fn descriptors_are_shared_and_duplicated() {
    agrees(
        "int main(void) {
           char b[16] = \"\"; int p[2], n;
           int fd = open(\"f\", O_RDWR | O_CREAT | O_EXCL, 0600);
           printf(\"%d %d\\n\", fd, (int)write(fd, \"hello world\", 11));
           int other = dup(fd); printf(\"%d %ld\\n\", other, (long)lseek(other, 6, SEEK_SET));
           n = read(fd, b, 5); printf(\"%d %.5s %d\\n\", n, b, (int)read(fd, b, 5));
           printf(\"%d %.3s\\n\", (int)pread(fd, b, 3, 1), b);
           ftruncate(fd, 4); lseek(fd, 0, SEEK_SET); printf(\"%d\\n\", (int)read(fd, b, 16));
           close(fd); printf(\"%d\\n\", (int)read(fd, b, 1)); printf(\"%d\\n\", errno == EBADF);
           printf(\"%d\\n\", open(\"f\", O_CREAT | O_EXCL | O_RDWR, 0600));
           pipe(p); write(p[1], \"piped\", 5); close(p[1]);
           n = read(p[0], b, 16); printf(\"%d %.5s %d\\n\", n, b, (int)read(p[0], b, 16));
           printf(\"%d %d\\n\", (int)lseek(p[0], 0, SEEK_SET), errno == ESPIPE);
           FILE *f = fdopen(other, \"r+\"); printf(\"%d %d\\n\", fileno(f) == other, fileno(stdout));
           fflush(stdout); int keep = dup(1); fd = open(\"out\", O_WRONLY | O_CREAT, 0600);
           dup2(fd, 1); write(1, \"hidden\", 6); dup2(keep, 1); printf(\"shown\\n\");
           fd = open(\"out\", O_RDONLY); struct iovec v[2] = {{b, 2}, {b + 2, 8}};
           n = readv(fd, v, 2); printf(\"%d %.6s\\n\", n, b);
           struct pollfd w = {0, POLLIN, 0}; printf(\"%d\\n\", poll(&w, 1, -1));
           n = read(0, b, 16); printf(\"%d %.*s\\n\", n, n, b);
         }",
        &Run { stdin: b"typed", ..Run::default() },
    );
}

#[test]
fn folders_and_names_are_looked_at() {
    agrees(
        "static int only(const struct dirent *e) { return e->d_name[0] != '.'; }
         int main(void) {
           struct stat s; struct dirent *e; struct dirent **list; int n = 0, i;
           printf(\"%d\", stat(\"d\", &s)); printf(\" %d\\n\", S_ISDIR(s.st_mode));
           printf(\"%d\", stat(\"d/a\", &s));
           printf(\" %d %ld\\n\", S_ISREG(s.st_mode), (long)s.st_size);
           printf(\"%d %d\\n\", lstat(\"d/none\", &s), errno == ENOENT);
           DIR *d = opendir(\"d\"); while ((e = readdir(d))) n++; closedir(d);
           printf(\"%d\\n\", n);
           n = scandir(\"d\", &list, only, alphasort);
           for (i = 0; i < n; i++) { printf(\"%s \", list[i]->d_name); free(list[i]); }
           free(list); printf(\"%d\\n\", opendir(\"d/a\") == NULL);
           printf(\"%d %d\\n\", mkdir(\"m\", 0700), mkdir(\"m\", 0700));
           FILE *f = fopen(\"m/x\", \"w\"); fputs(\"in m\", f); fclose(f);
           printf(\"%d %d\\n\", chdir(\"m\"), access(\"x\", R_OK));
           printf(\"%d\\n\", access(\"../d/b\", R_OK));
           char p[] = \"/usr/lib/x/\", q[] = \"plain\";
           printf(\"%s\", basename(p)); printf(\" %s\\n\", dirname(q));
         }",
        &Run { files: &[("d/a", b"12345"), ("d/b", b"")], ..Run::default() },
    );
}

#[test]
fn the_environment_is_asked_by_name() {
    agrees(
        "int main(void) {
           printf(\"%s %d\\n\", getenv(\"HOME\"), getenv(\"NONE\") == NULL);
           setenv(\"NONE\", \"x\", 0); setenv(\"HOME\", \"y\", 0);
           printf(\"%s %s\\n\", getenv(\"HOME\"), getenv(\"NONE\"));
           putenv(\"HOME=z\"); printf(\"%s\\n\", getenv(\"HOME\"));
           unsetenv(\"HOME\"); printf(\"%d\\n\", getenv(\"HOME\") == NULL);
         }",
        &Run { environment: &[("HOME", "/root")], ..Run::default() },
    );
}

#[test]
fn memory_is_mapped_and_streams_lie_in_memory() {
    agrees(
        "int main(void) {
           int fd = open(\"f\", O_RDONLY); char *text; size_t size; int i;
           char *m = mmap(NULL, 6, PROT_READ, MAP_PRIVATE, fd, 0);
           printf(\"%.6s %d\\n\", m, m[6]); munmap(m, 6);
           m = mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
           for (i = 0; i < 100; i++) m[i] += i; printf(\"%d\\n\", m[99]);
           FILE *f = open_memstream(&text, &size);
           for (i = 0; i < 5; i++) fprintf(f, \"%d,\", i);
           fclose(f); printf(\"%s %zu\\n\", text, size); free(text);
           f = fmemopen(\"a b c\", 5, \"r\"); char w[8];
           while (fscanf(f, \"%7s\", w) == 1) puts(w);
           fclose(f);
         }",
        &Run { files: &[("f", b"mapped")], ..Run::default() },
    );
}

#[test]
fn threads_jumps_and_handlers_run() {
    agrees(
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static int sum;
         static void *work(void *p) {
           pthread_mutex_lock(&lock); sum += *(int *)p; pthread_mutex_unlock(&lock);
           if (sum > 2) pthread_exit(NULL);
           return p;
         }
         static jmp_buf place;
         static int total(int n, ...) {
           va_list v; int t = 0; va_start(v, n);
           while (n--) t += va_arg(v, int);
           va_end(v); return t;
         }
         static void on(int s) { (void)s; }
         int main(void) {
           pthread_t t[2]; int a = 1, b = 2; void *r = NULL;
           pthread_create(&t[0], NULL, work, &a); pthread_join(t[0], &r);
           printf(\"%d %d\\n\", sum, r == &a);
           pthread_create(&t[1], NULL, work, &b); pthread_join(t[1], NULL);
           printf(\"%d\\n\", sum);
           struct sigaction act, old; memset(&act, 0, sizeof act); act.sa_handler = on;
           printf(\"%d %d\\n\", sigaction(SIGINT, &act, &old), old.sa_handler == SIG_DFL);
           printf(\"%d\\n\", signal(SIGTERM, on) == SIG_DFL);
           int n = setjmp(place); printf(\"%d\\n\", n); if (n < 2) longjmp(place, n + 1);
           printf(\"%d %.2f\\n\", total(3, 1, 2, 3), strtod(\"2.5e1x\", NULL) * 1.5);
           wchar_t wide[8]; size_t k = mbstowcs(wide, \"abc\", 8);
           printf(\"%zu %d %zu\\n\", k, wide[1], wcslen(wide));
           warnx(\"%s\", \"unseen\"); errno = ENOENT; errx(3, \"%d\", 1);
         }",
        &Run::default(),
    );
}

#[test]
fn a_stream_that_was_closed_is_not_used() {
    let text =
        format!("{HEADERS}int main(void) {{ FILE *f = tmpfile(); fclose(f); return getc(f); }}");
    let program = common::import(&text, "program.c");
    let mut machine = Machine::new(&program, common::STEPS).expect("it fits");
    machine.give(GivenWorld::default());
    let result = machine.run_main(&[], b"");
    assert_eq!(result, Err(Stop::Fault(interpret::FaultKind::UseAfterEnd)));
}

const LIMITS: Limits = Limits {
    arguments: 4,
    argument_bytes: 16,
    stdin_bytes: 64,
    elements: 4,
    outside: 16,
    unset_is_input: false,
    allocations_succeed: false,
    harness: None,
    passed: [None; interpret::MAX_PASSED],
    goes_on: false,
};

/// Runs a program with inputs of which only some are given.
fn explored<R>(
    body: &str,
    inputs: &Inputs,
    look: impl FnOnce(&Result<Option<interpret::Value>, Stop>, &mut Machine) -> R,
) -> R {
    let text = format!("{HEADERS}{body}");
    let program = common::import(&text, "program.c");
    let mut machine = Machine::new(&program, common::STEPS).expect("it fits");
    let result = machine.run_unknown("main", inputs, &LIMITS, false);
    look(&result, &mut machine)
}

fn said(machine: &Machine) -> String {
    String::from_utf8_lossy(&machine.stdout).into_owned()
}

#[test]
fn what_files_hold_stays_when_the_argument_that_names_them_changes() {
    let body = "int main(int argc, char **argv) {
       if (argc < 2) return 1;
       FILE *f = fopen(argv[1], \"r\"), *g = fopen(\"fixed\", \"r\"); char b[16];
       if (!f || !g) { puts(\"none\"); return 1; }
       printf(\"%s\", fgets(b, 16, f)); printf(\"%s\", fgets(b, 16, g));
       return 0; }";
    let fixed = FileId::Named(Name::of(b"fixed"));
    for name in [&b"a"[..], b"other"] {
        let mut inputs = Inputs::default();
        inputs.set(Input::ArgumentCount, 1);
        inputs.set_bytes(Stream::Argument(1), name);
        inputs.set_bytes(Stream::File(FileId::Argument(1)), b"in it\n");
        inputs.set_bytes(Stream::File(fixed), b"fixed\n");
        explored(body, &inputs, |_, machine| {
            assert_eq!(said(machine), "in it\nfixed\n");
            let asked = machine.asked();
            let names: Vec<_> = asked.files.iter().map(|file| file.name.clone()).collect();
            assert_eq!(names, [name.to_vec(), b"fixed".to_vec()]);
            assert!(machine.streams().contains(&Stream::File(fixed)));
        });
        inputs.set(Input::Absent(fixed), 1);
        explored(body, &inputs, |_, machine| assert_eq!(said(machine), "none\n"));
    }
}

#[test]
fn calls_fail_where_inputs_say_so() {
    let body = "int main(void) {
       char *a = malloc(4), *b = calloc(2, 2), *c = strdup(\"x\"); char r[8];
       printf(\"%d%d%d %d\", !!a, !!b, !!c, (int)read(0, r, 8));
       free(a); free(b); free(c); return 0; }";
    let mut inputs = Inputs::default();
    inputs.set_bytes(Stream::Stdin, b"abcdef");
    explored(body, &inputs, |_, machine| {
        assert_eq!(said(machine), "111 6");
        assert_eq!(machine.failures().len(), 5);
        assert!(machine.asked().failures.is_empty());
    });
    inputs.set(Input::Fails { what: Failure::Allocation, nth: 1 }, 1);
    inputs.set(Input::Fails { what: Failure::ShortRead, nth: 0 }, 2);
    explored(body, &inputs, |_, machine| {
        assert_eq!(said(machine), "101 2");
        let told = machine.asked().failures;
        let expected =
            ["the 1st call of calloc fails", "the 1st call of read reads at most 2 bytes"];
        assert_eq!(told, expected);
    });
}

#[test]
fn what_unmodelled_calls_leave_is_not_unset() {
    let body = "struct point { int x, y; char name[8]; struct point *next; };
     extern int limit; int look(struct point *p, int *n); struct point *find(const char *name);
     int main(void) {
       struct point p; int n; char keep[] = \"keep\";
       int r = look(&p, &n);
       if (r > 5) return r;
       struct point *q = find(keep);
       printf(\"%d %d %s %d %d %s\", n > 0, p.x > 0, p.name, p.next != 0, q->x > limit, keep);
       return 0; }";
    explored(body, &Inputs::default(), |result, machine| {
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(said(machine), "0 0  0 0 keep");
        assert_eq!(machine.made_up().len(), 2);
        assert_eq!(machine.guessed().as_deref(), Some("a call of look"));
    });
    let modelled = "int main(void) { return puts(\"x\") < 0; }";
    explored(modelled, &Inputs::default(), |_, machine| assert!(!machine.is_made_up()));
}

#[test]
fn folders_from_outside_hold_the_lines_of_their_text() {
    let body = "int main(int argc, char **argv) {
       DIR *d = opendir(\"d\"); struct dirent *e; if (!d) { puts(\"none\"); return 1; }
       while ((e = readdir(d))) printf(\"%s,\", e->d_name);
       return closedir(d); }";
    let folder = FileId::Named(Name::of(b"d"));
    let mut inputs = Inputs::default();
    inputs.set_bytes(Stream::File(folder), b"one\ntwo/\n\nthree");
    explored(body, &inputs, |_, machine| {
        assert_eq!(said(machine), ".,..,one,two,three,");
        assert!(machine.asked().files[0].is_folder);
    });
    inputs.set(Input::Absent(folder), 1);
    explored(body, &inputs, |_, machine| assert_eq!(said(machine), "none\n"));
}

#[test]
fn whatever_programs_do_it_is_followed_or_said() {
    let cases = [
        ("while (getchar() != 'x') continue;", "OutOfSteps"),
        ("for (;;) if (getchar() == EOF) exit(3);", "Exit(3)"),
        ("while (malloc(1 << 20)) continue;", "OutOfSteps"),
        ("if (fork() == 0) exit(1); exit(0);", "Exit(0)"),
        ("execl(\"x\", \"x\", NULL); exit(1);", "Exit(0)"),
        ("raise(SIGABRT);", "Abort"),
        ("raise(SIGTERM);", "Exit(143)"),
        ("int x = 1; __asm__ volatile(\"mfence\" : \"+r\"(x)); exit(x);", "Unsupported"),
        ("jmp_buf b; memset(b, 0, sizeof b); longjmp(b, 1);", ""),
        ("FILE *f = (FILE *)malloc(300); memset(f, 0, 300); fputc('x', f);", "Unsupported"),
        ("fclose(NULL);", "Fault(Null)"),
        ("int *p = mmap(0, 8, 3, 34, -1, 0); munmap(p, 8); exit(*p);", "Fault(UseAfterEnd)"),
        ("char b[4]; read(0, b, 1 << 30); exit(0);", ""),
        ("char b[4]; readv(-1, (void *)b, 100); exit(errno == EBADF);", "Exit(1)"),
        ("close(1); exit(printf(\"x\") < 0);", "Exit(1)"),
        ("lseek(0, -5, SEEK_SET); fseek(stdin, 1L << 62, SEEK_CUR); exit(getchar() == EOF);", ""),
    ];
    for (code, expected) in cases {
        let body = format!("int main(void) {{ {code} return 0; }}");
        explored(&body, &Inputs::default(), |result, _| {
            let told = format!("{result:?}");
            assert!(told.contains(expected), "{code}: {told}");
            assert!(!told.contains("internal error"), "{code}: {told}");
        });
    }
}
