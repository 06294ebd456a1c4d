#include "values.h"
#include "conversions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ff {

// Kinds of machine types; src/stream/mod.rs reads them.
enum MachineKind : uint8_t { VoidKind, IntKind, FloatKind, PtrKind, AggregateKind, VectorKind };

// Kinds of constant records; src/stream/constants.rs reads them.
enum ConstantKind : uint8_t {
  IntConstant,
  WideIntConstant,
  FloatConstant,
  NullConstant,
  GlobalConstant,
  FunctionConstant,
  LabelConstant,
  ZeroConstant,
  UndefConstant,
  AggregateConstant,
  BytesConstant,
  OpaqueConstant,
};

Values::Values(Module &module, Types &types)
    : module(module), types(types), dataLayout(module.getDataLayout()) {
  for (Function &function : module)
    if (!function.isIntrinsic() && !function.getName().starts_with("__ubsan_handle_")) {
      numbers[&function] = functions.size();
      functions.push_back(&function);
    }
  auto addFunctionName = [&](const GlobalValue &name) {
    numbers[&name] = functions.size() + aliases.size();
    aliases.push_back(&name);
  };
  for (const GlobalVariable &global : module.globals())
    if (!global.getName().starts_with("llvm.") && !isCheckData(global)) {
      numbers[&global] = globals.size();
      globals.push_back(&global);
    }
  for (const GlobalAlias &alias : module.aliases())
    if (isa<FunctionType>(alias.getValueType()))
      addFunctionName(alias);
    else
      dataAliases.push_back(&alias);
  for (const GlobalIFunc &ifunc : module.ifuncs())
    addFunctionName(ifunc);
}

uint64_t Values::machineType(Type *type) const {
  auto sized = [](uint64_t kind, uint64_t size) { return kind | size << 3; };
  if (auto *integer = dyn_cast<IntegerType>(type))
    return sized(IntKind, integer->getBitWidth());
  if (type->isPointerTy())
    return PtrKind;
  if (type->isFloatingPointTy())
    return sized(FloatKind, type->getPrimitiveSizeInBits());
  if (type->isVectorTy())
    return sized(VectorKind, dataLayout.getTypeAllocSize(type).getKnownMinValue());
  if (type->isAggregateType())
    return sized(AggregateKind, type->isSized() ? dataLayout.getTypeAllocSize(type) : 0);
  return VoidKind;
}

// 0 scalar: bytes; 1 struct: name and bytes; 2 array: count and the element's shape.
void Values::writeShape(Type *type, Stream &out) {
  if (auto *structure = dyn_cast<StructType>(type)) {
    out.byte(1);
    out.number(structName(structure));
    out.number(type->isSized() ? uint64_t(dataLayout.getTypeAllocSize(type)) : 0);
  } else if (auto *array = dyn_cast<ArrayType>(type)) {
    out.byte(2);
    out.number(array->getNumElements());
    writeShape(array->getElementType(), out);
  } else {
    out.byte(0);
    out.number(type->isSized() ? dataLayout.getTypeAllocSize(type).getKnownMinValue() : 0);
  }
}

uint32_t Values::structName(StructType *type) {
  auto [position, isNew] = structIds.try_emplace(type, structs.size());
  if (isNew)
    structs.push_back(type);
  return position->second;
}

// Names and, to tell structs without a name apart, what lies where in them.
void Values::writeStructs(Stream &out) const {
  out.number(structs.size());
  for (StructType *type : structs) {
    out.text(type->hasName() ? type->getName() : StringRef());
    const StructLayout *layout = type->isSized() ? dataLayout.getStructLayout(type) : nullptr;
    out.number(layout ? uint64_t(layout->getSizeInBytes()) : 0);
    out.number(layout ? type->getNumElements() : 0);
    for (unsigned index = 0; layout && index < type->getNumElements(); ++index) {
      Type *element = type->getElementType(index);
      out.number(layout->getElementOffset(index));
      out.number(dataLayout.getTypeAllocSize(element).getKnownMinValue());
      out.number(machineType(element));
    }
  }
}

const uint32_t *Values::function(const GlobalValue *function) const {
  auto found = numbers.find(function);
  return found == numbers.end() ? nullptr : &found->second;
}

// The global that a constant address is in, with its byte offset there.
const GlobalValue *Values::addressOf(const Constant *constant, int64_t &offset) const {
  if (!constant->getType()->isPointerTy())
    return nullptr;
  APInt bytes(dataLayout.getIndexTypeSizeInBits(constant->getType()), 0);
  const Value *base = constant->stripAndAccumulateConstantOffsets(dataLayout, bytes, true);
  // An alias of data stands for what it names; one of a function is a function itself.
  while (auto *alias = dyn_cast<GlobalAlias>(base)) {
    if (numbers.count(alias))
      break;
    base = alias->getAliasee()->stripAndAccumulateConstantOffsets(dataLayout, bytes, true);
  }
  offset = bytes.getSExtValue();
  auto *global = dyn_cast<GlobalValue>(base);
  return global && numbers.count(global) ? global : nullptr;
}

bool Values::isPlain(const Constant *constant) const {
  int64_t offset;
  if (!isa<ConstantExpr>(constant))
    return true;
  const GlobalValue *base = addressOf(constant, offset);
  return base && (isa<GlobalVariable>(base) || offset == 0);
}

uint32_t Values::constant(const Constant *constant) {
  auto found = constantIds.find(constant);
  if (found != constantIds.end())
    return found->second;
  Stream record; // Elements get their ids first.
  writeConstant(constant, record);
  constants.append(record);
  return constantIds[constant] = constantCount++;
}

void Values::writeConstants(Stream &out) const {
  out.number(constantCount);
  out.append(constants);
}

void Values::writeConstant(const Constant *constant, Stream &out) {
  int64_t offset;
  Type *type = constant->getType();
  if (auto *integer = dyn_cast<ConstantInt>(constant); integer && type->isIntegerTy()) {
    const APInt &value = integer->getValue();
    if (value.getBitWidth() > 128)
      return writeOpaque(constant, out);
    bool isWide = value.getBitWidth() > 64;
    out.byte(isWide ? WideIntConstant : IntConstant);
    out.number(value.getBitWidth());
    out.signedNumber(isWide ? value.extractBitsAsZExtValue(64, 0) : value.getSExtValue());
    if (isWide)
      out.signedNumber(value.ashr(64).trunc(64).getSExtValue());
  } else if (auto *number = dyn_cast<ConstantFP>(constant); number && type->isFloatingPointTy()) {
    APFloat value = number->getValueAPF();
    bool losesInfo = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    out.byte(FloatConstant);
    out.number(type->getPrimitiveSizeInBits());
    out.number(value.bitcastToAPInt().getZExtValue());
    out.flag(!losesInfo);
  } else if (isa<ConstantPointerNull>(constant)) {
    out.byte(NullConstant);
  } else if (isa<UndefValue>(constant)) {
    out.byte(UndefConstant);
    out.number(machineType(type));
  } else if (const GlobalValue *base = addressOf(constant, offset)) {
    writeAddress(base, offset, out);
  } else if (auto *label = dyn_cast<BlockAddress>(constant)) {
    out.byte(LabelConstant);
    out.number(numbers.lookup(label->getFunction()));
    out.number(blockNumbers(label->getFunction()).lookup(label->getBasicBlock()));
  } else if (constant->isNullValue()) {
    out.byte(ZeroConstant);
    out.number(machineType(type));
  } else if (auto *data = dyn_cast<ConstantDataSequential>(constant); data && data->isString()) {
    out.byte(BytesConstant);
    out.text(data->getRawDataValues());
  } else if (isa<ConstantAggregate, ConstantDataSequential>(constant)) {
    SmallVector<uint32_t, 8> elements;
    for (unsigned index = 0; Constant *element = constant->getAggregateElement(index); ++index)
      elements.push_back(this->constant(element));
    out.byte(AggregateConstant);
    out.number(machineType(type));
    out.number(elements.size());
    for (uint32_t element : elements)
      out.number(element);
  } else {
    writeOpaque(constant, out);
  }
}

void Values::writeAddress(const GlobalValue *base, int64_t offset, Stream &out) {
  if (isa<GlobalVariable>(base)) {
    out.byte(GlobalConstant);
    out.number(numbers.lookup(base));
    out.signedNumber(offset);
  } else {
    // An address inside a function's code has no use but the function's.
    out.byte(FunctionConstant);
    out.number(numbers.lookup(base));
  }
}

void Values::writeOpaque(const Constant *constant, Stream &out) {
  std::string text;
  raw_string_ostream printer(text);
  constant->printAsOperand(printer, false, &module);
  out.byte(OpaqueConstant);
  out.number(machineType(constant->getType()));
  out.text(printer.str());
}

const BlockNumbers &Values::blockNumbers(const Function *function) {
  BlockNumbers &numbers = blocks[function];
  if (numbers.empty())
    for (const BasicBlock &block : *function)
      numbers.try_emplace(&block, numbers.size());
  return numbers;
}

} // namespace ff
