//! `firstfault beliefs`: the fixtures of every template, through the real binary.

use std::path::{Path, PathBuf};

use fixture::{Binary, check_all};

use crate::support::Sandbox;

fn templates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../beliefs").canonicalize().unwrap()
}

#[test]
fn every_fixture_deviates_where_it_says_and_nowhere_else() {
    let binary = Binary {
        program: PathBuf::from(env!("CARGO_BIN_EXE_firstfault")),
        command: "beliefs".to_owned(),
    };
    let mut n_fixtures = 0;
    let mut complaints = Vec::new();
    for template in std::fs::read_dir(templates()).unwrap() {
        let folder = template.unwrap().path();
        let id = folder.file_name().unwrap().to_string_lossy().into_owned();
        let checked = check_all(&folder.join("fixtures"), |fixture| {
            let mut fixture = fixture.clone();
            // Each fixture is about one template; what others say of it is theirs.
            fixture.flags.splice(0..0, ["--template".to_owned(), id.clone()]);
            binary.analyse(&fixture)
        });
        match checked {
            Ok(n) => n_fixtures += n,
            Err(complaint) => complaints.push(complaint),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(n_fixtures >= 1);
}

const CALLERS: &str = "
struct conn { int fd; };
struct conn *conn_new(int kind);
void conn_log(int code);
int one(void) { struct conn *c = conn_new(1); if (!c) return -1; c->fd = 1; return 0; }
int two(void) { struct conn *c = conn_new(2); if (!c) return -1; c->fd = 2; return 0; }
int three(void) { struct conn *c = conn_new(3); if (!c) return -1; c->fd = 3; return 0; }
";
const CARELESS: &str = "
struct conn { int fd; };
struct conn *conn_new(int kind);
int four(void) { struct conn *c = conn_new(4); c->fd = 4; return 0; }
";

fn project() -> Sandbox {
    Sandbox::new(&[("callers.c", CALLERS), ("careless.c", CARELESS)])
}

#[test]
fn a_rule_is_shown_with_its_counts_and_the_places_that_follow_it() {
    let run = project().run(&["beliefs", "callers.c", "careless.c"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let headline = "careless.c:4:35: warning: what conn_new returns is checked before it is used \
                    (3 of 4 places), but c is used in line 4 without a check [can-fail]";
    assert!(run.stdout.starts_with(headline), "{}", run.stdout);
    assert_eq!(run.stdout.matches("follows the rule in ").count(), 3, "{}", run.stdout);
}

#[test]
fn the_report_is_the_same_at_any_number_of_threads() {
    let sandbox = project();
    let report = |jobs: &str| {
        let folder = templates();
        let mut args = vec!["beliefs", "--format", "json", "--limit", "0", "-j", jobs];
        let names = [
            "b-must-follow-a/fixtures/solo1.c",
            "can-fail-code/fixtures/ignored.c",
            "lock-protects-variable/fixtures/figure_1.c",
            "user-pointer/fixtures/mpoa_proc.c",
        ];
        let paths: Vec<String> =
            names.iter().map(|name| folder.join(name).display().to_string()).collect();
        args.extend(["callers.c", "careless.c"]);
        args.extend(paths.iter().map(String::as_str));
        sandbox.run(&args).stdout
    };
    let alone = report("1");
    assert!(alone.matches("\"template\"").count() > 5, "{alone}");
    assert_eq!(alone, report("2"));
    assert_eq!(alone, report("5"));
}

#[test]
fn written_events_rank_the_same_without_the_code() {
    let sandbox = project();
    let first =
        sandbox.run(&["beliefs", "--brief", "--events", "events", "callers.c", "careless.c"]);
    std::fs::remove_file(sandbox.path("careless.c")).unwrap();
    let again = sandbox.run(&["beliefs", "--brief", "--from", "events"]);
    assert!(first.stdout.contains("[can-fail]"), "{first:?}");
    assert_eq!(first.stdout, again.stdout);
    std::fs::write(sandbox.path("events/000000.parquet"), "PAR1 and nonsense PAR1").unwrap();
    let damaged = sandbox.run(&["beliefs", "--from", "events"]);
    assert_eq!(damaged.code, Some(2));
    assert!(damaged.stderr.contains("000000.parquet"), "{damaged:?}");
}

#[test]
fn what_an_earlier_version_always_did_is_a_rule_for_the_next() {
    let sandbox = project();
    sandbox.run(&["beliefs", "--events", "old", "callers.c"]);
    let new = sandbox.run(&["beliefs", "--brief", "--previous", "old", "careless.c"]);
    assert!(new.stdout.contains("(3 of 4 places)"), "{new:?}");
    // A rule that was broken before is no rule of the earlier version.
    sandbox.run(&["beliefs", "--events", "older", "callers.c", "careless.c"]);
    let same = sandbox.run(&["beliefs", "--brief", "--previous", "older", "careless.c"]);
    assert_eq!(same.code, Some(0), "{same:?}");
}

#[test]
fn a_template_of_ones_own_needs_no_code() {
    let sandbox = project();
    sandbox.write(
        "own/template.toml",
        "id = \"own\"\ntitle = \"t\"\nbelief = \"may\"\nevent = \"result\"\nslots = [\"f\"]\n\
         where = [\"pointer\"]\nfollows = [\"checked\"]\nbreaks = [\"dereferenced\"]\n\
         rule = \"{f} is looked at\"\ndeviation = \"not here\"\nexample = \"here\"\n",
    );
    let args = ["beliefs", "--brief", "--add-template", "own", "--template", "own"];
    let run = sandbox.run(&[&args[..], &["callers.c", "careless.c"]].concat());
    assert!(
        run.stdout.contains("conn_new is looked at (3 of 4 places), not here [own]"),
        "{run:?}"
    );
    sandbox.write("own/template.toml", "id = \"own\"\nevents = 3\n");
    let wrong = sandbox.run(&[&args[..], &["callers.c"]].concat());
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("own/template.toml"), "{wrong:?}");
}

/// What a unit says depends on others: whether `stop` comes back decides about `careful`.
#[test]
fn what_is_remembered_of_units_follows_changes_elsewhere() {
    let user = "struct s { int n; };\nvoid stop(int why);\n\
                int careful(struct s *p) { if (!p) stop(1); return p->n; }\n";
    let ends = "void exit(int);\nvoid stop(int why) { exit(why); }\n";
    let returns = "int why_stopped;\nvoid stop(int why) { why_stopped = why; }\n";
    let sandbox = Sandbox::new(&[("user.c", user), ("stop.c", ends)]);
    let report = |state: &str| {
        let run = sandbox.run(&["beliefs", "--brief", "--state", state, "user.c", "stop.c"]);
        assert_ne!(run.code, Some(2), "{run:?}");
        run.stdout
    };
    let before = report("kept");
    assert!(!before.contains("[null-check-then-use]"), "{before}");
    assert_eq!(before, report("kept"));
    sandbox.write("stop.c", returns);
    let after = report("kept");
    assert!(after.contains("user.c:3:55: warning: p is dereferenced"), "{after}");
    assert_eq!(after, report("fresh"));
    assert_eq!(after, report("kept"));
}

#[test]
fn a_project_says_which_routines_are_for_pointers_from_outside() {
    let source = "void fetch(void *to, const void *from);\n\
                  static int first(const char *p) { return p[0]; }\n\
                  int get(char *user, int is_internal) {\n\
                  \x20 char own[4];\n\
                  \x20 fetch(own, user);\n\
                  \x20 if (!is_internal) return own[0];\n\
                  \x20 return first(user);\n}\n";
    let sandbox = Sandbox::new(&[("get.c", source)]);
    let with = |config: &str| {
        sandbox.write("firstfault.toml", config);
        sandbox.run(&["beliefs", "--brief", "--template", "user-pointer", "get.c"])
    };
    assert_eq!(with("").code, Some(0));
    let found = with("[beliefs]\nparanoid = [\"fetch:2\"]\n");
    assert!(found.stdout.contains("get.c:7:10: warning: user is dereferenced"), "{found:?}");
    let ignored = with("[beliefs]\nparanoid = [\"fetch:2\"]\nignore = [\"first\"]\n");
    assert_eq!(ignored.code, Some(0), "{ignored:?}");
    let wrong = with("[beliefs]\nparanoid = [\"fetch\"]\n");
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("copyin:1"), "{wrong:?}");
}

#[test]
fn a_lock_that_protects_nothing_is_told() {
    let mut source = "struct lock { int held; };\nvoid lock(struct lock *l);\n\
                      void unlock(struct lock *l);\nstruct lock the_lock;\n"
        .to_owned();
    for n in 0..10 {
        source += &format!(
            "int x{n}; void under{n}(void) {{ lock(&the_lock); x{n}++; x{m}++; unlock(&the_lock); }}\n\
             void a{n}(void) {{ x{n} = 1; }}\nvoid b{n}(void) {{ x{n} = 2; }}\n\
             void c{n}(void) {{ x{n} = 3; }}\nvoid d{n}(void) {{ x{n} = 4; }}\n",
            m = if n == 0 { 0 } else { n - 1 },
        );
    }
    let sandbox = Sandbox::new(&[("locks.c", &source)]);
    let args = ["beliefs", "--brief", "--limit", "0", "--template", "lock-protects-variable"];
    let run = sandbox.run(&[&args[..], &["locks.c"]].concat());
    assert!(run.stdout.contains("yet nothing is used under it as a rule"), "{run:?}");
}
