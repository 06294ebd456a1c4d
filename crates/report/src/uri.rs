//! Paths as URIs, and back.

/// Everything that could mean something else in a URI is escaped.
pub fn encode(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The path a URI names, escapes resolved.
pub fn path_of(uri: &str) -> String {
    let path = match uri.strip_prefix("file://") {
        // What comes before the path is the machine.
        Some(rest) => rest.find('/').map_or(rest, |at| &rest[at..]),
        None => uri,
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        for path in ["/a/b.c", "/a b/\u{e9}#?%.c", "/\"'<>"] {
            assert_eq!(path_of(&format!("file://{}", encode(path))), path);
        }
        assert_eq!(path_of("file://machine/a%2"), "/a%2");
    }
}
