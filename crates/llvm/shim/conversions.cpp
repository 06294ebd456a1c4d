#include "conversions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace ff {

static const char *const Handler = "__ubsan_handle_implicit_conversion";

Conversions::Conversions(const Module &module) : handler(module.getFunction(Handler)) {}

bool isCheckData(const GlobalVariable &global) {
  return global.hasPrivateLinkage() && (!global.hasName() || global.getName() == ".src");
}

// The handler's call if the block ends in a check: a branch to go on, or to a block that
// calls the handler and goes on too.
static CallInst *checkAtEnd(BasicBlock &block, const Function &handler) {
  auto *branch = dyn_cast<BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional())
    return nullptr;
  BasicBlock *handlerBlock = branch->getSuccessor(1);
  Instruction *last = handlerBlock->getTerminator()->getPrevNode();
  auto *call = dyn_cast_or_null<CallInst>(last);
  bool isCheck = call && call->getCalledOperand() == &handler && call->arg_size() == 3 &&
                 handlerBlock->getSinglePredecessor() == &block;
  return isCheck ? call : nullptr;
}

// Going through the blocks in order handles chained conversions in the order they happen;
// the blocks a check had parted are joined again as if no check had been.
void Conversions::run(Function &function) {
  if (!handler)
    return;
  for (auto position = function.begin(); position != function.end();) {
    if (CallInst *call = checkAtEnd(*position, *handler))
      replaceCheck(*call); // The block has grown: look at its new end.
    else
      ++position;
  }
}

// The value behind what the handler is given: zero-extended to a word, or spilled where it
// is wider than one.
static Value *checkedValue(Value *argument) {
  if (auto *cast = dyn_cast<ZExtInst>(argument))
    if (cast->hasMetadata(LLVMContext::MD_nosanitize))
      return cast->getOperand(0);
  if (auto *cast = dyn_cast<PtrToIntInst>(argument))
    for (User *user : cast->getOperand(0)->users())
      if (auto *store = dyn_cast<StoreInst>(user))
        if (store->getPointerOperand() == cast->getOperand(0))
          return store->getValueOperand();
  return argument;
}

// A constant went through the zero extension already folded.
static Value *narrowed(Value *value, unsigned bits) {
  auto *constant = dyn_cast<ConstantInt>(value);
  if (!constant || !bits)
    return value;
  return ConstantInt::get(value->getContext(), constant->getValue().zextOrTrunc(bits));
}

// Deletes what only the check used; nothing of the program carries this metadata.
static void deleteScaffolding(Value *value) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || !instruction->use_empty() ||
      !instruction->hasMetadata(LLVMContext::MD_nosanitize))
    return;
  SmallVector<Value *, 2> operands(instruction->operands());
  instruction->eraseFromParent();
  for (Value *operand : operands)
    deleteScaffolding(operand);
}

void Conversions::replaceCheck(CallInst &handlerCall) {
  BasicBlock *handlerBlock = handlerCall.getParent();
  BasicBlock *block = handlerBlock->getSinglePredecessor();
  auto *branch = cast<BranchInst>(block->getTerminator());
  BasicBlock *rest = branch->getSuccessor(0);

  ImplicitConversion conversion = readRecord(handlerCall.getArgOperand(0));
  Value *from = narrowed(checkedValue(handlerCall.getArgOperand(1)), conversion.from.bits);
  Value *to = narrowed(checkedValue(handlerCall.getArgOperand(2)), conversion.to.bits);

  Value *condition = branch->getCondition();
  Instruction *jump = BranchInst::Create(rest, branch->getIterator());
  jump->setDebugLoc(branch->getDebugLoc());
  branch->eraseFromParent();
  DeleteDeadBlock(handlerBlock);
  deleteScaffolding(condition);

  if (conversion.bitFieldWidth)
    markBitField(from, to, conversion, jump);
  else
    mark(from, to, conversion, jump);
  MergeBlockIntoPredecessor(rest);
}

// An instruction that converts `from` to `type` without being folded away.
static Instruction *conversionInstruction(Value *from, Type *type, bool isSigned,
                                          Instruction *before) {
  Instruction *result;
  unsigned fromBits = from->getType()->getIntegerBitWidth();
  unsigned toBits = type->getIntegerBitWidth();
  if (fromBits > toBits)
    result = new TruncInst(from, type, "", before->getIterator());
  else if (fromBits == toBits)
    result = new FreezeInst(from, "", before->getIterator());
  else if (isSigned)
    result = new SExtInst(from, type, "", before->getIterator());
  else
    result = new ZExtInst(from, type, "", before->getIterator());
  result->setDebugLoc(before->getDebugLoc());
  return result;
}

// Whether control comes to `other` after it has left `block`, where both see a value that
// was computed for one expression: blocks stand in the order of the source.
static bool comesAfter(const BasicBlock *other, const BasicBlock *block, const Value *value) {
  if (other == block)
    return false;
  // Nothing can use a value before the block that computes it.
  if (auto *computed = dyn_cast<Instruction>(value); computed && computed->getParent() == block)
    return true;
  for (const BasicBlock *next = block->getNextNode(); next; next = next->getNextNode())
    if (next == other)
      return true;
  return false;
}

// The uses of a value that lie behind a check at the end of `block` use the converted one.
static void replaceUsesAfter(Value *value, Instruction *replacement, BasicBlock *block) {
  SmallVector<Use *, 4> later;
  for (Use &use : value->uses()) {
    auto *user = dyn_cast<Instruction>(use.getUser());
    if (!user || user == replacement)
      continue;
    auto *phi = dyn_cast<PHINode>(user);
    if (comesAfter(phi ? phi->getIncomingBlock(use) : user->getParent(), block, value))
      later.push_back(&use);
  }
  for (Use *use : later)
    use->set(replacement);
}

// Whether an operand may be computed: case values, struct indices and the arguments of
// builtins must stay constants.
static bool mayBeComputed(const Use &use) {
  const auto *user = cast<Instruction>(use.getUser());
  if (isa<SwitchInst>(user) || isa<GetElementPtrInst>(user))
    return use.getOperandNo() == 0;
  return !isa<PHINode>(user) && !isa<IntrinsicInst>(user) && !isa<AllocaInst>(user);
}

// A constant has users everywhere: the next instruction that uses it is the one that
// converts it. Should it not be, the value is still the same.
static void replaceNextUse(Constant *constant, Instruction *replacement, BasicBlock *rest) {
  for (Instruction &instruction : *rest)
    for (Use &use : instruction.operands())
      if (use.get() == constant && mayBeComputed(use))
        return use.set(replacement);
  for (BasicBlock *successor : successors(rest))
    for (PHINode &phi : successor->phis())
      if (phi.getIncomingValueForBlock(rest) == constant) {
        phi.setIncomingValueForBlock(rest, replacement);
        return;
      }
}

void Conversions::mark(Value *from, Value *to, const ImplicitConversion &conversion,
                       Instruction *before) {
  auto *cast = dyn_cast<CastInst>(to);
  if (cast && cast->getOperand(0) == from) {
    marks[cast] = conversion;
    return;
  }
  if (!from->getType()->isIntegerTy() || !to->getType()->isIntegerTy())
    return;
  Instruction *marker =
      conversionInstruction(from, to->getType(), conversion.from.isSigned, before);
  marks[marker] = conversion;
  if (auto *constant = dyn_cast<Constant>(to))
    replaceNextUse(constant, marker, before->getSuccessor(0));
  else
    replaceUsesAfter(to, marker, before->getParent());
}

// The value whose low bits were to be stored. Where the source has the bit-field's declared
// type already, clang gives the check the value read back for both, and this finds the
// original behind the mask.
static Value *sourceOfBits(Value *readBack, unsigned bits) {
  Value *value = readBack;
  auto stepOver = [&](unsigned opcode) {
    auto *instruction = dyn_cast<Instruction>(value);
    if (instruction && instruction->getOpcode() == opcode)
      value = instruction->getOperand(0);
  };
  if (isa<CastInst>(value))
    value = cast<CastInst>(value)->getOperand(0);
  stepOver(Instruction::AShr);
  stepOver(Instruction::Shl);
  stepOver(Instruction::And);
  auto *cast = dyn_cast<CastInst>(value);
  if (cast && !value->getType()->isIntegerTy(bits))
    value = cast->getOperand(0);
  return value->getType()->isIntegerTy(bits) ? value : readBack;
}

// For a bit-field, `to` is read back from the bits to be stored: a chain of a cast, shifts
// and a mask whose other end is `from`. The conversion goes between `from` and that chain,
// so that the store stores the converted value.
void Conversions::markBitField(Value *from, Value *to, const ImplicitConversion &conversion,
                               Instruction *before) {
  if (!from->getType()->isIntegerTy() || !to->getType()->isIntegerTy())
    return;
  if (from == to)
    from = sourceOfBits(to, conversion.from.bits);
  auto *last = dyn_cast<Instruction>(to);
  Instruction *first = from == to ? nullptr : last;
  for (unsigned steps = 0; first && first->getOperand(0) != from; ++steps)
    first = steps < 8 ? dyn_cast<Instruction>(first->getOperand(0)) : nullptr;
  if (!first || isa<Constant>(from)) {
    mark(from, to, conversion, before);
    return;
  }
  Instruction *marker =
      conversionInstruction(from, to->getType(), conversion.from.isSigned, first);
  marker->setDebugLoc(before->getDebugLoc());
  marks[marker] = conversion;
  IRBuilder<> builder(first);
  if (isa<CastInst>(first) && first != last)
    first->replaceAllUsesWith(builder.CreateIntCast(marker, first->getType(), false));
  else if (first != last)
    first->setOperand(0, builder.CreateIntCast(marker, first->getOperand(0)->getType(), false));
  last->replaceAllUsesWith(marker);
  RecursivelyDeleteTriviallyDeadInstructions(last);
  if (first != last && first->use_empty())
    RecursivelyDeleteTriviallyDeadInstructions(first);
}

// { { ptr file, i32 line, i32 column }, ptr from, ptr to, i8 kind, i32 bitFieldWidth }
ImplicitConversion Conversions::readRecord(Value *record) {
  ImplicitConversion conversion;
  auto *global = dyn_cast<GlobalVariable>(record->stripPointerCasts());
  if (!global || !global->hasInitializer())
    return conversion;
  Constant *fields = global->getInitializer();
  conversion.from = readType(fields->getAggregateElement(1u));
  conversion.to = readType(fields->getAggregateElement(2u));
  if (auto *width = dyn_cast_or_null<ConstantInt>(fields->getAggregateElement(4u)))
    conversion.bitFieldWidth = width->getZExtValue();
  return conversion;
}

// { i16 kind, i16 info, [n x i8] name }; an integer's info is log2(bits) * 2 + sign.
CheckedType Conversions::readType(Constant *descriptor) {
  CheckedType type;
  auto *global = descriptor ? dyn_cast<GlobalVariable>(descriptor->stripPointerCasts()) : nullptr;
  if (!global || !global->hasInitializer())
    return type;
  Constant *fields = global->getInitializer();
  if (auto *info = dyn_cast_or_null<ConstantInt>(fields->getAggregateElement(1u))) {
    type.isSigned = info->getZExtValue() & 1;
    type.bits = 1u << ((info->getZExtValue() >> 1) & 31);
  }
  if (auto *name = dyn_cast_or_null<ConstantDataArray>(fields->getAggregateElement(2u)))
    if (name->isCString())
      type.name = name->getAsCString();
  return type;
}

} // namespace ff
