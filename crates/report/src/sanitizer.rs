//! What sanitizers print when a program does something wrong, as rules and places.
//!
//! Understands the texts of AddressSanitizer, LeakSanitizer, MemorySanitizer,
//! ThreadSanitizer and UndefinedBehaviorSanitizer of clang 19. Lines that are none of
//! theirs are passed over: a program writes to standard error, too.

use findings::Place;

/// One report of a sanitizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The rule it is an instance of.
    pub rule: &'static str,
    /// The calls that led to it, innermost first, as far as they have a position in a source.
    pub stack: Vec<Place>,
    /// The line that says what happened.
    pub message: String,
}

/// The reports in what a program wrote to standard error, in their order.
pub fn read(text: &str) -> Vec<Seen> {
    let mut reader = Reader { seen: Vec::new(), is_in_stack: false };
    text.lines().for_each(|line| reader.line(line.trim_end()));
    reader.seen
}

struct Reader {
    seen: Vec<Seen>,
    /// The frames that follow belong to the last report; later stacks of a report say where
    /// memory was allocated or freed.
    is_in_stack: bool,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some(place) = frame(line) {
            if self.is_in_stack
                && let Some(last) = self.seen.last_mut()
            {
                last.stack.extend(place);
            }
            return;
        }
        if let Some((at, what)) = line.split_once(": runtime error: ") {
            let stack = position(at).into_iter().collect();
            self.seen.push(Seen { rule: undefined(what), stack, message: what.to_owned() });
            // The stack that may follow begins with the same place again.
            self.is_in_stack = false;
        } else if let Some(rule) = headline(line) {
            let message = line.split_once(' ').map_or(line, |(_, rest)| rest).to_owned();
            self.seen.push(Seen { rule, stack: Vec::new(), message });
            self.is_in_stack = true;
        } else if line.is_empty() || line.ends_with("here:") {
            self.is_in_stack = self.is_in_stack && self.has_no_stack();
        } else if let Some(last) = self.seen.last_mut() {
            refine(last, line);
        }
    }

    fn has_no_stack(&self) -> bool {
        self.seen.last().is_some_and(|last| last.stack.is_empty())
    }
}

/// What a line after the headline says about the kind of access.
fn refine(seen: &mut Seen, line: &str) {
    let is_read = line.starts_with("READ of size") || line.contains("caused by a READ");
    if seen.rule == "buffer-overflow" && is_read {
        seen.rule = "buffer-overread";
    }
    if ["buffer-overflow", "buffer-overread"].contains(&seen.rule)
        && (line.contains(" bytes before ") || line.contains(" underflows this variable"))
    {
        seen.rule = "buffer-underflow";
    }
}

/// The rule of a line that opens a report.
fn headline(line: &str) -> Option<&'static str> {
    if let Some(rest) = after(line, "ERROR: AddressSanitizer: ") {
        return Some(address(rest));
    }
    if after(line, "WARNING: MemorySanitizer: ").is_some() {
        return Some("uninitialized-read");
    }
    if let Some(rest) = after(line, "WARNING: ThreadSanitizer: ") {
        return Some(if rest.starts_with("data race") { "data-race" } else { "lock-pairing" });
    }
    let is_leak = line.starts_with("Direct leak of ") || line.starts_with("Indirect leak of ");
    is_leak.then_some("leak")
}

fn after<'l>(line: &'l str, words: &str) -> Option<&'l str> {
    line.split_once(words).map(|(_, rest)| rest)
}

fn address(what: &str) -> &'static str {
    let name = what.split_whitespace().next().unwrap_or_default();
    match name {
        "heap-use-after-free" | "stack-use-after-return" | "stack-use-after-scope" => {
            "use-after-free"
        }
        "stack-buffer-underflow" => "buffer-underflow",
        "attempting" if what.starts_with("attempting double-free") => "double-free",
        "attempting" => "invalid-free",
        "FPE" => "divide-by-zero",
        "SEGV" => segmentation(what),
        "negative-size-param:" | "allocation-size-too-big" => "integer-overflow",
        "requested" => "integer-overflow",
        "stack-overflow" => "endless-recursion",
        _ => "buffer-overflow",
    }
}

/// Accesses near address zero go through a null pointer, the others through a wild one. Before a
/// call through a pointer, the word in front of the function is read.
fn segmentation(what: &str) -> &'static str {
    const FIRST_PAGE: u64 = 4096;
    const LAST_PAGE: u64 = u64::MAX - FIRST_PAGE;
    let address = after(what, "address 0x").unwrap_or_default();
    let digits: &str = address.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
    match u64::from_str_radix(digits, 16) {
        Ok(address) if (FIRST_PAGE..LAST_PAGE).contains(&address) => "buffer-overflow",
        _ => "null-dereference",
    }
}

/// The rule of a runtime error of UndefinedBehaviorSanitizer.
fn undefined(what: &str) -> &'static str {
    if what.starts_with("implicit conversion from type") {
        return conversion(what);
    }
    // Each is the beginning of what clang 19's handlers print, or a part of it.
    const KINDS: [(&str, &str); 12] = [
        ("out of bounds for type", "buffer-overflow"),
        ("division by zero", "divide-by-zero"),
        ("null pointer", "null-dereference"),
        ("offset to null", "null-dereference"),
        ("integer overflow", "integer-overflow"),
        ("cannot be represented in type", "integer-overflow"),
        ("shift exponent", "integer-overflow"),
        ("left shift of", "integer-overflow"),
        ("outside the range of representable values", "integer-overflow"),
        ("pointer index expression", "buffer-overflow"),
        ("insufficient space for an object", "buffer-overflow"),
        ("not a valid value for type", "uninitialized-read"),
    ];
    let kind = KINDS.iter().find(|(words, _)| what.contains(words));
    kind.map_or("undefined-behavior", |(_, rule)| rule)
}

/// `implicit conversion from type 'int' of value 400 (32-bit, signed) to type 'unsigned char'
/// changed the value to 144 (8-bit, unsigned)`: fewer bits lose a part, as many change the sign.
fn conversion(what: &str) -> &'static str {
    let bits = |text: &str| {
        let end = text.find("-bit")?;
        let start = text[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        text[start..end].parse::<u32>().ok()
    };
    let Some((from, to)) = what.split_once(" to type ") else { return "integer-truncation" };
    match (bits(from), bits(to)) {
        (Some(from), Some(to)) if from <= to => "integer-signedness",
        _ => "integer-truncation",
    }
}

/// `#1 0x5f in main /folder/a.c:9:25`; the inner option is empty for code without a source.
fn frame(line: &str) -> Option<Option<Place>> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (number, rest) = rest.split_once(' ')?;
    number.parse::<u32>().ok()?;
    // ThreadSanitizer leaves out the address before the function and adds the module behind.
    let rest = rest.split_once(" in ").map_or(rest, |(_, rest)| rest);
    let rest = rest.rsplit_once(" (").map_or(rest, |(rest, _)| rest);
    // Names of C functions hold no blanks; paths may.
    let Some((function, at)) = rest.split_once(' ') else { return Some(None) };
    let place = position(at).map(|place| Place { function: function.to_owned(), ..place });
    Some(place)
}

/// `/folder/a.c:9:25` or `/folder/a.c:9`.
fn position(text: &str) -> Option<Place> {
    let (before, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let (file, line, column) = match before.rsplit_once(':') {
        Some((file, line)) if line.parse::<u32>().is_ok() => (file, line.parse().ok()?, last),
        _ => (before, last, 0),
    };
    let place = Place { file: file.to_owned(), line, column, function: String::new() };
    (!file.is_empty() && line > 0).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<(&'static str, Vec<u32>)> {
        let lines = |seen: &Seen| seen.stack.iter().map(|place| place.line).collect();
        read(text).iter().map(|seen| (seen.rule, lines(seen))).collect()
    }

    #[test]
    fn an_address_report_has_the_stack_of_the_access_only() {
        let text = "noise of the program\n\
            ==24352==ERROR: AddressSanitizer: heap-use-after-free on address 0x50 at pc 0x56\n\
            WRITE of size 11 at 0x50200000003a thread T0\n    \
            #0 0x564b in strcpy (/tmp/t+0xb2f59) (BuildId: 15)\n    \
            #1 0x564b in copy /build/a b/t.c:9:25\n    \
            #2 0x564b in main /build/a b/t.c:30:3\n\n\
            0x502 is located 0 bytes inside of 10-byte region [0x50,0x5a)\n\
            freed by thread T0 here:\n    #0 0x564b in free (/tmp/t+0xcb5cf)\n    \
            #1 0x564b in main /build/a b/t.c:7:13\n\n\
            SUMMARY: AddressSanitizer: heap-use-after-free\n";
        assert_eq!(rules(text), [("use-after-free", vec![9, 30])]);
        assert_eq!(read(text)[0].stack[0].file, "/build/a b/t.c");
        assert_eq!(read(text)[0].stack[0].function, "copy");
    }

    #[test]
    fn reads_and_what_lies_before_the_object_are_told_apart() {
        let report = |access: &str, place: &str| {
            format!(
                "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\n\
                 {access} of size 1 at 0x1 thread T0\n    #0 0x1 in f a.c:3:1\n\n\
                 0x1 is located 4 bytes {place} 10-byte region\n"
            )
        };
        assert_eq!(rules(&report("WRITE", "after"))[0].0, "buffer-overflow");
        assert_eq!(rules(&report("READ", "after"))[0].0, "buffer-overread");
        assert_eq!(rules(&report("READ", "before"))[0].0, "buffer-underflow");
    }

    #[test]
    fn signals_say_which_pointer_it_was() {
        let segv = |address: &str| {
            format!("==1==ERROR: AddressSanitizer: SEGV on unknown address {address} (pc 0x1)\n")
        };
        assert_eq!(rules(&segv("0x000000000008"))[0].0, "null-dereference");
        assert_eq!(rules(&segv("0x7f0000000000"))[0].0, "buffer-overflow");
        assert_eq!(rules(&segv("0xfffffffffffffff8"))[0].0, "null-dereference");
        let fpe = "==1==ERROR: AddressSanitizer: FPE on unknown address 0x55 (pc 0x1)\n";
        assert_eq!(rules(fpe)[0].0, "divide-by-zero");
    }

    #[test]
    fn leaks_have_the_stack_of_the_allocation() {
        let text = "==9==ERROR: LeakSanitizer: detected memory leaks\n\n\
            Direct leak of 16 byte(s) in 1 object(s) allocated from:\n    \
            #0 0x1 in malloc (/tmp/t+0xcb5cf)\n    #1 0x2 in make /x/a.c:12:5\n\n\
            Indirect leak of 8 byte(s) in 1 object(s) allocated from:\n    \
            #0 0x1 in malloc (/tmp/t+0xcb5cf)\n    #1 0x2 in fill /x/a.c:20:5\n";
        assert_eq!(rules(text), [("leak", vec![12]), ("leak", vec![20])]);
    }

    #[test]
    fn runtime_errors_are_told_apart() {
        let rule = |what: &str| read(&format!("a.c:3:7: runtime error: {what}\n"))[0].rule;
        assert_eq!(rule("index 4 out of bounds for type 'char[4]'"), "buffer-overflow");
        assert_eq!(rule("division by zero"), "divide-by-zero");
        assert_eq!(
            rule("member access within null pointer of type 'struct s'"),
            "null-dereference"
        );
        assert_eq!(rule("signed integer overflow: 1 + 2 cannot be"), "integer-overflow");
        assert_eq!(rule("shift exponent 32 is too large for 32-bit type"), "integer-overflow");
        let narrowed = "implicit conversion from type 'int' of value 400 (32-bit, signed) to type \
                        'unsigned char' changed the value to 144 (8-bit, unsigned)";
        assert_eq!(rule(narrowed), "integer-truncation");
        let sign = "implicit conversion from type 'int' of value -4 (32-bit, signed) to type \
                    'unsigned int' changed the value to 4294967292 (32-bit, unsigned)";
        assert_eq!(rule(sign), "integer-signedness");
        assert_eq!(rule("something new"), "undefined-behavior");
    }

    #[test]
    fn broken_texts_are_passed_over() {
        for text in
            ["", "#", "#x", "#0", "#0 0x1 in", "a.c:x:y: runtime error: ", ": runtime error: "]
        {
            assert!(read(text).iter().all(|seen| seen.stack.is_empty()), "{text}");
        }
        assert_eq!(position("a.c:99999999999"), None);
        assert_eq!(position(":3"), None);
    }

    #[test]
    fn memory_and_threads() {
        let text = "==1==WARNING: MemorySanitizer: use-of-uninitialized-value\n    \
                    #0 0x1 in main /tmp/t.c:16:32\n\n\
                    WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 4 at 0x1:\n    \
                    #0 work /tmp/t.c:5:3 (t+0x1)\n";
        assert_eq!(read(text)[0].rule, "uninitialized-read");
        assert_eq!(read(text)[1].rule, "data-race");
        assert_eq!(read(text)[1].stack[0].line, 5);
    }
}
