// A corrupt predicate skips everything it decides about; what would have been assigned
// there is corrupt.

#include "suppress_function.h"

#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace suppress {

// More than this in one function is not worth its code.
static constexpr size_t MostPlaces = 20000;

std::vector<FunctionPass::SkipPlaces> FunctionPass::placesOf(const std::vector<Skip> &skips) {
  std::vector<SkipPlaces> found;
  size_t total = 0;
  for (const Skip &skip : skips) {
    SkipPlaces places{skip.terminator, skip.to, {}};
    for (StoreInst *store : skip.skipped)
      if (total < MostPlaces) {
        places.places.push_back({store->getPointerOperand(), sizeOf(store->getValueOperand()->getType())});
        ++total;
      }
    found.push_back(std::move(places));
  }
  return found;
}

// Where a corrupt predicate decides about all that is left.
BasicBlock *FunctionPass::endOfFunction() {
  if (end)
    return end;
  end = BasicBlock::Create(function.getContext(), "ff_end", &function);
  IRBuilder<> b(end);
  if (function.doesNotReturn()) {
    b.CreateCall(labels.runtime("ff_end", b.getVoidTy(), {}));
    b.CreateUnreachable();
    return end;
  }
  Type *type = function.getReturnType();
  ReturnInst *ret = type->isVoidTy() ? b.CreateRetVoid() : b.CreateRet(Constant::getNullValue(type));
  b.SetInsertPoint(ret);
  b.CreateStore(labels.corrupt(), labels.returned);
  frame->leave(ret, 0);
  return end;
}

void FunctionPass::addSkip(const SkipPlaces &skip) {
  Value *decides = nullptr;
  if (auto *branch = dyn_cast<BranchInst>(skip.terminator))
    decides = branch->getCondition();
  else if (auto *choice = dyn_cast<SwitchInst>(skip.terminator))
    decides = choice->getCondition();
  else if (auto *jump = dyn_cast<IndirectBrInst>(skip.terminator))
    decides = jump->getAddress();
  if (!decides)
    return;
  Value *label = labelOf(decides);
  if (isa<Constant>(label))
    return;
  BasicBlock *to = skip.to ? skip.to : endOfFunction();
  BasicBlock *from = skip.terminator->getParent();
  BasicBlock *onwards = from->splitBasicBlock(skip.terminator);
  BasicBlock *around = BasicBlock::Create(function.getContext(), "ff_skip", &function, onwards);
  from->getTerminator()->eraseFromParent();
  IRBuilder<> b(from);
  if (labels.isTracking)
    b.CreateStore(label, labels.predicate);
  BranchInst *branch = b.CreateCondBr(labels.isCorrupt(b, label), around, onwards);
  branch->setMetadata(LLVMContext::MD_prof, MDBuilder(function.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(around);
  for (auto [place, size] : skip.places) {
    auto *slot = dyn_cast<AllocaInst>(place);
    if (slot && slotLabels.count(slot))
      b.CreateStore(labels.corrupt(), slotLabels[slot]);
    else
      labels.write(b, place, size, labels.corrupt());
  }
  b.CreateBr(to);
}

} // namespace suppress
