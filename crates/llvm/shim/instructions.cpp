// One record for each instruction; src/stream/body.rs reads them.

#include "functions.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace ff {

enum Record : uint8_t {
  EndOfBlock,
  Declaration,
  Alloca,
  Load,
  Store,
  Address,
  Binary,
  Negate,
  Compare,
  Convert,
  Select,
  Phi,
  Call,
  MemCopy,
  MemSet,
  AtomicUpdate,
  CompareExchange,
  Fence,
  Extract,
  Insert,
  Asm,
  Opaque,
};

enum CalleeKind : uint8_t { DirectCallee, PointerCallee, IntrinsicCallee };
enum AccessFlag : unsigned { IsVolatile = 1, IsAtomic = 2 };
enum CallFlag : unsigned { CallNoReturn = 1, CallReturnsTwice = 2 };
enum StepKind : uint8_t { MemberStep, ConstantStep, VariableStep };

void BodyWriter::begin(uint8_t op, const DebugLoc &loc) {
  out.byte(op);
  out.number(loc ? loc.getLine() : 0);
  if (loc && loc.getLine())
    out.number(loc.getCol());
}

// The low two bits say what it is: a record of this body, a parameter, a constant, nothing.
void BodyWriter::operand(const Value *value) {
  if (auto *constant = dyn_cast<Constant>(value)) {
    out.number(uint64_t(parts.values.constant(constant)) << 2 | 2);
  } else if (auto *argument = dyn_cast<Argument>(value)) {
    out.number(uint64_t(argument->getArgNo()) << 2 | 1);
  } else {
    auto found = records.find(value);
    if (found == records.end())
      return out.number(3);
    int64_t distance = int64_t(current) - int64_t(found->second);
    uint64_t zigzag = (uint64_t(distance) << 1) ^ uint64_t(distance >> 63);
    out.number(zigzag << 2);
  }
}

void BodyWriter::declaration(const DbgVariableRecord &record) {
  begin(Declaration, record.getDebugLoc());
  out.number(variableIds.lookup(record.getVariable()));
  operand(record.getAddress());
  // The storage holds the variable's address, not the variable.
  out.flag(record.getExpression()->startsWithDeref());
  ++current;
}

void BodyWriter::instruction(const Instruction &instruction) {
  if (auto *storage = dyn_cast<AllocaInst>(&instruction))
    alloca_(*storage);
  else if (auto *read = dyn_cast<LoadInst>(&instruction))
    load(*read);
  else if (auto *write = dyn_cast<StoreInst>(&instruction))
    store(*write);
  else if (auto *step = dyn_cast<GetElementPtrInst>(&instruction))
    address(*step);
  else if (auto *arithmetic = dyn_cast<BinaryOperator>(&instruction))
    binary(*arithmetic);
  else if (auto *comparison = dyn_cast<CmpInst>(&instruction))
    compare(*comparison);
  else if (isa<CastInst, FreezeInst>(instruction))
    conversion(instruction);
  else if (auto *join = dyn_cast<PHINode>(&instruction))
    phi(*join);
  else if (auto *callee = dyn_cast<CallBase>(&instruction))
    call(*callee);
  else if (isa<AtomicRMWInst, AtomicCmpXchgInst, FenceInst>(instruction))
    atomic(instruction);
  else if (isa<ExtractValueInst, InsertValueInst>(instruction))
    element(instruction);
  else if (instruction.getOpcode() == Instruction::FNeg && !instruction.getType()->isVectorTy()) {
    begin(Negate, instruction.getDebugLoc());
    type(instruction.getType());
    operand(instruction.getOperand(0));
  } else if (auto *select = dyn_cast<SelectInst>(&instruction);
             select && !select->getType()->isVectorTy()) {
    begin(Select, instruction.getDebugLoc());
    type(instruction.getType());
    for (const Value *value : instruction.operand_values())
      operand(value);
  } else
    opaque(instruction);
  ++current;
}

void BodyWriter::alloca_(const AllocaInst &instruction) {
  Type *allocated = instruction.getAllocatedType();
  begin(Alloca, instruction.getDebugLoc());
  auto found = declared.find(&instruction);
  out.number(found == declared.end() ? 0 : found->second + 1);
  type(allocated);
  out.number(parts.values.layout().getTypeAllocSize(allocated).getKnownMinValue());
  parts.values.writeShape(allocated, out);
  out.flag(instruction.isArrayAllocation());
  if (instruction.isArrayAllocation())
    operand(instruction.getArraySize());
}

// Bytes a value takes in memory; padding of extended floating point is part of it.
static uint64_t accessSize(Type *type, const DataLayout &layout) {
  TypeSize size = type->isX86_FP80Ty() ? layout.getTypeAllocSize(type) : layout.getTypeStoreSize(type);
  return size.getKnownMinValue();
}

void BodyWriter::load(const LoadInst &instruction) {
  begin(Load, instruction.getDebugLoc());
  type(instruction.getType());
  operand(instruction.getPointerOperand());
  out.number(accessSize(instruction.getType(), parts.values.layout()));
  out.number(instruction.isVolatile() * IsVolatile | instruction.isAtomic() * IsAtomic);
}

void BodyWriter::store(const StoreInst &instruction) {
  Type *stored = instruction.getValueOperand()->getType();
  begin(Store, instruction.getDebugLoc());
  type(stored);
  operand(instruction.getPointerOperand());
  operand(instruction.getValueOperand());
  out.number(accessSize(stored, parts.values.layout()));
  out.number(instruction.isVolatile() * IsVolatile | instruction.isAtomic() * IsAtomic);
}

void BodyWriter::address(const GetElementPtrInst &instruction) {
  if (instruction.getType()->isVectorTy())
    return opaque(instruction);
  const DataLayout &layout = parts.values.layout();
  begin(Address, instruction.getDebugLoc());
  operand(instruction.getPointerOperand());
  out.flag(instruction.isInBounds());
  parts.values.writeShape(instruction.getSourceElementType(), out);
  out.number(instruction.getNumIndices());
  for (auto step = gep_type_begin(instruction), end = gep_type_end(instruction); step != end;
       ++step) {
    const Value *index = step.getOperand();
    auto *constant = dyn_cast<ConstantInt>(index);
    if (StructType *structure = step.getStructTypeOrNull()) {
      out.byte(MemberStep);
      out.number(layout.getStructLayout(structure)->getElementOffset(
          constant ? constant->getZExtValue() : 0));
      continue;
    }
    out.byte(constant ? ConstantStep : VariableStep);
    out.number(step.getSequentialElementStride(layout).getKnownMinValue());
    if (constant)
      out.signedNumber(constant->getSExtValue());
    else
      operand(index);
  }
}

void BodyWriter::binary(const BinaryOperator &instruction) {
  if (instruction.getType()->isVectorTy())
    return opaque(instruction);
  auto *wrapping = dyn_cast<OverflowingBinaryOperator>(&instruction);
  begin(Binary, instruction.getDebugLoc());
  out.number(instruction.getOpcode() - Instruction::BinaryOpsBegin);
  out.number(wrapping ? wrapping->hasNoSignedWrap() | wrapping->hasNoUnsignedWrap() << 1 : 0);
  type(instruction.getType());
  operand(instruction.getOperand(0));
  operand(instruction.getOperand(1));
}

void BodyWriter::compare(const CmpInst &instruction) {
  if (instruction.getType()->isVectorTy())
    return opaque(instruction);
  begin(Compare, instruction.getDebugLoc());
  out.number(instruction.getPredicate());
  operand(instruction.getOperand(0));
  operand(instruction.getOperand(1));
}

void BodyWriter::conversion(const Instruction &instruction) {
  if (instruction.getType()->isVectorTy())
    return opaque(instruction);
  auto *cast = dyn_cast<CastInst>(&instruction);
  const ImplicitConversion *implicit = parts.conversions.find(&instruction);
  begin(Convert, instruction.getDebugLoc());
  // 0 keeps the bits: a change of sign.
  out.number(cast ? cast->getOpcode() - Instruction::CastOpsBegin + 1 : 0);
  type(instruction.getType());
  operand(instruction.getOperand(0));
  out.flag(implicit);
  if (!implicit)
    return;
  for (const CheckedType *checked : {&implicit->from, &implicit->to}) {
    out.text(checked->name);
    out.number(checked->bits);
    out.flag(checked->isSigned);
  }
  out.number(implicit->bitFieldWidth);
}

void BodyWriter::phi(const PHINode &instruction) {
  begin(Phi, instruction.getDebugLoc());
  type(instruction.getType());
  out.number(instruction.getNumIncomingValues());
  for (unsigned index = 0; index < instruction.getNumIncomingValues(); ++index) {
    block(instruction.getIncomingBlock(index));
    operand(instruction.getIncomingValue(index));
  }
}

void BodyWriter::call(const CallBase &call) {
  if (auto *assembler = dyn_cast<InlineAsm>(call.getCalledOperand())) {
    begin(Asm, call.getDebugLoc());
    type(call.getType());
    out.text(assembler->getAsmString());
    callArguments(call);
    out.flag(assembler->hasSideEffects() || call.mayWriteToMemory());
    return;
  }
  auto *builtin = dyn_cast<IntrinsicInst>(&call);
  if (builtin && intrinsic(*builtin))
    return;
  begin(Call, call.getDebugLoc());
  type(call.getType());
  auto *target = dyn_cast<GlobalValue>(call.getCalledOperand());
  const uint32_t *number = target && !isa<GlobalVariable>(target)
                               ? parts.values.function(target)
                               : nullptr;
  if (builtin) {
    out.byte(IntrinsicCallee);
    StringRef name = builtin->getCalledFunction()->getName();
    name.consume_front("llvm.");
    out.text(name);
  } else if (number) {
    out.byte(DirectCallee);
    out.number(*number);
  } else {
    out.byte(PointerCallee);
    operand(call.getCalledOperand());
  }
  callArguments(call);
  out.number(call.doesNotReturn() * CallNoReturn |
             call.hasFnAttr(Attribute::ReturnsTwice) * CallReturnsTwice);
  copiedArguments(call);
}

// Structs that are passed in memory: what stands at the call is a pointer to the original.
void BodyWriter::copiedArguments(const CallBase &call) {
  SmallVector<unsigned, 4> copied;
  for (unsigned index = 0; index < call.arg_size(); ++index)
    if (call.isByValArgument(index))
      copied.push_back(index);
  out.number(copied.size());
  for (unsigned index : copied) {
    out.number(index);
    out.number(parts.values.layout().getTypeAllocSize(call.getParamByValType(index)));
  }
}

void BodyWriter::callArguments(const CallBase &call) {
  SmallVector<const Value *, 8> arguments;
  for (const Use &argument : call.args())
    if (!argument->getType()->isMetadataTy())
      arguments.push_back(argument.get());
  out.number(arguments.size());
  for (const Value *argument : arguments)
    operand(argument);
}

// The copies and fills a struct assignment or initialiser makes.
bool BodyWriter::intrinsic(const IntrinsicInst &call) {
  auto *memory = dyn_cast<MemIntrinsic>(&call);
  if (!memory)
    return false;
  auto *copy = dyn_cast<MemTransferInst>(memory);
  begin(copy ? MemCopy : MemSet, call.getDebugLoc());
  operand(memory->getRawDest());
  operand(copy ? copy->getRawSource() : cast<MemSetInst>(memory)->getValue());
  operand(memory->getLength());
  out.flag(memory->isVolatile());
  return true;
}

void BodyWriter::atomic(const Instruction &instruction) {
  const DataLayout &layout = parts.values.layout();
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    begin(AtomicUpdate, instruction.getDebugLoc());
    type(update->getType());
    operand(update->getPointerOperand());
    operand(update->getValOperand());
    out.number(layout.getTypeStoreSize(update->getType()));
    out.number(update->isVolatile() * IsVolatile | IsAtomic);
    out.text(AtomicRMWInst::getOperationName(update->getOperation()));
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    begin(CompareExchange, instruction.getDebugLoc());
    type(exchange->getType());
    operand(exchange->getPointerOperand());
    operand(exchange->getCompareOperand());
    operand(exchange->getNewValOperand());
    out.number(layout.getTypeStoreSize(exchange->getNewValOperand()->getType()));
    out.number(exchange->isVolatile() * IsVolatile | IsAtomic);
  } else {
    begin(Fence, instruction.getDebugLoc());
  }
}

void BodyWriter::element(const Instruction &instruction) {
  auto *insertion = dyn_cast<InsertValueInst>(&instruction);
  auto *extraction = dyn_cast<ExtractValueInst>(&instruction);
  begin(insertion ? Insert : Extract, instruction.getDebugLoc());
  type(instruction.getType());
  operand(instruction.getOperand(0));
  if (insertion)
    operand(insertion->getInsertedValueOperand());
  ArrayRef<unsigned> indices = insertion ? insertion->getIndices() : extraction->getIndices();
  out.number(indices.size());
  for (unsigned index : indices)
    out.number(index);
}

void BodyWriter::opaque(const Instruction &instruction) {
  begin(Opaque, instruction.getDebugLoc());
  type(instruction.getType());
  out.text(instruction.getOpcodeName());
  SmallVector<const Value *, 4> values;
  for (const Value *value : instruction.operand_values())
    if (isa<Constant, Argument, Instruction>(value))
      values.push_back(value);
  out.number(values.size());
  for (const Value *value : values)
    operand(value);
}

enum TerminatorKind : uint8_t { Jump, Branch, Switch, Indirect, Return, Unreachable };

void BodyWriter::terminator(const Instruction &instruction) {
  begin(EndOfBlock, instruction.getDebugLoc());
  if (auto *branch = dyn_cast<BranchInst>(&instruction)) {
    out.byte(branch->isConditional() ? Branch : Jump);
    if (branch->isConditional())
      operand(branch->getCondition());
    // Not `successors()`, which has the false edge first.
    for (unsigned index = 0; index < branch->getNumSuccessors(); ++index)
      block(branch->getSuccessor(index));
  } else if (auto *selection = dyn_cast<SwitchInst>(&instruction)) {
    out.byte(Switch);
    operand(selection->getCondition());
    block(selection->getDefaultDest());
    out.number(selection->getNumCases());
    for (const auto &option : selection->cases()) {
      operand(option.getCaseValue());
      block(option.getCaseSuccessor());
    }
  } else if (isa<IndirectBrInst, CallBrInst>(instruction)) {
    // For assembler that jumps, where it jumps is its own affair.
    bool isAssembler = isa<CallBrInst>(instruction);
    out.byte(Indirect);
    operand(isAssembler ? UndefValue::get(PointerType::get(instruction.getContext(), 0))
                        : instruction.getOperand(0));
    out.number(instruction.getNumSuccessors());
    for (unsigned index = 0; index < instruction.getNumSuccessors(); ++index)
      block(instruction.getSuccessor(index));
  } else if (auto *result = dyn_cast<ReturnInst>(&instruction)) {
    out.byte(Return);
    out.flag(result->getReturnValue());
    if (result->getReturnValue())
      operand(result->getReturnValue());
  } else {
    out.byte(Unreachable);
  }
}

} // namespace ff
