//! The knowledge base as a file that people share, break and use at once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bugfix::{Database, Scenario, Store, StoreError};
use rusqlite::Connection;

fn scenario(number: usize) -> Scenario {
    let set = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<BTreeSet<_>>();
    let mut situation = set(&["VAR", "CONST"]);
    situation.insert(format!("descriptor {}", number % 7));
    Scenario { origin: format!("test/{number}"), situation, fixes: set(&["operator mutation"]) }
}

fn scenarios(path: &Path) -> Vec<Scenario> {
    let mut database = Database::new();
    Store::open_existing(path).unwrap().unwrap().load(&mut database).unwrap();
    let mut all: Vec<Scenario> = database.scenarios().collect();
    all.sort();
    all
}

#[test]
fn what_is_learned_is_there_later_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/knowledge.db");
    assert!(Store::open_existing(&path).unwrap().is_none());
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.learn(&[scenario(1), scenario(2)]).unwrap(), 2);
    assert_eq!(store.learn(&[scenario(2), scenario(3)]).unwrap(), 1);
    assert_eq!(store.forget("test/3").unwrap(), 1);
    drop(store);
    assert_eq!(scenarios(&path), [scenario(1), scenario(2)]);
    // Closed, it is one file that can be copied.
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(scenarios(&copy), scenarios(&path));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn situations_are_remembered_until_there_are_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("k.db")).unwrap();
    for number in 0..250 {
        store.remember(&format!("statement {number}"), &scenario(number).situation).unwrap();
    }
    let latest = store.remembered("statement 249").unwrap();
    assert_eq!(latest, Some(scenario(249).situation));
    assert_eq!(store.remembered("statement 3").unwrap(), None);
}

#[test]
fn concurrent_learners_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("knowledge.db");
    std::thread::scope(|scope| {
        for learner in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..10 {
                    // Each opens it anew, as processes do.
                    let mut store = Store::open(path).unwrap();
                    let (own, shared) = (scenario(100 * learner + number), scenario(9_999));
                    store.learn(&[own, shared]).unwrap();
                }
            });
        }
    });
    assert_eq!(scenarios(&path).len(), 81);
}

#[test]
fn an_older_file_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let mut store = Store::open(&path).unwrap();
    store.learn(&[scenario(1)]).unwrap();
    drop(store);
    // As the first version of the schema left it.
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("DROP TABLE remembered; PRAGMA user_version = 1;").unwrap();
    drop(connection);
    let mut store = Store::open(&path).unwrap();
    store.remember("s", &scenario(1).situation).unwrap();
    assert_eq!(store.remembered("s").unwrap(), Some(scenario(1).situation));
    drop(store);
    assert_eq!(scenarios(&path), [scenario(1)]);
}

/// Opening and learning fail as expected, and not a byte of the file changes.
fn assert_refused(path: &Path, is_expected: impl Fn(&StoreError) -> bool) {
    let before = fs::read(path).unwrap();
    for opened in [Store::open(path).map(Some), Store::open_existing(path)] {
        let error = match opened {
            Err(error) => error,
            Ok(store) => {
                let mut database = Database::new();
                store.unwrap().load(&mut database).unwrap_err()
            }
        };
        assert!(is_expected(&error), "{error}");
    }
    assert_eq!(fs::read(path).unwrap(), before, "the file was changed");
}

#[test]
fn what_is_no_knowledge_base_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "these are my notes, and there are many of them\n".repeat(100)).unwrap();
    assert_refused(&text, |error| matches!(error, StoreError::Foreign(_)));
    let other = folder.path().join("other.db");
    let connection = Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1);").unwrap();
    drop(connection);
    assert_refused(&other, |error| matches!(error, StoreError::Foreign(_)));
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Open(..))));
}

#[test]
fn a_newer_file_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("newer.db");
    drop(Store::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA user_version = 99;").unwrap();
    drop(connection);
    assert_refused(&path, |error| matches!(error, StoreError::Newer { found: 99, .. }));
}

#[test]
fn a_damaged_file_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.db");
    let mut store = Store::open(&path).unwrap();
    let many: Vec<Scenario> = (0..3000).map(scenario).collect();
    store.learn(&many).unwrap();
    drop(store);
    let whole = fs::read(&path).unwrap();
    // Cut off, and with a stretch in the middle overwritten.
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_refused(&path, |error| matches!(error, StoreError::Damaged(..)));
    let mut torn = whole.clone();
    let middle = torn.len() / 2;
    torn[middle..middle + 8192].fill(0xa5);
    fs::write(&path, torn).unwrap();
    assert_refused(&path, |error| matches!(error, StoreError::Damaged(..)));
    fs::write(&path, &whole).unwrap();
    assert_eq!(scenarios(&path).len(), 3000);
}
