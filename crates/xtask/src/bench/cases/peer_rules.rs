//! What the diagnostics of other tools mean in our rules: one table for each tool.
//!
//! A row is the tool's own name of the check, a part of the message where the name alone
//! says too little (empty matches any), and our rule. The first row that matches counts.
//! What no row names is no fault of ours: style, dead code, portability.

pub type Row = (&'static str, &'static str, &'static str);

/// clang's analyzer; a name that ends in `.` stands for all checks below it.
pub const CLANG: &[Row] = &[
    ("core.NullDereference", "", "null-dereference"),
    ("core.NonNullParamChecker", "", "null-dereference"),
    ("core.CallAndMessage", "null", "null-dereference"),
    ("core.CallAndMessage", "", "uninitialized-read"),
    ("core.UndefinedBinaryOperatorResult", "", "uninitialized-read"),
    ("core.uninitialized.", "", "uninitialized-read"),
    ("core.DivideZero", "", "divide-by-zero"),
    ("core.BitwiseShift", "", "integer-overflow"),
    ("core.StackAddressEscape", "", "use-after-free"),
    ("core.VLASize", "", "integer-overflow"),
    ("nullability.", "", "null-dereference"),
    ("unix.Malloc", "Attempt to free released", "double-free"),
    ("unix.Malloc", "Attempt to release already released", "double-free"),
    ("unix.Malloc", "after it is", "use-after-free"),
    ("unix.Malloc", "Potential leak", "leak"),
    ("unix.Malloc", "Potential memory leak", "leak"),
    ("unix.Malloc", "zero-allocated", "buffer-overflow"),
    ("unix.Malloc", "Argument to", "invalid-free"),
    ("unix.MismatchedDeallocator", "", "invalid-free"),
    ("unix.MallocSizeof", "", "buffer-overflow"),
    ("unix.cstring.NullArg", "", "null-dereference"),
    ("unix.cstring.BadSizeArg", "", "buffer-overflow"),
    ("unix.Stream", "never closed", "leak"),
    ("unix.Stream", "closed", "write-after-close"),
    ("unix.Stream", "NULL", "null-dereference"),
    ("unix.StdCLibraryFunctions", "NULL", "null-dereference"),
    ("unix.StdCLibraryFunctions", "", "buffer-overflow"),
    ("alpha.unix.cstring.OutOfBounds", "", "buffer-overflow"),
    ("alpha.unix.cstring.NotNullTerminated", "", "buffer-overread"),
    ("alpha.unix.cstring.UninitializedRead", "", "uninitialized-read"),
    ("alpha.unix.SimpleStream", "never closed", "leak"),
    ("alpha.unix.SimpleStream", "closed", "write-after-close"),
    ("alpha.unix.PthreadLock", "", "lock-pairing"),
    ("alpha.core.C11Lock", "", "lock-pairing"),
    ("alpha.security.ArrayBound", "", "buffer-overflow"),
    ("alpha.security.ArrayBoundV2", "preced", "buffer-underflow"),
    ("alpha.security.ArrayBoundV2", "", "buffer-overflow"),
    ("alpha.security.ReturnPtrRange", "", "buffer-overflow"),
    ("alpha.security.MallocOverflow", "", "integer-overflow"),
    ("alpha.security.taint.", "array", "buffer-overflow"),
    ("alpha.security.taint.", "buffer", "buffer-overflow"),
    ("alpha.security.taint.", "", "integer-overflow"),
    ("alpha.core.Conversion", "sign", "integer-signedness"),
    ("alpha.core.Conversion", "", "integer-truncation"),
    ("alpha.core.CastSize", "", "buffer-overflow"),
    ("alpha.core.TestAfterDivZero", "", "divide-by-zero"),
    ("alpha.core.PointerArithm", "", "buffer-overflow"),
];

/// gcc, by the warning's option without `-W` and `=`.
pub const GCC: &[Row] = &[
    ("analyzer-null-dereference", "", "null-dereference"),
    ("analyzer-possible-null-dereference", "", "null-dereference"),
    ("analyzer-null-argument", "", "null-dereference"),
    ("analyzer-possible-null-argument", "", "null-dereference"),
    ("analyzer-deref-before-check", "", "null-dereference"),
    ("analyzer-jump-through-null", "", "null-dereference"),
    ("analyzer-use-after-free", "", "use-after-free"),
    ("analyzer-use-of-pointer-in-stale-stack-frame", "", "use-after-free"),
    ("analyzer-double-free", "", "double-free"),
    ("analyzer-double-fclose", "", "double-free"),
    ("analyzer-fd-double-close", "", "write-after-close"),
    ("analyzer-fd-use-after-close", "", "write-after-close"),
    ("analyzer-malloc-leak", "", "leak"),
    ("analyzer-file-leak", "", "leak"),
    ("analyzer-fd-leak", "", "leak"),
    ("analyzer-va-list-leak", "", "leak"),
    ("analyzer-free-of-non-heap", "", "invalid-free"),
    ("analyzer-mismatching-deallocation", "", "invalid-free"),
    ("analyzer-use-of-uninitialized-value", "", "uninitialized-read"),
    ("analyzer-out-of-bounds", "under", "buffer-underflow"),
    ("analyzer-out-of-bounds", "over-read", "buffer-overread"),
    ("analyzer-out-of-bounds", "", "buffer-overflow"),
    ("analyzer-write-to-string-literal", "", "buffer-overflow"),
    ("analyzer-write-to-const", "", "buffer-overflow"),
    ("analyzer-allocation-size", "", "buffer-overflow"),
    ("analyzer-tainted-array-index", "", "buffer-overflow"),
    ("analyzer-tainted-offset", "", "buffer-overflow"),
    ("analyzer-tainted-size", "", "buffer-overflow"),
    ("analyzer-tainted-allocation-size", "", "integer-overflow"),
    ("analyzer-tainted-divisor", "", "divide-by-zero"),
    ("analyzer-shift-count-negative", "", "integer-overflow"),
    ("analyzer-shift-count-overflow", "", "integer-overflow"),
    ("analyzer-infinite-loop", "", "infinite-loop"),
    ("analyzer-infinite-recursion", "", "infinite-loop"),
    ("infinite-recursion", "", "infinite-loop"),
    ("maybe-uninitialized", "", "uninitialized-read"),
    ("uninitialized", "", "uninitialized-read"),
    ("stringop-overflow", "", "buffer-overflow"),
    ("stringop-overread", "", "buffer-overread"),
    ("stringop-truncation", "", "buffer-overflow"),
    ("array-bounds", "", "buffer-overflow"),
    ("format-overflow", "", "buffer-overflow"),
    ("restrict", "", "buffer-overflow"),
    ("zero-length-bounds", "", "buffer-overflow"),
    ("use-after-free", "", "use-after-free"),
    ("dangling-pointer", "", "use-after-free"),
    ("return-local-addr", "", "use-after-free"),
    ("free-nonheap-object", "", "invalid-free"),
    ("nonnull", "", "null-dereference"),
    ("alloc-size-larger-than", "", "integer-overflow"),
    ("overflow", "", "integer-truncation"),
    ("shift-count-overflow", "", "integer-overflow"),
    ("shift-count-negative", "", "integer-overflow"),
    ("div-by-zero", "", "divide-by-zero"),
    ("aggressive-loop-optimizations", "", "buffer-overflow"),
];

pub const CPPCHECK: &[Row] = &[
    ("nullPointer", "", "null-dereference"),
    ("nullPointerArithmetic", "", "null-dereference"),
    ("nullPointerRedundantCheck", "", "null-dereference"),
    ("nullPointerDefaultArg", "", "null-dereference"),
    ("ctunullpointer", "", "null-dereference"),
    ("uninitvar", "", "uninitialized-read"),
    ("uninitdata", "", "uninitialized-read"),
    ("legacyUninitvar", "", "uninitialized-read"),
    ("uninitStructMember", "", "uninitialized-read"),
    ("ctuuninitvar", "", "uninitialized-read"),
    ("negativeIndex", "", "buffer-underflow"),
    ("arrayIndexOutOfBounds", "", "buffer-overflow"),
    ("arrayIndexOutOfBoundsCond", "", "buffer-overflow"),
    ("arrayIndexThenCheck", "", "buffer-overflow"),
    ("bufferAccessOutOfBounds", "", "buffer-overflow"),
    ("pointerOutOfBounds", "", "buffer-overflow"),
    ("ctubufferoverrun", "", "buffer-overflow"),
    ("ctuArrayIndex", "", "buffer-overflow"),
    ("stringLiteralWrite", "", "buffer-overflow"),
    ("invalidScanfFormatWidth", "", "buffer-overflow"),
    ("invalidscanf", "", "buffer-overflow"),
    ("terminateStrncpy", "", "buffer-overread"),
    ("objectIndex", "", "buffer-overflow"),
    ("sizeArgumentAsChar", "", "buffer-overflow"),
    ("memleak", "", "leak"),
    ("memleakOnRealloc", "", "leak"),
    ("resourceLeak", "", "leak"),
    ("leakReturnValNotUsed", "", "leak"),
    ("leakNoVarFunctionCall", "", "leak"),
    ("deallocuse", "", "use-after-free"),
    ("deallocret", "", "use-after-free"),
    ("returnDanglingLifetime", "", "use-after-free"),
    ("invalidLifetime", "", "use-after-free"),
    ("danglingLifetime", "", "use-after-free"),
    ("autoVariables", "", "use-after-free"),
    ("doubleFree", "", "double-free"),
    ("useClosedFile", "", "write-after-close"),
    ("autovarInvalidDeallocation", "", "invalid-free"),
    ("mismatchAllocDealloc", "", "invalid-free"),
    ("zerodiv", "", "divide-by-zero"),
    ("zerodivcond", "", "divide-by-zero"),
    ("integerOverflow", "", "integer-overflow"),
    ("integerOverflowCond", "", "integer-overflow"),
    ("shiftTooManyBits", "", "integer-overflow"),
    ("shiftTooManyBitsSigned", "", "integer-overflow"),
    ("shiftNegative", "", "integer-overflow"),
    ("negativeMemoryAllocationSize", "", "integer-overflow"),
    ("signConversion", "", "integer-signedness"),
    ("truncLongCastAssignment", "", "integer-truncation"),
];

/// Sanitizers: the first word is the kind that AddressSanitizer names, or `runtime error`
/// of UndefinedBehaviorSanitizer; the second a part of the rest.
pub const SANITIZERS: &[Row] = &[
    ("heap-use-after-free", "", "use-after-free"),
    ("stack-use-after-return", "", "use-after-free"),
    ("stack-use-after-scope", "", "use-after-free"),
    ("attempting double-free", "", "double-free"),
    ("attempting free on address", "", "invalid-free"),
    ("bad-free", "", "invalid-free"),
    ("alloc-dealloc-mismatch", "", "invalid-free"),
    ("stack-buffer-underflow", "", "buffer-underflow"),
    ("heap-buffer-overflow", "READ of size", "buffer-overread"),
    ("stack-buffer-overflow", "READ of size", "buffer-overread"),
    ("global-buffer-overflow", "READ of size", "buffer-overread"),
    ("dynamic-stack-buffer-overflow", "READ of size", "buffer-overread"),
    ("heap-buffer-overflow", "", "buffer-overflow"),
    ("stack-buffer-overflow", "", "buffer-overflow"),
    ("global-buffer-overflow", "", "buffer-overflow"),
    ("dynamic-stack-buffer-overflow", "", "buffer-overflow"),
    ("negative-size-param", "", "buffer-overflow"),
    ("unknown-crash", "", "buffer-overflow"),
    ("calloc-overflow", "", "integer-overflow"),
    ("allocation-size-too-big", "", "integer-overflow"),
    ("SEGV", "zero page", "null-dereference"),
    ("SEGV", "", "buffer-overflow"),
    ("FPE", "", "divide-by-zero"),
    ("leak", "", "leak"),
    ("runtime error", "out of bounds", "buffer-overflow"),
    ("runtime error", "insufficient space", "buffer-overflow"),
    ("runtime error", "division by zero", "divide-by-zero"),
    ("runtime error", "null pointer", "null-dereference"),
    ("runtime error", "shift", "integer-overflow"),
    ("runtime error", "integer overflow", "integer-overflow"),
    ("runtime error", "cannot be represented", "integer-overflow"),
    ("runtime error", "applying", "buffer-overflow"),
];

/// Our rule for a diagnostic, or `None` where it is no fault of ours.
pub fn rule(table: &[Row], check: &str, message: &str) -> Option<&'static str> {
    let is_check = |name: &str| {
        if name.ends_with('.') { check.starts_with(name) } else { check == name }
    };
    let mut rows = table.iter();
    let row = rows.find(|(name, part, _)| is_check(name) && message.contains(part));
    row.map(|(_, _, rule)| *rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_a_rule_and_can_be_reached() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../faults");
        for table in [CLANG, GCC, CPPCHECK, SANITIZERS] {
            for (index, (check, part, ours)) in table.iter().enumerate() {
                assert!(root.join(ours).join("spec.fault").is_file(), "{check}: no rule {ours}");
                let check =
                    if check.ends_with('.') { format!("{check}x") } else { check.to_string() };
                let row = table[..=index].iter().position(|(name, other, _)| {
                    let same =
                        if name.ends_with('.') { check.starts_with(name) } else { check == *name };
                    same && part.contains(other)
                });
                assert_eq!(row, Some(index), "{check} {part} is hidden by a row above");
            }
        }
    }

    #[test]
    fn clang_has_every_checker_of_its_table() {
        let mut known = String::new();
        for help in ["-analyzer-checker-help", "-analyzer-checker-help-alpha"] {
            let output = std::process::Command::new("clang-19").args(["-cc1", help]).output();
            known += &String::from_utf8_lossy(&output.unwrap().stdout);
        }
        for (check, _, _) in CLANG {
            let is_known = known.split_whitespace().any(|word| {
                if check.ends_with('.') { word.starts_with(check) } else { word == *check }
            });
            assert!(is_known, "clang-19 has no checker {check}");
        }
    }

    #[test]
    fn the_message_decides_where_the_name_does_not() {
        let malloc = |message| rule(CLANG, "unix.Malloc", message);
        assert_eq!(malloc("Use of memory after it is freed"), Some("use-after-free"));
        assert_eq!(malloc("Attempt to free released memory"), Some("double-free"));
        assert_eq!(malloc("Potential leak of memory pointed to by 'p'"), Some("leak"));
        assert_eq!(rule(CLANG, "core.uninitialized.Assign", ""), Some("uninitialized-read"));
        let bounds = |message| rule(GCC, "analyzer-out-of-bounds", message);
        assert_eq!(bounds("heap-based buffer under-read"), Some("buffer-underflow"));
        assert_eq!(bounds("stack-based buffer over-read"), Some("buffer-overread"));
        assert_eq!(bounds("stack-based buffer overflow"), Some("buffer-overflow"));
        let overflow = "heap-buffer-overflow";
        assert_eq!(rule(SANITIZERS, overflow, "READ of size 1"), Some("buffer-overread"));
        assert_eq!(rule(SANITIZERS, overflow, "WRITE of size 1"), Some("buffer-overflow"));
    }

    #[test]
    fn style_is_no_fault() {
        assert_eq!(rule(CLANG, "deadcode.DeadStores", "Value stored is never read"), None);
        assert_eq!(rule(GCC, "unused-variable", "unused variable"), None);
        assert_eq!(rule(CPPCHECK, "uselessAssignmentPtrArg", ""), None);
    }
}
