//! Archivers.

use super::Job;
use super::run::run_real;
use crate::link::Linked;
use crate::link::object::read_archive;
use crate::record::{Product, ProductKind, Record};

pub(super) fn run(job: &Job) -> i32 {
    let Some(archive) = changed_archive(&job.words) else { return job.become_real() };
    if let Err(status) = run_real(job, None) {
        return status;
    }
    let path = job.directory.join(archive);
    let members = std::fs::read(&path).ok().and_then(|data| read_archive(&path, &data));
    let parts = members.unwrap_or_default().into_iter();
    let parts = parts.map(|m| Linked::Object { name: m.name, hash: m.hash }).collect();
    let product = Product::of_file(ProductKind::Archive, path, parts);
    job.note(&Record { products: product.into_iter().collect(), ..Record::default() });
    0
}

/// The archive that `ar` with these words writes. `None` if it only reads.
fn changed_archive(words: &[String]) -> Option<&str> {
    let mut words = words.iter().map(String::as_str);
    let mut keys = None;
    while keys.is_none() {
        let word = words.next()?;
        match word {
            "--plugin" | "--target" | "--output" | "--record-libdeps" => {
                words.next()?;
            }
            "-X32_64" => {}
            _ if word.starts_with("--") => {}
            _ => keys = Some(word.trim_start_matches('-')),
        }
    }
    let keys = keys?;
    // Options may come in words of their own: `ar -r -c -s lib.a`.
    let mut rest = words.filter(|word| !word.starts_with('-'));
    let (operation, modifiers) = (keys.chars().next()?, keys);
    if !"rqmds".contains(operation) && !modifiers.contains(['r', 'q']) {
        return None;
    }
    if modifiers.contains(['a', 'b', 'i']) {
        rest.next()?;
    }
    if modifiers.contains('N') {
        rest.next()?;
    }
    rest.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_found_among_the_words() {
        let archive = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            changed_archive(&words).map(str::to_owned)
        };
        for line in ["rcs l.a a.o", "-rcs l.a a.o", "--plugin p.so cru l.a a.o", "-r -c l.a a.o"] {
            assert_eq!(archive(line).as_deref(), Some("l.a"), "{line}");
        }
        assert_eq!(archive("rb old.o l.a a.o").as_deref(), Some("l.a"));
        assert_eq!(archive("t l.a"), None);
        assert_eq!(archive("x l.a"), None);
        assert_eq!(archive("--version"), None);
    }
}
