#include "normalize.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace ff {

// What an advisory builtin evaluates to where nothing optimises; null for all others. Each
// thread's own object is known by the name it has in all of them.
static Value *withoutOptimiser(const IntrinsicInst &call) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::ptr_annotation:
  case Intrinsic::annotation:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::threadlocal_address:
    return call.getArgOperand(0);
  case Intrinsic::is_constant:
    return ConstantInt::getFalse(call.getContext());
  case Intrinsic::objectsize: {
    // Nothing is known about the object: the largest or the smallest size.
    bool wantsMinimum = cast<ConstantInt>(call.getArgOperand(1))->isOne();
    return wantsMinimum ? Constant::getNullValue(call.getType())
                        : Constant::getAllOnesValue(call.getType());
  }
  default:
    return nullptr;
  }
}

void normalizeFunction(Function &function) {
  SmallVector<InvokeInst *, 4> invokes;
  SmallVector<IntrinsicInst *, 16> advice;
  for (BasicBlock &block : function)
    for (Instruction &instruction : block)
      if (auto *invoke = dyn_cast<InvokeInst>(&instruction))
        invokes.push_back(invoke);
      else if (auto *call = dyn_cast<IntrinsicInst>(&instruction); call && withoutOptimiser(*call))
        advice.push_back(call);
  for (InvokeInst *invoke : invokes)
    changeToCall(invoke);
  for (IntrinsicInst *call : advice) {
    call->replaceAllUsesWith(withoutOptimiser(*call));
    call->eraseFromParent();
  }
  EliminateUnreachableBlocks(function);
}

void expandConstants(Function &function, const Values &values) {
  SmallVector<Instruction *, 16> pending;
  auto needsExpansion = [&](Value *operand) {
    auto *expression = dyn_cast<ConstantExpr>(operand);
    return expression && !values.isPlain(expression);
  };
  for (BasicBlock &block : function)
    for (Instruction &instruction : block)
      if (any_of(instruction.operands(), needsExpansion))
        pending.push_back(&instruction);
  while (!pending.empty()) {
    Instruction *user = pending.pop_back_val();
    auto *phi = dyn_cast<PHINode>(user);
    for (Use &use : user->operands()) {
      if (!needsExpansion(use.get()))
        continue;
      Instruction *before = phi ? phi->getIncomingBlock(use)->getTerminator() : user;
      Instruction *computed = cast<ConstantExpr>(use.get())->getAsInstruction();
      computed->insertBefore(before);
      computed->setDebugLoc(user->getDebugLoc());
      // Several edges from one block must carry one value.
      if (phi)
        phi->setIncomingValueForBlock(phi->getIncomingBlock(use), computed);
      else
        use.set(computed);
      pending.push_back(computed);
    }
  }
}

} // namespace ff
