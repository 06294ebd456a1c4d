// Calls: labels of arguments and results go through the runtime's variables beside them.
// What lies outside the program is not called with corrupt arguments.

#include "suppress_function.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace suppress {

void FunctionPass::visitCall(CallBase &call) {
  if (isa<DbgInfoIntrinsic>(call) || isa<InlineAsm>(call.getCalledOperand()))
    return;
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    return visitIntrinsic(*intrinsic);
  const Function *callee = calleeOf(call);
  IRBuilder<> b(&call);
  uint32_t site = siteOf(&call, 0);
  if (callee && !options.defined.contains(callee->getName()) && !options.modelled.contains(callee->getName()))
    return callOutside(call);
  bool isModel = callee && !options.defined.contains(callee->getName());
  handOver(call, !isModel);
  b.SetInsertPoint(&call);
  if (isModel) {
    std::string name = "ff_m_" + callee->getName().str();
    call.setCalledOperand(call.getModule()->getOrInsertFunction(name, call.getFunctionType()).getCallee());
    b.CreateStore(b.getInt32(site), labels.external("ff_site", labels.i32));
  } else if (!callee) {
    Value *target = call.getCalledOperand(), *label = labelOf(target);
    record(b, site, target, label, labels.none(), target);
    Value *nothing = labels.runtime("ff_nothing", labels.i64, {}).getCallee();
    if (!isa<Constant>(label))
      call.setCalledOperand(b.CreateSelect(labels.isCorrupt(b, label), nothing, target));
    b.CreateStore(labels.corruption(b, label), labels.returned);
  } else {
    b.CreateStore(labels.none(), labels.returned);
  }
  b.SetInsertPoint(call.getNextNode());
  if (!call.getType()->isVoidTy())
    known[&call] = b.CreateLoad(labels.type, labels.returned);
  if (call.hasFnAttr(Attribute::ReturnsTwice))
    frame->restore(b);
}

// Labels of the arguments, and their values for whoever explains a crash.
void FunctionPass::handOver(CallBase &call, bool makesDefinitions) {
  SmallVector<Value *, 8> given;
  for (unsigned i = 0; i < call.arg_size() && i < MaxArguments; ++i) {
    Value *argument = call.getArgOperand(i), *label = labelOf(argument);
    if (makesDefinitions && isDefinition(argument) && !isa<GlobalValue>(argument))
      label = labels.define(&call, siteOf(&call, 1 + i), label, false);
    given.push_back(label);
  }
  labels.endStretch();
  IRBuilder<> b(&call);
  for (unsigned i = 0; i < given.size(); ++i) {
    b.CreateStore(given[i], argumentSlot(b, i));
    if (!labels.isTracking)
      continue;
    Value *argument = call.getArgOperand(i);
    bool isPointer = argument->getType()->isPointerTy();
    Value *bits = isPointer ? b.CreatePtrToInt(argument, labels.i64) : b.getInt64(0);
    b.CreateStore(bits, b.CreateConstInBoundsGEP2_64(labels.values->getValueType(), labels.values, 0, i));
    b.CreateStore(b.getInt8(isPointer), b.CreateConstInBoundsGEP2_64(labels.kinds->getValueType(), labels.kinds, 0, i));
  }
  if (labels.isTracking) {
    b.CreateStore(b.getInt32(siteOf(&call, 0)), labels.calledFrom);
    Value *zero = ConstantPointerNull::get(cast<PointerType>(labels.pointer));
    // A count in place of a label of an index says that the arguments are what matters.
    record(b, siteOf(&call, 0), zero, labels.none(), labels.none(), zero);
    b.CreateStore(b.getInt64((uint64_t)given.size() << 32),
                  b.CreateConstInBoundsGEP2_64(labels.at->getValueType(), labels.at, 0, 1));
  }
}

// Whether an argument is corrupt, or the first byte of what it leads to.
Value *FunctionPass::argumentCorruption(IRBuilder<> &b, CallBase &call) {
  Value *joined = labels.none();
  for (unsigned i = 0; i < call.arg_size() && i < MaxArguments; ++i) {
    Value *argument = call.getArgOperand(i), *label = labelOf(argument);
    joined = labels.join(b, joined, labels.corruption(b, label));
    if (argument->getType()->isPointerTy() && !isa<Constant>(argument)) {
      Value *first = labels.read(b, placeOrSink(b, argument, label), 1);
      joined = labels.join(b, joined, labels.corruption(b, first));
    }
  }
  return joined;
}

void FunctionPass::callOutside(CallBase &call) {
  countStep(&call, nullptr, 0, false, siteOf(&call, 0));
  IRBuilder<> b(&call);
  labels.endStretch();
  if (labels.isTracking)
    handOver(call, false);
  b.SetInsertPoint(&call);
  Value *corruption = argumentCorruption(b, call);
  // Whoever is called back finds no labels of ours.
  for (Value *argument : call.args())
    if (isa<Function>(argument->stripPointerCasts())) {
      for (unsigned i = 0; i < 4; ++i)
        b.CreateStore(labels.none(), argumentSlot(b, i));
      break;
    }
  if (!isa<Constant>(corruption) && !call.doesNotReturn()) {
    Value *nothing = labels.runtime("ff_nothing", labels.i64, {}).getCallee();
    call.setCalledOperand(b.CreateSelect(labels.isCorrupt(b, corruption), nothing, call.getCalledOperand()));
  }
  if (call.doesNotReturn() || isa<InvokeInst>(call))
    return;
  Instruction *after = call.getNextNode();
  if (!call.getType()->isVoidTy())
    known[&call] = labels.define(after, siteOf(&call, 0), corruption, false);
  if (call.hasFnAttr(Attribute::ReturnsTwice)) {
    b.SetInsertPoint(after);
    frame->restore(b);
  }
}

void FunctionPass::visitIntrinsic(IntrinsicInst &call) {
  IRBuilder<> b(&call);
  Type *none = Type::getVoidTy(call.getContext());
  auto given = [&] {
    handOver(call, false);
    b.SetInsertPoint(&call);
    b.CreateStore(b.getInt32(siteOf(&call, 0)), labels.external("ff_site", labels.i32));
  };
  auto number = [&](Value *value) { return b.CreateZExtOrTrunc(value, labels.i64); };
  if (auto *copy = dyn_cast<MemTransferInst>(&call)) {
    given();
    FunctionCallee model = labels.runtime("ff_copy", none, {labels.pointer, labels.pointer, labels.i64});
    b.CreateCall(model, {copy->getRawDest(), copy->getRawSource(), number(copy->getLength())});
    call.eraseFromParent();
    return;
  }
  if (auto *fill = dyn_cast<MemSetInst>(&call)) {
    given();
    FunctionCallee model = labels.runtime("ff_fill", none, {labels.pointer, labels.i32, labels.i64});
    b.CreateCall(model, {fill->getRawDest(), b.CreateZExt(fill->getValue(), labels.i32), number(fill->getLength())});
    call.eraseFromParent();
    return;
  }
  Value *label = labels.none();
  for (Value *argument : call.args())
    label = labels.join(b, label, labelOf(argument));
  known[&call] = label;
}

} // namespace suppress
