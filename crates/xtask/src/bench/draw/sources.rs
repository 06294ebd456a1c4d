//! The index of source packages, and which of them can be drawn: by properties alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::bench::juliet::hash;

/// One source package of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub version: String,
    /// The sections of its binary packages, sorted.
    pub sections: BTreeSet<String>,
    pub architectures: BTreeSet<String>,
    /// Bytes of the sources as packed by their authors, without Debian's changes.
    pub packed_size: u64,
    /// Where its files lie below the mirror.
    pub directory: String,
    pub files: Vec<File>,
}

/// A file a source package is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// Sections of what is no program of C for a user's process: other languages, documents,
/// data, firmware, and code for kernels.
const OTHER_SECTIONS: &[&str] = &[
    "cli-mono",
    "debian-installer",
    "debug",
    "doc",
    "education",
    "fonts",
    "gnu-r",
    "golang",
    "haskell",
    "java",
    "javascript",
    "kernel",
    "lisp",
    "localization",
    "metapackages",
    "ocaml",
    "otherosfs",
    "perl",
    "php",
    "python",
    "ruby",
    "rust",
    "tex",
    "zope",
];

/// Architectures of which a package can be built here.
const ARCHITECTURES: &[&str] = &["any", "linux-any", "amd64", "any-amd64"];

/// Packed sources of a few thousand lines up to those of 80,000 with documents beside them.
const PACKED_SIZES: std::ops::RangeInclusive<u64> = 10_000..=8_000_000;

impl Source {
    /// Whether the index allows that it is C of the size wanted; its files decide.
    pub fn can_be_drawn(&self) -> bool {
        let is_other = |section: &String| {
            let last = section.rsplit('/').next().unwrap_or(section);
            OTHER_SECTIONS.contains(&last)
        };
        PACKED_SIZES.contains(&self.packed_size)
            && ARCHITECTURES.iter().any(|a| self.architectures.contains(*a))
            && !self.sections.iter().all(is_other)
    }
}

/// Reads the stanzas of an index; what lacks a name or a version is passed over. Where a
/// package is there in several versions, the last one stays.
pub fn parse(text: &str) -> Vec<Source> {
    let mut sources: BTreeMap<String, Source> = BTreeMap::new();
    for stanza in text.split("\n\n") {
        if let Some(source) = source(&fields(stanza)) {
            sources.insert(source.name.clone(), source);
        }
    }
    sources.into_values().collect()
}

/// The fields of a stanza, continuation lines included.
fn fields(stanza: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut fields: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = None;
    for line in stanza.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some(name) = current {
                fields.entry(name).or_default().push(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.entry(name).or_default().push(value.trim());
            current = Some(name);
        }
    }
    fields
}

fn source(fields: &BTreeMap<&str, Vec<&str>>) -> Option<Source> {
    let words = |name: &str| {
        let lines = fields.get(name).map(Vec::as_slice).unwrap_or_default();
        lines.iter().flat_map(|line| line.split_whitespace()).map(str::to_owned)
    };
    let lines = |name: &str| fields.get(name).cloned().unwrap_or_default();
    // `NAME deb SECTION PRIORITY ...`
    let sections = lines("Package-List").into_iter().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        (words.next()? == "deb").then(|| words.next().map(str::to_owned))?
    });
    let files: Vec<File> = lines("Checksums-Sha256").into_iter().filter_map(file).collect();
    let is_packed = |file: &&File| {
        let name = &file.name;
        name.contains(".tar.") && !name.contains(".debian.tar.") && !name.ends_with(".asc")
    };
    Some(Source {
        name: words("Package").next()?,
        version: words("Version").next()?,
        sections: sections.collect(),
        architectures: words("Architecture").collect(),
        packed_size: files.iter().filter(is_packed).map(|file| file.bytes).sum(),
        directory: words("Directory").next().unwrap_or_default(),
        files,
    })
}

/// `CHECKSUM BYTES NAME`
fn file(line: &str) -> Option<File> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [sha256, bytes, name] = words.as_slice() else { return None };
    let is_plain = !name.contains('/') && !name.starts_with('.');
    let bytes = bytes.parse().ok()?;
    is_plain.then(|| File { name: (*name).to_owned(), bytes, sha256: (*sha256).to_owned() })
}

/// The packages in the order of this draw. It depends on the seed and the names alone, so a
/// package that is gone or was drawn before moves no other.
pub fn in_order(sources: &[Source], seed: u64, drawn: &BTreeSet<String>) -> Vec<Source> {
    let mut candidates: Vec<&Source> = sources
        .iter()
        .filter(|source| source.can_be_drawn() && !drawn.contains(&source.name))
        .collect();
    candidates.sort_by_key(|source| (hash(seed, &source.name), &source.name));
    candidates.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "Package: alpha\nBinary: alpha, alpha-doc\nVersion: 1.2-3\n\
        Architecture: any all\nDirectory: pool/a\nChecksums-Sha256:\n 0a 1500 alpha_1.2-3.dsc\n 0b 40000 alpha_1.2.orig.tar.gz\n \
        0c 900 alpha_1.2.orig.tar.gz.asc\n 0d 7000000 alpha_1.2-3.debian.tar.xz\nPackage-List: \n \
        alpha deb utils optional arch=any\n alpha-doc deb doc optional arch=all\n\n\
        Package: beta\nVersion: 2\nArchitecture: any\nChecksums-Sha256:\n 0a 20000 beta_2.tar.xz\n\
        Package-List:\n python3-beta deb python optional arch=any\n beta-udeb udeb libs optional\n";

    fn made(name: &str) -> Source {
        let mut source = parse(INDEX).remove(0);
        source.name = name.to_owned();
        source
    }

    fn names(sources: &[Source]) -> Vec<String> {
        sources.iter().map(|s| s.name.clone()).collect()
    }

    #[test]
    fn stanzas_are_read() {
        let sources = parse(INDEX);
        assert_eq!(names(&sources), ["alpha", "beta"]);
        assert_eq!(sources[0].version, "1.2-3");
        assert_eq!(sources[0].packed_size, 40_000);
        assert_eq!((sources[0].directory.as_str(), sources[0].files.len()), ("pool/a", 4));
        assert_eq!(sources[0].files[1].sha256, "0b");
        assert_eq!(sources[0].sections.iter().collect::<Vec<_>>(), ["doc", "utils"]);
        assert_eq!(sources[1].sections.iter().collect::<Vec<_>>(), ["python"]);
        assert_eq!(sources[1].packed_size, 20_000);
    }

    #[test]
    fn broken_stanzas_are_passed_over() {
        let text = format!(
            " stray\nPackage:\nVersion: 1\n\nno colon\n\n{INDEX}\nChecksums-Sha256:\n x y z\n"
        );
        assert_eq!(names(&parse(&text)), ["alpha", "beta"]);
        let bare = parse(
            "Package: bare\nVersion: 1\nChecksums-Sha256:\n 0a many bare_1.tar.gz\n 0a 20000 ../../x_1.tar.gz\n",
        );
        assert_eq!(bare[0].packed_size, 0);
        assert!(!bare[0].can_be_drawn());
    }

    #[test]
    fn properties_decide_what_can_be_drawn() {
        let sources = parse(INDEX);
        assert!(sources[0].can_be_drawn());
        assert!(!sources[1].can_be_drawn(), "its sections are those of another language");
        let with = |change: fn(&mut Source)| {
            let mut source = made("alpha");
            change(&mut source);
            source.can_be_drawn()
        };
        assert!(!with(|s| s.architectures = ["all".to_owned()].into()));
        assert!(!with(|s| s.packed_size = 9_000));
        assert!(!with(|s| s.packed_size = 9_000_000));
        assert!(!with(|s| s.sections = ["contrib/kernel".to_owned()].into()));
    }

    #[test]
    fn a_draw_repeats_itself_and_never_a_package() {
        let sources: Vec<Source> = (0..50).map(|n| made(&format!("p{n}"))).collect();
        let none = BTreeSet::new();
        let first = in_order(&sources, 7, &none);
        let reversed: Vec<Source> = sources.iter().rev().cloned().collect();
        assert_eq!(names(&first), names(&in_order(&reversed, 7, &none)));
        assert_ne!(names(&first), names(&in_order(&sources, 8, &none)));
        assert_ne!(names(&first), names(&sources));

        let drawn: BTreeSet<String> = names(&first[..10]).into_iter().collect();
        assert_eq!(names(&in_order(&sources, 7, &drawn)), names(&first[10..]));
        let again = in_order(&sources, 8, &drawn);
        assert_eq!(again.len(), 40);
        assert!(again.iter().all(|source| !drawn.contains(&source.name)));
    }
}
