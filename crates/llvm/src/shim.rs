//! The calls into the C++ shim, and the only unsafe code of the importer.

use std::ffi::c_void;

#[repr(C)]
struct FfResult {
    data: *const u8,
    length: usize,
    owner: *mut c_void,
    failed: bool,
}

unsafe extern "C" {
    fn ff_import(bitcode: *const u8, length: usize) -> FfResult;
    fn ff_release(owner: *mut c_void);
}

/// The stream the shim makes of one unit's bitcode, or LLVM's words on why it cannot.
pub fn import_stream(bitcode: &[u8]) -> Result<Vec<u8>, String> {
    // SAFETY: the shim reads `length` bytes from `bitcode` during the call and keeps no pointer
    // to them.
    let result = unsafe { ff_import(bitcode.as_ptr(), bitcode.len()) };
    let bytes = if result.length == 0 {
        Vec::new()
    } else {
        // SAFETY: the shim returns `length` initialised bytes that live until `ff_release`.
        unsafe { std::slice::from_raw_parts(result.data, result.length) }.to_vec()
    };
    // SAFETY: `owner` came from this call, is released once, and `data` is not used after.
    unsafe { ff_release(result.owner) };
    if result.failed { Err(String::from_utf8_lossy(&bytes).into_owned()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_bitcode_are_an_error() {
        assert!(import_stream(b"int main(void) { return 0; }").is_err());
        assert!(import_stream(b"").is_err());
    }
}
