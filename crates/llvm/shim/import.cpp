// The door of the importer: bitcode in, one flat byte stream or one error text out.

#include "stream.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

using namespace llvm;

extern "C" {

struct ff_result {
  const uint8_t *data;
  size_t length;
  void *owner;
  bool failed;
};

ff_result ff_import(const uint8_t *bitcode, size_t length) {
  auto stream = std::make_unique<ff::Stream>();
  LLVMContext context;
  StringRef bytes(reinterpret_cast<const char *>(bitcode), length);
  Expected<std::unique_ptr<Module>> module =
      parseBitcodeFile(MemoryBufferRef(bytes, "unit"), context);
  bool failed = false;
  if (!module) {
    failed = true;
    stream->text(toString(module.takeError()));
  }
  ff_result result = {stream->data(), stream->size(), nullptr, failed};
  result.owner = stream.release();
  return result;
}

void ff_release(void *owner) { delete static_cast<ff::Stream *>(owner); }
}
