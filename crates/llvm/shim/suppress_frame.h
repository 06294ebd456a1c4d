// The memory of a function's locals.
#pragma once

#include "suppress_labels.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace suppress {

class Frame {
public:
  Frame(llvm::Function &function, Labels &labels);

  // Replaces the slots that stay in memory by places in a frame of our own.
  void enter(Table &table, uint32_t firstFrame);
  void moveDynamic();
  // Before a return: whether the return address is as it was.
  void leave(llvm::Instruction *before, uint32_t site) const;
  void restore(llvm::IRBuilder<> &b) const;

  // Slots that become values.
  std::vector<llvm::AllocaInst *> promotable;
  // Places of the frame with the size and the name of the variable there.
  llvm::DenseMap<llvm::Value *, uint64_t> sizes;
  llvm::DenseMap<llvm::Value *, std::string> names;
  // Places whose address nobody has but the function itself.
  llvm::DenseSet<llvm::Value *> privates;
  bool hasVariables() const { return !variables.empty(); }

private:
  std::vector<uint32_t> defaultOffsets();
  llvm::Value *magic(llvm::IRBuilder<> &b) const;
  void pushCall(llvm::IRBuilder<> &b, uint32_t frame);

  llvm::Function &function;
  Labels &labels;
  std::vector<Variable> variables;
  uint64_t size = 0;
  llvm::Value *top = nullptr, *base = nullptr, *returnWord = nullptr, *calls = nullptr;
};

} // namespace suppress
