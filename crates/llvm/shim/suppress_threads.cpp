// Programs with threads: accesses to memory that may be shared are steps of the schedule, at
// which another thread may run; atomic ones are synchronisations.

#include "suppress_function.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace suppress {

bool FunctionPass::isShared(const Value *address) const {
  if (!options.isThreaded)
    return false;
  while (auto *gep = dyn_cast<GEPOperator>(address))
    address = gep->getPointerOperand();
  if (auto *slot = dyn_cast<AllocaInst>(address))
    return !slotLabels.count(const_cast<AllocaInst *>(slot));
  if (auto *global = dyn_cast<GlobalVariable>(address))
    return !global->isConstant() && !global->isThreadLocal();
  if (auto *call = dyn_cast<IntrinsicInst>(address))
    return call->getIntrinsicID() != Intrinsic::threadlocal_address;
  return !frame->privates.contains(const_cast<Value *>(address));
}

void FunctionPass::countStep(Instruction *before, Value *address, uint64_t size, bool isWrite, uint32_t site) {
  if (!options.isThreaded || (address && !isShared(address)))
    return;
  IRBuilder<> b(before);
  GlobalVariable *left = labels.external("ff_steps_left", labels.i64);
  Value *now = b.CreateSub(b.CreateLoad(labels.i64, left), b.getInt64(1));
  b.CreateStore(now, left);
  MDNode *weights = MDBuilder(function.getContext()).createUnlikelyBranchWeights();
  Instruction *slow = SplitBlockAndInsertIfThen(b.CreateICmpEQ(now, b.getInt64(0)), before, false, weights);
  b.SetInsertPoint(slow);
  FunctionCallee step = labels.runtime("ff_step", b.getVoidTy(), {labels.pointer, labels.i32, labels.i32});
  Value *where = address ? address : ConstantPointerNull::get(cast<PointerType>(labels.pointer));
  uint32_t info = static_cast<uint32_t>(size) | (isWrite ? 1u << 31 : 0);
  // Nothing of the way that is always taken has to be saved for the one that seldom is.
  b.CreateCall(step, {where, b.getInt32(info), b.getInt32(site)})->setCallingConv(CallingConv::PreserveMost);
}

void FunctionPass::synchronise(Instruction *before, Value *address, uint64_t size, AtomicOrdering order, bool isWrite,
                               uint32_t site) {
  if (!options.isThreaded || (address && !isShared(address)))
    return;
  IRBuilder<> b(before);
  FunctionCallee atomic =
      labels.runtime("ff_atomic", b.getVoidTy(), {labels.pointer, labels.i32, labels.i32, labels.i32});
  Value *where = address ? address : ConstantPointerNull::get(cast<PointerType>(labels.pointer));
  uint32_t bits = (isAcquireOrStronger(order) ? 1 : 0) | (isReleaseOrStronger(order) ? 2 : 0) | (isWrite ? 4 : 0);
  b.CreateCall(atomic, {where, b.getInt32(static_cast<uint32_t>(size)), b.getInt32(bits), b.getInt32(site)})
      ->setCallingConv(CallingConv::PreserveMost);
}

} // namespace suppress
