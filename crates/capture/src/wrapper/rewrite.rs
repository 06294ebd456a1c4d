//! Programs that make objects from objects or assembler text: `strip`, `objcopy`, `as`.
//!
//! Their many options need no understanding: what matters is which of the files they
//! name were there before and which have other content afterwards.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Job;
use super::run::run_real;
use crate::cache::Key;
use crate::command::name::Tool;
use crate::link::Linked;
use crate::record::{Product, ProductKind, Record, hash_file};

pub(super) fn run(job: &Job) -> i32 {
    let before = candidates(job);
    if let Err(status) = run_real(job, None) {
        return status;
    }
    let inputs: Vec<Linked> = before
        .iter()
        .filter_map(|(path, hash)| {
            Some(Linked::Object { name: path.display().to_string(), hash: (*hash)? })
        })
        .collect();
    let mut record = Record::default();
    for (path, old) in &before {
        let new = hash_file(path);
        if new.is_none() || new == *old || !is_object(path) {
            continue;
        }
        // A file changed in place was made from itself, a new one from all that was named.
        let parts = match old {
            Some(hash) => vec![Linked::Object { name: path.display().to_string(), hash: *hash }],
            None => inputs.clone(),
        };
        record.products.extend(Product::of_file(ProductKind::Object, path.clone(), parts));
    }
    job.note(&record);
    0
}

/// Every word that may name a file, with what is there now.
fn candidates(job: &Job) -> Vec<(PathBuf, Option<Key>)> {
    let named = job.words.iter().filter(|word| !word.starts_with('-'));
    let mut paths: Vec<PathBuf> = named.map(|word| job.directory.join(word)).collect();
    let default = job.directory.join("a.out");
    if job.tool == Tool::Assembler && !paths.contains(&default) {
        paths.push(default);
    }
    let hashed = paths.into_iter().map(|path| {
        let hash = hash_file(&path);
        (path, hash)
    });
    hashed.collect()
}

fn is_object(path: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && (magic == *b"\x7fELF" || magic == *b"!<ar")
}
