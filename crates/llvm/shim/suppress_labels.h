// Labels in the instrumented code: how they are read, written, combined and made anew.
#pragma once

#include "suppress.h"

namespace suppress {

// Where the runtime keeps things; crates/rt/c/suppress.h says the same.
constexpr uint64_t TrackingShadow = 0x100000000000, TrackingMask = 0x0fffffffffff;
constexpr uint64_t SuppressingShadow = 0x200000000000;
// Without it a place and its label compete for the same lines of the cache.
constexpr uint64_t SuppressingSkew = 2080;
constexpr uint64_t LogAddress = 0x080000000000, LogMask = (1u << 25) - 1;
constexpr uint32_t Corrupt = 1u << 31;
// Of a site in the log: the value was handed on by an assignment to a variable.
constexpr uint32_t HandedOn = 1u << 31;
constexpr unsigned MaxArguments = 16;

class Labels {
public:
  Labels(llvm::Module &module, bool isTracking);

  llvm::Constant *none() const { return llvm::ConstantInt::get(type, 0); }
  llvm::Constant *corrupt() const { return llvm::ConstantInt::get(type, isTracking ? Corrupt : 1); }
  llvm::Value *isCorrupt(llvm::IRBuilder<> &b, llvm::Value *label) const;
  // The label with nothing but its corruption.
  llvm::Value *corruption(llvm::IRBuilder<> &b, llvm::Value *label) const;
  llvm::Value *join(llvm::IRBuilder<> &b, llvm::Value *x, llvm::Value *y) const;
  // `x` where it is known, else `y`; corrupt where either is.
  llvm::Value *prefer(llvm::IRBuilder<> &b, llvm::Value *x, llvm::Value *y) const;
  llvm::Value *read(llvm::IRBuilder<> &b, llvm::Value *address, uint64_t size) const;
  // Whether some bytes have a definition and others have none; null where that cannot be.
  llvm::Value *isPartlyDefined(llvm::IRBuilder<> &b, llvm::Value *address, uint64_t size) const;
  void write(llvm::IRBuilder<> &b, llvm::Value *address, uint64_t size, llvm::Value *label) const;
  // A new definition from a value of that label. Splits the block before `at`.
  llvm::Value *define(llvm::Instruction *at, uint32_t site, llvm::Value *from, bool isCopy,
                      bool isHandedOn = false);
  // Called wherever the runtime may look at how many definitions there were, and at the end of
  // each block.
  void endStretch();
  llvm::Value *shadow(llvm::IRBuilder<> &b, llvm::Value *address) const;

  bool isTracking;
  unsigned width; // bytes of label for each byte of memory
  llvm::Type *type, *i8, *i32, *i64, *pointer;
  llvm::GlobalVariable *arguments, *returned, *stack, *at, *sink, *values, *kinds, *calledFrom, *depth, *calls, *predicate;

  llvm::GlobalVariable *external(const char *name, llvm::Type *of);
  llvm::FunctionCallee runtime(const char *name, llvm::Type *result, llvm::ArrayRef<llvm::Type *> takes);

private:
  // Definitions that follow each other in a program that only suppresses: counted at once where
  // the first of them is, each looked at alone only where one that matters is near.
  struct Stretch {
    llvm::Instruction *left = nullptr, *isNear = nullptr;
    std::vector<llvm::CallInst *> looks;
  };
  llvm::Value *countDown(llvm::IRBuilder<> &b);

  llvm::Module &module;
  Stretch stretch;
  llvm::GlobalVariable *count, *next;
  llvm::FunctionCallee hit, readRange, writeRange;
};

} // namespace suppress
