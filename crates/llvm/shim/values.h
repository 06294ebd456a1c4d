// Machine types, constants, and the numbering of globals and functions.
#pragma once

#include "stream.h"
#include "types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include <vector>

namespace ff {

// Where a block stands among the blocks of its function.
using BlockNumbers = llvm::DenseMap<const llvm::BasicBlock *, uint32_t>;

class Values {
public:
  Values(llvm::Module &module, Types &types);

  // A machine type as one number: its kind in the low three bits, its size above.
  uint64_t machineType(llvm::Type *type) const;

  // What a type looks like from outside: a named struct, an array, or a scalar's size.
  void writeShape(llvm::Type *type, Stream &out);

  uint32_t constant(const llvm::Constant *constant);

  // A function's number, or null for what is no part of the program.
  const uint32_t *function(const llvm::GlobalValue *function) const;

  // Whether a constant has a form of its own, or must be computed by instructions.
  bool isPlain(const llvm::Constant *constant) const;

  void writeStructs(Stream &out) const;
  void writeConstants(Stream &out) const;
  void writeGlobals(Stream &out);

  const llvm::DataLayout &layout() const { return dataLayout; }
  const std::vector<llvm::Function *> &functionOrder() const { return functions; }
  // Further names of functions: aliases and ifuncs, numbered after the functions.
  const std::vector<const llvm::GlobalValue *> &functionAliases() const { return aliases; }

private:
  uint32_t structName(llvm::StructType *type);
  void writeConstant(const llvm::Constant *constant, Stream &out);
  const llvm::GlobalValue *addressOf(const llvm::Constant *constant, int64_t &offset) const;
  void writeAddress(const llvm::GlobalValue *base, int64_t offset, Stream &out);
  void writeOpaque(const llvm::Constant *constant, Stream &out);
  void writeGlobal(const llvm::GlobalVariable &global, Stream &out);
  void writeInitializer(const llvm::Constant *constant, uint64_t offset, Stream &out,
                        uint64_t &pieces);
  const BlockNumbers &blockNumbers(const llvm::Function *function);

  llvm::Module &module;
  Types &types;
  const llvm::DataLayout &dataLayout;
  llvm::DenseMap<const llvm::GlobalValue *, uint32_t> numbers;
  std::vector<llvm::Function *> functions;
  std::vector<const llvm::GlobalValue *> aliases;
  std::vector<const llvm::GlobalVariable *> globals;
  std::vector<const llvm::GlobalAlias *> dataAliases;
  llvm::DenseMap<const llvm::Constant *, uint32_t> constantIds;
  uint32_t constantCount = 0;
  Stream constants;
  llvm::DenseMap<const llvm::StructType *, uint32_t> structIds;
  std::vector<llvm::StructType *> structs;
  llvm::DenseMap<const llvm::Function *, BlockNumbers> blocks;
};

// How a symbol is linked, as one byte; src/stream/globals.rs reads it.
uint8_t linkageByte(const llvm::GlobalValue &value);

} // namespace ff
