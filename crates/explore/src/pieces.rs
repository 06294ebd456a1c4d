//! What texts are made of: lines, words and numerals, and names to put in their place.

/// The n-th of all names, short ones first.
pub fn name(mut n: u64) -> Vec<u8> {
    let mut name = vec![b'a' + (n % 26) as u8];
    while n >= 26 {
        n = n / 26 - 1;
        name.push(b'a' + (n % 26) as u8);
    }
    name
}

/// Where lines begin and end, the beginning and the end of the text among them.
pub fn line_ends(text: &[u8]) -> Vec<usize> {
    let behind = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let mut ends: Vec<usize> = std::iter::once(0).chain(behind).collect();
    if ends.last() != Some(&text.len()) {
        ends.push(text.len());
    }
    ends
}

/// Letters and digits that stand together.
pub fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    runs_of(text, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Digits that stand together, with their sign.
pub fn numerals(text: &[u8]) -> Vec<(usize, usize)> {
    let mut all = runs_of(text, |byte| byte.is_ascii_digit());
    for (start, _) in &mut all {
        if *start > 0 && text[*start - 1] == b'-' {
            *start -= 1;
        }
    }
    all
}

pub fn runs_of(text: &[u8], is_part: impl Fn(u8) -> bool) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut start = None;
    for (at, byte) in text.iter().enumerate() {
        match (start, is_part(*byte)) {
            (None, true) => start = Some(at),
            (Some(first), false) => {
                all.push((first, at));
                start = None;
            }
            _ => {}
        }
    }
    all.extend(start.map(|first| (first, text.len())));
    all
}
