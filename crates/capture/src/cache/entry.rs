//! Names and file format of cache entries: a magic number, a checksum, and the
//! compressed value.

use std::fmt;

use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"FFCACHE1";
const HEADER: usize = MAGIC.len() + blake3::OUT_LEN;

/// Part of every key, so that another version of firstfault never reads our entries.
/// Counted up when a stored format changes between releases.
const FORMAT: &str = concat!(env!("CARGO_PKG_VERSION"), "+1");

/// The name of an entry: the hash of what its value depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Key([u8; 32]);

impl Key {
    /// The key of a `kind` of value that depends on `parts` and nothing else. The
    /// version of firstfault is part of it.
    pub fn new<'a>(kind: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        // Lengths keep ("ab", "c") and ("a", "bc") apart.
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(FORMAT.as_bytes());
        add(kind.as_bytes());
        parts.into_iter().for_each(add);
        Self(*hasher.finalize().as_bytes())
    }

    /// The plain hash of some bytes, the same in every version.
    pub fn of_content(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

impl From<Key> for String {
    fn from(key: Key) -> String {
        key.to_string()
    }
}

impl TryFrom<String> for Key {
    type Error = &'static str;

    fn try_from(hex: String) -> Result<Self, Self::Error> {
        blake3::Hash::from_hex(&hex).map(|h| Self(*h.as_bytes())).map_err(|_| "not a hash")
    }
}

pub(super) fn encode(value: &[u8]) -> Vec<u8> {
    let packed = lz4_flex::block::compress_prepend_size(value);
    let mut bytes = Vec::with_capacity(HEADER + packed.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(blake3::hash(&packed).as_bytes());
    bytes.extend_from_slice(&packed);
    bytes
}

/// The value of an entry file, or `None` if a byte of it is wrong or missing.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, packed) = bytes.split_at_checked(HEADER)?;
    let (magic, checksum) = header.split_at(MAGIC.len());
    if magic != MAGIC || blake3::hash(packed).as_bytes() != checksum {
        return None;
    }
    lz4_flex::block::decompress_size_prepended(packed).ok()
}
