//! Tests of the cache: damage, full disks, eviction, concurrent writers.

use super::*;

fn key(name: &str) -> Key {
    Key::new("test", [name.as_bytes()])
}

fn entry_files(state: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for shard in fs::read_dir(state.join("cache")).expect("exists").flatten() {
        files.extend(fs::read_dir(shard.path()).expect("a folder").flatten().map(|f| f.path()));
    }
    files
}

#[test]
fn what_is_put_comes_back_in_another_run() {
    let state = tempfile::tempdir().expect("temp folder");
    let value: Vec<u8> = b"int x;\n".repeat(10_000);
    assert!(Cache::open(state.path()).put(&key("a"), &value));
    let again = Cache::open(state.path());
    assert_eq!(again.get(&key("a")), Some(value));
    assert_eq!(again.get(&key("b")), None);
    assert_eq!(again.notices(), Vec::<String>::new());
}

#[test]
fn keys_keep_their_parts_apart() {
    let joined = |a: &str, b: &str| Key::new("k", [a.as_bytes(), b.as_bytes()]);
    assert_ne!(joined("ab", "c"), joined("a", "bc"));
    assert_ne!(Key::new("k", []), Key::new("l", []));
}

#[test]
fn a_damaged_or_cut_entry_is_dropped_and_can_be_stored_again() {
    let state = tempfile::tempdir().expect("temp folder");
    let cache = Cache::open(state.path());
    let damages: [fn(&mut Vec<u8>); 4] =
        [|b| b.truncate(b.len() / 2), |b| b.clear(), |b| b[50] ^= 1, |b| b[0] ^= 1];
    for damage in damages {
        cache.put(&key("a"), b"some value that is long enough to damage");
        let [file] = &entry_files(state.path())[..] else { panic!("one entry") };
        let mut bytes = fs::read(file).expect("readable");
        damage(&mut bytes);
        fs::write(file, bytes).expect("writable");
        assert_eq!(cache.get(&key("a")), None);
        assert!(!file.exists(), "the damaged entry stays");
    }
}

#[test]
fn an_unusable_folder_gives_one_notice_and_no_failure() {
    let state = tempfile::tempdir().expect("temp folder");
    // A file where the folder should be fails for every user, root included.
    fs::write(state.path().join("cache"), "").expect("writable");
    let cache = Cache::open(state.path());
    assert!(!cache.put(&key("a"), b"x"));
    assert!(!cache.put(&key("b"), b"x"));
    assert_eq!(cache.get(&key("a")), None);
    assert_eq!(cache.notices().len(), 1, "{:?}", cache.notices());
}

#[test]
fn a_full_disk_gives_one_notice_and_no_failure() {
    let state = tempfile::tempdir().expect("temp folder");
    let cache = Cache::open(state.path());
    // What a write to a full disk returns, and `/dev/full` is one for everybody.
    let tmp = evict::temporaries(&state.path().join("cache"));
    fs::remove_dir(&tmp).expect("empty");
    std::os::unix::fs::symlink("/dev/full", &tmp).expect("writable");
    assert!(!cache.put(&key("a"), b"x") && !cache.put(&key("b"), b"y"));
    assert_eq!(cache.notices().len(), 1);
}

#[test]
fn temporaries_of_dead_processes_go_and_those_of_living_ones_stay() {
    let state = tempfile::tempdir().expect("temp folder");
    drop(Cache::open(state.path()));
    let tmp = evict::temporaries(&state.path().join("cache"));
    // No process has an id above the kernel's limit of 2^22.
    let (dead, alive) = (tmp.join("99999999-0"), tmp.join(format!("{}-77", std::process::id())));
    fs::write(&dead, "half").expect("writable");
    fs::write(&alive, "half").expect("writable");
    drop(Cache::open(state.path()));
    assert!(!dead.exists() && alive.exists());
}

#[test]
fn the_least_recently_used_entries_are_evicted_first() {
    let state = tempfile::tempdir().expect("temp folder");
    let cache = Cache::with_limit(state.path(), 2500);
    let noise = |seed: &str| -> Vec<u8> {
        blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().take_bytes(1000)
    };
    for (name, hours) in [("old", 3), ("older", 4), ("new", 2)] {
        cache.put(&key(name), &noise(name));
        let file = fs::File::open(cache.path(&key(name)).expect("enabled")).expect("stored");
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).expect("ours");
    }
    assert!(cache.get(&key("older")).is_some(), "reading makes it recent");
    cache.trim();
    assert!(cache.get(&key("old")).is_none());
    assert!(cache.get(&key("older")).is_some() && cache.get(&key("new")).is_some());
}

trait TakeBytes {
    fn take_bytes(self, n: usize) -> Vec<u8>;
}

impl TakeBytes for blake3::OutputReader {
    fn take_bytes(mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        self.fill(&mut bytes);
        bytes
    }
}

#[test]
fn many_writers_of_one_folder_do_not_disturb_each_other() {
    let state = tempfile::tempdir().expect("temp folder");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let cache = Cache::open(state.path());
                for i in 0..200 {
                    let name = format!("entry {}", i % 50);
                    cache.put(&key(&name), name.repeat(100).as_bytes());
                    assert_eq!(cache.get(&key(&name)), Some(name.repeat(100).into_bytes()));
                }
                assert_eq!(cache.notices(), Vec::<String>::new());
            });
        }
    });
}
