// Global objects and their initialisers.

#include "values.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace ff {

// Bits of a global's flags; src/stream/globals.rs reads them.
enum GlobalFlag : unsigned {
  IsConstant = 1,
  IsThreadLocal = 2,
  IsStringLiteral = 4,
  HasInitializer = 8,
};

uint8_t linkageByte(const GlobalValue &value) {
  if (value.hasLocalLinkage())
    return 1;
  if (value.hasAvailableExternallyLinkage())
    return 3;
  if (value.hasCommonLinkage())
    return 4;
  return value.isWeakForLinker() ? 2 : 0;
}

void Values::writeGlobals(Stream &out) {
  out.number(globals.size());
  for (const GlobalVariable *global : globals)
    writeGlobal(*global, out);
  out.number(dataAliases.size());
  for (const GlobalAlias *alias : dataAliases) {
    int64_t offset = 0;
    const GlobalValue *target = addressOf(alias, offset);
    out.text(alias->getName());
    out.byte(linkageByte(*alias));
    out.flag(target != nullptr);
    out.number(target ? numbers.lookup(target) : 0);
  }
}

// The name of the function a static local belongs to.
static StringRef functionOf(const DIGlobalVariable *variable) {
  const DIScope *scope = variable ? variable->getScope() : nullptr;
  while (auto *block = dyn_cast_or_null<DILexicalBlockBase>(scope))
    scope = block->getScope();
  auto *subprogram = dyn_cast_or_null<DISubprogram>(scope);
  return subprogram ? subprogram->getName() : StringRef();
}

void Values::writeGlobal(const GlobalVariable &global, Stream &out) {
  SmallVector<DIGlobalVariableExpression *, 1> debug;
  global.getDebugInfo(debug);
  const DIGlobalVariable *variable = debug.empty() ? nullptr : debug[0]->getVariable();
  // A literal's debug variable has no name.
  bool isLiteral = global.hasPrivateLinkage() && global.hasGlobalUnnamedAddr() &&
                   global.getName().starts_with(".str");
  StringRef name = isLiteral ? StringRef() : global.getName();
  if (variable && global.hasLocalLinkage() && !variable->getName().empty())
    name = variable->getName();
  Type *type = global.getValueType();
  bool hasInitializer = global.hasInitializer();

  out.text(name);
  out.byte(linkageByte(global));
  out.text(functionOf(variable));
  out.number(types.id(variable ? variable->getType() : nullptr));
  out.number(type->isSized() ? uint64_t(dataLayout.getTypeAllocSize(type)) : 0);
  out.number(global.isConstant() * IsConstant | global.isThreadLocal() * IsThreadLocal |
             isLiteral * IsStringLiteral | hasInitializer * HasInitializer);
  out.number(variable ? variable->getLine() : 0);
  writeShape(type, out);
  if (!hasInitializer)
    return;
  Stream pieces;
  uint64_t count = 0;
  writeInitializer(global.getInitializer(), 0, pieces, count);
  out.number(count);
  out.append(pieces);
}

// The scalars of an initialiser with their byte offsets; zeros and padding are left out.
void Values::writeInitializer(const Constant *constant, uint64_t offset, Stream &out,
                              uint64_t &pieces) {
  if (constant->isNullValue() || isa<UndefValue>(constant))
    return;
  auto *data = dyn_cast<ConstantDataSequential>(constant);
  bool isBytes = data && data->isString();
  if (auto *structure = dyn_cast<ConstantStruct>(constant)) {
    const StructLayout *positions = dataLayout.getStructLayout(structure->getType());
    for (unsigned index = 0; index < structure->getNumOperands(); ++index)
      writeInitializer(structure->getOperand(index), offset + positions->getElementOffset(index),
                       out, pieces);
    return;
  }
  if (constant->getType()->isArrayTy() && !isBytes) {
    uint64_t size = dataLayout.getTypeAllocSize(constant->getType()->getArrayElementType());
    for (unsigned index = 0; Constant *element = constant->getAggregateElement(index); ++index)
      writeInitializer(element, offset + index * size, out, pieces);
    return;
  }
  // A pointer made of a number is that number.
  auto *expression = dyn_cast<ConstantExpr>(constant);
  if (expression && expression->getOpcode() == Instruction::IntToPtr &&
      isa<ConstantInt>(expression->getOperand(0)))
    constant = expression->getOperand(0);
  out.number(offset);
  out.number(this->constant(constant));
  ++pieces;
}

} // namespace ff
