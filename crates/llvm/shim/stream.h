// The byte stream the shim hands to Rust: little varints, strings with their length.
// The reading side is src/stream.rs.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace ff {

class Stream {
public:
  void byte(uint8_t value) { bytes.push_back(value); }

  // LEB128.
  void number(uint64_t value) {
    while (value >= 0x80) {
      bytes.push_back(uint8_t(value) | 0x80);
      value >>= 7;
    }
    bytes.push_back(uint8_t(value));
  }

  // Zigzag, so that small negative numbers stay short.
  void signedNumber(int64_t value) {
    number((uint64_t(value) << 1) ^ uint64_t(value >> 63));
  }

  void flag(bool value) { byte(value ? 1 : 0); }

  void text(llvm::StringRef value) {
    number(value.size());
    bytes.append(value.bytes_begin(), value.bytes_end());
  }

  void append(const Stream &other) { bytes.append(other.bytes.begin(), other.bytes.end()); }

  void clear() { bytes.clear(); }

  size_t size() const { return bytes.size(); }
  const uint8_t *data() const { return bytes.data(); }

private:
  llvm::SmallVector<uint8_t, 0> bytes;
};

} // namespace ff
