// Labels in the instrumented code: how they are read, written, combined and made anew.

#include "suppress_labels.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace suppress {

Labels::Labels(Module &module, bool isTracking) : isTracking(isTracking), module(module) {
  LLVMContext &context = module.getContext();
  i8 = Type::getInt8Ty(context);
  i32 = Type::getInt32Ty(context);
  i64 = Type::getInt64Ty(context);
  pointer = PointerType::getUnqual(context);
  type = isTracking ? i32 : i8;
  width = isTracking ? 4 : 1;
  arguments = external("ff_args", ArrayType::get(type, MaxArguments));
  values = external("ff_values", ArrayType::get(i64, MaxArguments));
  kinds = external("ff_kinds", ArrayType::get(i8, MaxArguments));
  returned = external("ff_ret", type);
  stack = external("ff_sp", i64);
  at = external("ff_at", ArrayType::get(i64, 4));
  sink = external("ff_sink", ArrayType::get(i8, 4096));
  calledFrom = external("ff_called_from", i32);
  depth = external("ff_depth", i32);
  calls = external("ff_calls", ArrayType::get(i64, 8192));
  predicate = external("ff_predicate", type);
  count = external(isTracking ? "ff_count" : "ff_left", isTracking ? i32 : i64);
  next = external("ff_next", i32);
  hit = runtime("ff_hit", type, {i32, i32});
  readRange = runtime("ff_label_read", type, {pointer, i64});
  writeRange = runtime("ff_label_write", Type::getVoidTy(context), {pointer, i64, type});
}

GlobalVariable *Labels::external(const char *name, Type *of) {
  auto *global = cast<GlobalVariable>(module.getOrInsertGlobal(name, of));
  global->setDSOLocal(true);
  return global;
}

FunctionCallee Labels::runtime(const char *name, Type *result, ArrayRef<Type *> takes) {
  FunctionCallee callee = module.getOrInsertFunction(name, FunctionType::get(result, takes, false));
  cast<Function>(callee.getCallee())->addFnAttr(Attribute::NoUnwind);
  return callee;
}

Value *Labels::isCorrupt(IRBuilder<> &b, Value *label) const {
  return isTracking ? b.CreateICmpSLT(label, none()) : b.CreateICmpNE(label, none());
}

Value *Labels::corruption(IRBuilder<> &b, Value *label) const {
  return isTracking ? b.CreateAnd(label, corrupt()) : label;
}

Value *Labels::join(IRBuilder<> &b, Value *x, Value *y) const {
  if (x == y || y == none())
    return x;
  if (x == none())
    return y;
  if (!isTracking)
    return b.CreateOr(x, y);
  // Corrupt ones are the largest; else what was defined last is the likeliest to be wrong.
  return b.CreateBinaryIntrinsic(Intrinsic::umax, x, y);
}

Value *Labels::prefer(IRBuilder<> &b, Value *x, Value *y) const {
  if (!isTracking || x == none() || y == none() || x == y)
    return join(b, x, y);
  Value *known = b.CreateSelect(b.CreateICmpNE(x, none()), x, y);
  return b.CreateOr(known, corruption(b, b.CreateOr(x, y)));
}

Value *Labels::shadow(IRBuilder<> &b, Value *address) const {
  Value *bits = b.CreatePtrToInt(address, i64);
  if (isTracking) {
    bits = b.CreateShl(b.CreateAnd(bits, b.getInt64(TrackingMask)), 2);
    bits = b.CreateAdd(bits, b.getInt64(TrackingShadow));
  } else {
    bits = b.CreateAdd(b.CreateXor(bits, b.getInt64(SuppressingShadow)), b.getInt64(SuppressingSkew));
  }
  return b.CreateIntToPtr(bits, pointer);
}

static bool isSimple(uint64_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

Value *Labels::read(IRBuilder<> &b, Value *address, uint64_t size) const {
  if (!isSimple(size))
    return b.CreateCall(readRange, {address, b.getInt64(size)});
  Value *place = shadow(b, address);
  if (!isTracking) {
    Type *wide = b.getIntNTy(size * 8);
    Value *labels = b.CreateAlignedLoad(wide, place, Align(1));
    return size == 1 ? labels : b.CreateZExt(b.CreateICmpNE(labels, ConstantInt::get(wide, 0)), type);
  }
  if (size == 1)
    return b.CreateAlignedLoad(type, place, Align(4));
  auto *vector = FixedVectorType::get(type, size);
  return b.CreateIntMaxReduce(b.CreateAlignedLoad(vector, place, Align(4)));
}

Value *Labels::isPartlyDefined(IRBuilder<> &b, Value *address, uint64_t size) const {
  if (!isTracking || !isSimple(size) || size == 1)
    return nullptr;
  auto *vector = FixedVectorType::get(type, size);
  Value *bytes = b.CreateAlignedLoad(vector, shadow(b, address), Align(4));
  Value *isAny = b.CreateICmpNE(b.CreateIntMaxReduce(bytes), none());
  return b.CreateAnd(isAny, b.CreateICmpEQ(b.CreateIntMinReduce(bytes), none()));
}

void Labels::write(IRBuilder<> &b, Value *address, uint64_t size, Value *label) const {
  if (!isSimple(size)) {
    b.CreateCall(writeRange, {address, b.getInt64(size), label});
    return;
  }
  Value *place = shadow(b, address);
  if (isTracking) {
    Value *labels = size == 1 ? label : b.CreateVectorSplat(size, label);
    b.CreateAlignedStore(labels, place, Align(4));
    return;
  }
  Type *wide = b.getIntNTy(size * 8);
  Value *labels = b.CreateZExt(label, wide);
  if (size > 1)
    labels = b.CreateMul(labels, ConstantInt::get(wide, 0x0101010101010101ull >> (64 - size * 8)));
  b.CreateAlignedStore(labels, place, Align(1));
}

Value *Labels::countDown(IRBuilder<> &b) {
  if (!stretch.isNear) {
    // How many they are is known when the stretch ends.
    Value *before = b.CreateLoad(i64, count);
    stretch.left = BinaryOperator::CreateSub(before, b.getInt64(0));
    b.Insert(stretch.left);
    b.CreateStore(stretch.left, count);
    stretch.isNear = new ICmpInst(CmpInst::ICMP_ULE, before, b.getInt64(0));
    b.Insert(stretch.isNear);
  }
  return stretch.isNear;
}

void Labels::endStretch() {
  uint64_t all = stretch.looks.size();
  if (all == 0)
    return;
  stretch.left->setOperand(1, ConstantInt::get(i64, all));
  stretch.isNear->setOperand(1, ConstantInt::get(i64, all));
  for (uint64_t i = 0; i < all; ++i)
    stretch.looks[i]->setArgOperand(0, ConstantInt::get(i32, all - 1 - i));
  stretch = {};
}

Value *Labels::define(Instruction *before, uint32_t site, Value *from, bool isCopy,
                      bool isHandedOn) {
  IRBuilder<> b(before);
  LLVMContext &context = module.getContext();
  Value *now = nullptr, *isHit;
  if (isTracking) {
    now = b.CreateAdd(b.CreateLoad(i32, count), b.getInt32(1));
    b.CreateStore(now, count);
    Value *slot = b.CreateAnd(b.CreateZExt(now, i64), b.getInt64(LogMask));
    slot = b.CreateAdd(b.CreateShl(slot, 3), b.getInt64(LogAddress));
    Value *origin = isCopy ? b.CreateShl(b.CreateZExt(from, i64), 32) : b.getInt64(0);
    b.CreateStore(b.CreateOr(origin, b.getInt64(site | (isHandedOn ? HandedOn : 0))), b.CreateIntToPtr(slot, pointer));
    isHit = b.CreateICmpEQ(now, b.CreateLoad(i32, next));
  } else {
    isHit = countDown(b);
  }
  MDNode *weights = MDBuilder(context).createUnlikelyBranchWeights();
  BasicBlock *fast = before->getParent();
  Instruction *slow = SplitBlockAndInsertIfThen(isHit, before, false, weights);
  b.SetInsertPoint(slow);
  CallInst *said = b.CreateCall(hit, {isTracking ? now : b.getInt32(0), b.getInt32(site)});
  if (!isTracking)
    stretch.looks.push_back(said);
  // Nothing of the way that is always taken has to be saved for the one that seldom is.
  said->setCallingConv(CallingConv::PreserveMost);
  PHINode *merged = PHINode::Create(type, 2, "", before->getParent()->begin());
  merged->addIncoming(none(), fast);
  merged->addIncoming(said, slow->getParent());
  b.SetInsertPoint(before);
  Value *label = b.CreateOr(merged, corruption(b, from));
  return isTracking ? b.CreateOr(label, now) : label;
}

} // namespace suppress
