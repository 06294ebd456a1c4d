//! Bytes as a shell such as bash reads them.

/// Longer texts are no command anybody would type.
const MAX_TEXT: usize = 2000;

/// A word of a command.
pub fn word(bytes: &[u8]) -> String {
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./:=,+@%^-".contains(byte);
    // An assignment or an option is only one where it stands, which is behind the program.
    if !bytes.is_empty() && bytes.iter().all(is_safe) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~');
    if bytes.iter().all(is_printable) && !bytes.contains(&b'\'') {
        return format!("'{}'", String::from_utf8_lossy(bytes));
    }
    let escaped: String = bytes.iter().map(|byte| in_quotes(*byte)).collect();
    format!("$'{escaped}'")
}

/// A word that is no option, whatever it begins with.
pub fn operand(bytes: &[u8]) -> String {
    match bytes.first() {
        Some(b'-') => word(&[b"./", bytes].concat()),
        _ => word(bytes),
    }
}

/// A variable and its value as `env` takes them.
pub fn assignment(name: &[u8], value: &[u8]) -> String {
    format!("{}={}", word(name), word(value))
}

fn in_quotes(byte: u8) -> String {
    match byte {
        b'\'' | b'\\' => format!("\\{}", byte as char),
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b' '..=b'~' => (byte as char).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

/// The command that writes these bytes.
pub fn printed(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().take(MAX_TEXT).enumerate() {
        match byte {
            b'%' => text.push_str("%%"),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            // What begins with it would be an option.
            b'-' if at == 0 => text.push_str("\\055"),
            b'\'' => text.push_str("\\047"),
            b' '..=b'~' => text.push(*byte as char),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    format!("printf '{text}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What bash makes of a command.
    fn run(command: &str) -> Vec<u8> {
        Command::new("bash").args(["-c", command]).output().expect("bash starts").stdout
    }

    #[test]
    fn words_are_what_they_were() {
        let cases: [&[u8]; 9] = [
            b"plain",
            b"",
            b"two words",
            b"it's",
            b"a\x80b\xff",
            b"$HOME `x` \"y\" \\",
            b"x\n\ty'\x01",
            b"-12",
            b"*?~!",
        ];
        for bytes in cases {
            let command = format!("printf %s {}", word(bytes));
            assert_eq!(run(&command), bytes, "{command}");
        }
        let set = format!("env {} bash -c 'printf %s \"$A\"'", assignment(b"A", b"it's $x"));
        assert_eq!(run(&set), b"it's $x", "{set}");
        assert_eq!(operand(b"-f"), "./-f");
        assert_eq!(word(b"720"), "720");
        assert_eq!(word(b"12\x80"), "$'12\\x80'");
    }

    #[test]
    fn printed_bytes_are_what_they_were() {
        let cases: [&[u8]; 6] =
            [b"b", b"/\0\"\"", b"100%d\\n", b"-n it's\n", b"\x80\xff1\x0012", b"a\nb\n"];
        for bytes in cases {
            assert_eq!(run(&printed(bytes)), bytes, "{}", printed(bytes));
        }
    }
}
