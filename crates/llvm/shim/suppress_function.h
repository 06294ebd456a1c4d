// One function on its way to being instrumented.
#pragma once

#include "suppress_frame.h"

#include "llvm/IR/IntrinsicInst.h"

#include <map>

namespace suppress {

class FunctionPass {
public:
  FunctionPass(llvm::Function &function, Labels &labels, const Options &options, Table &table,
               std::map<uint32_t, uint32_t> &sitePaths)
      : function(function), labels(labels), options(options), table(table), sitePaths(sitePaths) {
    resolve = labels.runtime("ff_resolve", labels.type, {labels.type, labels.i32});
  }

  void run();

private:
  struct SkipPlaces {
    llvm::Instruction *terminator;
    llvm::BasicBlock *to;
    std::vector<std::pair<llvm::Value *, uint64_t>> places;
  };

  void demotePhis();
  void addSlotLabel(llvm::AllocaInst *slot);
  void readArguments();
  void describeSites(const std::vector<llvm::Instruction *> &body);
  void setPath(const llvm::Instruction *inst, const llvm::Value *address);
  uint32_t siteOf(const llvm::Value *key, unsigned operand) const;
  static bool isDefinition(const llvm::Value *value);
  static const llvm::Function *calleeOf(const llvm::CallBase &call);
  bool isNamedPlace(llvm::Value *address, uint64_t size) const;
  uint64_t sizeOf(llvm::Type *type) const;

  llvm::Value *argumentSlot(llvm::IRBuilder<> &b, unsigned index);
  llvm::Value *labelOf(const llvm::Value *value) const;
  llvm::Value *recordAccess(llvm::IRBuilder<> &b, llvm::Instruction *inst, llvm::Value *address);
  void record(llvm::IRBuilder<> &b, uint32_t site, llvm::Value *base, llvm::Value *baseLabel, llvm::Value *index,
              llvm::Value *address);
  llvm::Value *settleDoubt(llvm::LoadInst &load, llvm::Value *place, llvm::Value *label, llvm::Value *way);
  llvm::Value *placeOrSink(llvm::IRBuilder<> &b, llvm::Value *address, llvm::Value *label);

  void visit(llvm::Instruction *inst);
  void visitLoad(llvm::LoadInst &load);
  void visitStore(llvm::StoreInst &store);
  void visitAtomic(llvm::Instruction &inst);
  void visitOperation(llvm::Instruction &inst);
  void visitReturn(llvm::ReturnInst &ret);

  // suppress_threads.cpp
  bool isShared(const llvm::Value *address) const;
  void countStep(llvm::Instruction *before, llvm::Value *address, uint64_t size, bool isWrite, uint32_t site);
  void synchronise(llvm::Instruction *before, llvm::Value *address, uint64_t size, llvm::AtomicOrdering order,
                   bool isWrite, uint32_t site);

  // suppress_calls.cpp
  void visitCall(llvm::CallBase &call);
  void visitIntrinsic(llvm::IntrinsicInst &call);
  void handOver(llvm::CallBase &call, bool makesDefinitions);
  void callOutside(llvm::CallBase &call);
  llvm::Value *argumentCorruption(llvm::IRBuilder<> &b, llvm::CallBase &call);

  // suppress_branches.cpp
  std::vector<SkipPlaces> placesOf(const std::vector<Skip> &skips);
  void addSkip(const SkipPlaces &skip);
  llvm::BasicBlock *endOfFunction();

  llvm::Function &function;
  Labels &labels;
  const Options &options;
  Table &table;
  std::map<uint32_t, uint32_t> &sitePaths; // of stores to fields, by number within the unit
  Frame *frame = nullptr;
  llvm::FunctionCallee resolve;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> known;
  llvm::DenseMap<llvm::AllocaInst *, llvm::AllocaInst *> slotLabels;
  llvm::DenseMap<std::pair<const llvm::Value *, unsigned>, uint32_t> siteIds;
  llvm::DenseMap<const llvm::Instruction *, uint32_t> paths;
  llvm::BasicBlock *end = nullptr;
};

} // namespace suppress
