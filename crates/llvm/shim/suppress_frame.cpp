// Locals that live in memory move to a stack of their own, whose order of variables can be
// chosen for each run, and which holds a word in place of the return address. What the
// compiler keeps on the machine's stack is then out of reach of the program's overflows.

#include "suppress_frame.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace suppress {

static bool callsSetjmp(const Function &function) {
  for (const BasicBlock &block : function)
    for (const Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst); call && call->hasFnAttr(Attribute::ReturnsTwice))
        return true;
  return false;
}

Frame::Frame(Function &function, Labels &labels) : function(function), labels(labels) {
  std::vector<AllocaInst *> slots;
  for (Instruction &inst : function.getEntryBlock())
    if (auto *slot = dyn_cast<AllocaInst>(&inst); slot && slot->isStaticAlloca())
      slots.push_back(slot);
  // Where an overflow can happen, its neighbours have to be there to be overwritten.
  bool hasBuffer = callsSetjmp(function);
  for (AllocaInst *slot : slots)
    hasBuffer |= holdsArray(slot->getAllocatedType());
  const DataLayout &layout = function.getParent()->getDataLayout();
  for (AllocaInst *slot : slots) {
    std::string name = nameOf(slot);
    if (isAllocaPromotable(slot) && (!hasBuffer || name.empty())) {
      promotable.push_back(slot);
      continue;
    }
    Type *type = slot->getAllocatedType();
    uint64_t size = slot->getAllocationSize(layout)->getFixedValue();
    variables.push_back({slot, name, size, std::max<uint64_t>(1, slot->getAlign().value()),
                         holdsArray(type), isAddressRelated(type), isAllocaPromotable(slot)});
  }
}

// As a compiler without optimisation has it: what is declared first lies highest, the
// return address above all.
std::vector<uint32_t> Frame::defaultOffsets() {
  std::vector<uint32_t> offsets;
  uint64_t below = 0; // distance from the top
  for (const Variable &variable : variables) {
    below = alignTo(below + variable.size, variable.align);
    offsets.push_back(static_cast<uint32_t>(below));
  }
  // With room at the bottom for orders that need more padding.
  size = alignTo(below, 16) + 32 + 16 * variables.size();
  for (uint32_t &offset : offsets)
    offset = static_cast<uint32_t>(size - 16 - offset);
  offsets.push_back(static_cast<uint32_t>(size - 8));
  return offsets;
}

void Frame::enter(Table &table, uint32_t firstFrame) {
  Instruction *point = &*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  IRBuilder<> b(point);
  top = b.CreateLoad(labels.i64, labels.stack, "ff_top");
  if (variables.empty()) {
    pushCall(b, 0);
    return;
  }
  std::vector<uint32_t> offsets = defaultOffsets();
  uint32_t id = firstFrame + table.frame(function, variables);
  Module &module = *function.getParent();
  LLVMContext &context = module.getContext();
  auto *array = ArrayType::get(labels.i32, offsets.size());
  auto *layout = new GlobalVariable(module, array, false, GlobalValue::InternalLinkage,
                                    ConstantDataArray::get(context, offsets), "ff_layout");
  // Away from the program's own variables.
  layout->setSection("ff_layouts");
  auto *infoType = StructType::get(labels.i32, labels.i32, labels.i32, labels.i32, labels.pointer);
  Constant *info = ConstantStruct::get(
      infoType, {b.getInt32(id), b.getInt32(offsets.size()), b.getInt32(size), b.getInt32(0), layout});
  auto *entry = new GlobalVariable(module, infoType, true, GlobalValue::InternalLinkage, info, "ff_frame");
  entry->setSection("ff_frame_info");
  entry->setAlignment(Align(8));
  appendToUsed(module, {entry});
  base = b.CreateSub(top, b.getInt64(size), "ff_base");
  b.CreateStore(base, labels.stack);
  Value *start = b.CreateIntToPtr(base, labels.pointer);
  // The labels of whoever was here before are gone.
  Value *shadow = labels.shadow(b, start);
  b.CreateMemSet(shadow, b.getInt8(0), size * labels.width, Align(1));
  auto place = [&](unsigned index) {
    Value *offset = b.CreateLoad(labels.i32, b.CreateConstInBoundsGEP2_64(array, layout, 0, index));
    return b.CreateIntToPtr(b.CreateAdd(base, b.CreateZExt(offset, labels.i64)), labels.pointer);
  };
  for (unsigned i = 0; i < variables.size(); ++i) {
    Value *address = place(i);
    sizes[address] = variables[i].size;
    names[address] = variables[i].name;
    if (variables[i].isPrivate)
      privates.insert(address);
    variables[i].slot->replaceAllUsesWith(address);
  }
  pushCall(b, id + 1);
  returnWord = place(variables.size());
  b.CreateStore(magic(b), returnWord);
  for (Variable &variable : variables)
    variable.slot->eraseFromParent();
}

// Depends on the frame, so that a copied word is not taken for the right one.
Value *Frame::magic(IRBuilder<> &b) const {
  return b.CreateXor(base, b.getInt64(0x5afe000000000000));
}

// Who called whom, with which frame: for reports.
void Frame::pushCall(IRBuilder<> &b, uint32_t frame) {
  if (!labels.isTracking)
    return;
  calls = b.CreateLoad(labels.i32, labels.depth, "ff_calls");
  Value *slot = b.CreateShl(b.CreateAnd(calls, b.getInt32(4095)), 1);
  auto put = [&](Value *index, Value *value) {
    b.CreateStore(value, b.CreateInBoundsGEP(labels.calls->getValueType(), labels.calls, {b.getInt64(0), index}));
  };
  Value *from = b.CreateZExt(b.CreateLoad(labels.i32, labels.calledFrom), labels.i64);
  put(slot, b.CreateOr(from, b.getInt64((uint64_t)frame << 32)));
  put(b.CreateAdd(slot, b.getInt32(1)), base ? base : top);
  b.CreateStore(b.CreateAdd(calls, b.getInt32(1)), labels.depth);
}

// After a call that may return from elsewhere.
void Frame::restore(IRBuilder<> &b) const {
  b.CreateStore(base ? base : top, labels.stack);
  if (calls)
    b.CreateStore(b.CreateAdd(calls, b.getInt32(1)), labels.depth);
}

void Frame::leave(Instruction *before, uint32_t site) const {
  IRBuilder<> b(before);
  if (returnWord) {
    FunctionCallee left = labels.runtime("ff_leave", b.getVoidTy(), {labels.pointer, labels.i64, labels.i32});
    Value *word = b.CreateLoad(labels.i64, returnWord);
    Value *expected = magic(b);
    Instruction *smashed = SplitBlockAndInsertIfThen(b.CreateICmpNE(word, expected), before, false);
    b.SetInsertPoint(smashed);
    b.CreateCall(left, {returnWord, expected, b.getInt32(site)});
    b.SetInsertPoint(before);
  }
  b.CreateStore(top, labels.stack);
  if (calls)
    b.CreateStore(calls, labels.depth);
}

// Arrays of a size known only when they are declared.
void Frame::moveDynamic() {
  std::vector<Instruction *> gone;
  for (BasicBlock &block : function)
    for (Instruction &inst : block) {
      IRBuilder<> b(&inst);
      if (auto *slot = dyn_cast<AllocaInst>(&inst); slot && !slot->isStaticAlloca()) {
        uint64_t each = function.getParent()->getDataLayout().getTypeAllocSize(slot->getAllocatedType());
        Value *bytes = b.CreateMul(b.CreateZExtOrTrunc(slot->getArraySize(), labels.i64), b.getInt64(each));
        Value *low = b.CreateAnd(b.CreateSub(b.CreateLoad(labels.i64, labels.stack), bytes), b.getInt64(~15ull));
        b.CreateStore(low, labels.stack);
        slot->replaceAllUsesWith(b.CreateIntToPtr(low, labels.pointer));
        gone.push_back(slot);
      } else if (auto *intrinsic = dyn_cast<IntrinsicInst>(&inst)) {
        if (intrinsic->getIntrinsicID() == Intrinsic::stacksave) {
          intrinsic->replaceAllUsesWith(
              b.CreateIntToPtr(b.CreateLoad(labels.i64, labels.stack), labels.pointer));
          gone.push_back(intrinsic);
        } else if (intrinsic->getIntrinsicID() == Intrinsic::stackrestore) {
          b.CreateStore(b.CreatePtrToInt(intrinsic->getArgOperand(0), labels.i64), labels.stack);
          gone.push_back(intrinsic);
        } else if (intrinsic->isLifetimeStartOrEnd()) {
          gone.push_back(intrinsic);
        }
      }
    }
  for (Instruction *inst : gone)
    inst->eraseFromParent();
}

} // namespace suppress
