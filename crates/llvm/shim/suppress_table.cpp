// Describes sites, frames and globals to the outside, with names from debug information.

#include "suppress.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace suppress {

bool holdsArray(Type *type) {
  if (type->isArrayTy())
    return true;
  if (auto *record = dyn_cast<StructType>(type))
    for (Type *element : record->elements())
      if (holdsArray(element))
        return true;
  return false;
}

bool isAddressRelated(Type *type) {
  return type->isPointerTy() || (type->isIntegerTy() && type->getIntegerBitWidth() >= 16);
}

static std::string variableName(const AllocaInst *slot) {
  for (DbgVariableRecord *record : findDVRDeclares(const_cast<AllocaInst *>(slot)))
    return record->getVariable()->getName().str();
  for (DbgDeclareInst *declare : findDbgDeclares(const_cast<AllocaInst *>(slot)))
    return declare->getVariable()->getName().str();
  return {};
}

std::string nameOf(const Value *address) {
  if (auto *slot = dyn_cast<AllocaInst>(address))
    return variableName(slot);
  if (auto *global = dyn_cast<GlobalVariable>(address)) {
    SmallVector<DIGlobalVariableExpression *, 1> expressions;
    global->getDebugInfo(expressions);
    return expressions.empty() ? std::string() : expressions.front()->getVariable()->getName().str();
  }
  return {};
}

// As in the source, as far as that can be told: `p`, `p[...]`, `p->...`, `f(...)`.
std::string describe(const Value *value) {
  if (auto *load = dyn_cast<LoadInst>(value))
    return describe(load->getPointerOperand());
  if (auto *cast = dyn_cast<CastInst>(value))
    return describe(cast->getOperand(0));
  if (auto *call = dyn_cast<CallBase>(value)) {
    const Function *callee = call->getCalledFunction();
    return callee ? callee->getName().str() + "(...)" : std::string();
  }
  if (auto *gep = dyn_cast<GEPOperator>(value)) {
    std::string base = describe(gep->getPointerOperand());
    if (base.empty())
      return base;
    bool isField = gep->getNumIndices() > 1 && gep->getSourceElementType()->isStructTy();
    if (isField)
      return isa<LoadInst>(gep->getPointerOperand()) ? base + "->..." : base;
    return StringRef(base).ends_with("[...]") ? base : base + "[...]";
  }
  return nameOf(value);
}

std::string fieldOf(const Value *address) {
  auto *gep = dyn_cast<GEPOperator>(address);
  if (!gep || gep->getNumIndices() < 2)
    return {};
  auto *record = dyn_cast<StructType>(gep->getSourceElementType());
  auto *field = dyn_cast<ConstantInt>(gep->getOperand(2));
  if (!record || !field || !record->hasName() || gep->getNumIndices() != 2)
    return {};
  return (record->getName() + "." + Twine(field->getZExtValue())).str();
}

void Table::u32(std::string &to, uint32_t v) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    to.push_back(static_cast<char>(v >> shift));
}

uint32_t Table::string(StringRef text) {
  auto [found, isNew] = interned.try_emplace(text, strings.size());
  if (isNew)
    strings.push_back(text.str());
  return found->second;
}

void Table::location(std::string &to, const DILocation *loc) {
  u32(to, string(loc ? loc->getFilename() : ""));
  u32(to, loc ? loc->getLine() : 0);
  u32(to, loc ? loc->getColumn() : 0);
}

// Debug positions without a line belong to nobody; the nearest one before does.
static const DILocation *positionOf(const Instruction &at) {
  for (const Instruction *inst = &at; inst; inst = inst->getPrevNode())
    if (inst->getDebugLoc() && inst->getDebugLoc().getLine() != 0)
      return inst->getDebugLoc();
  return at.getDebugLoc();
}

uint32_t Table::site(Kind kind, const Instruction &at, StringRef name) {
  u8(siteBytes, static_cast<uint8_t>(kind));
  location(siteBytes, positionOf(at));
  u32(siteBytes, string(at.getFunction()->getName()));
  u32(siteBytes, string(name));
  return sites++;
}

uint32_t Table::frame(const Function &function, const std::vector<Variable> &variables) {
  u32(frameBytes, string(function.getName()));
  u32(frameBytes, variables.size());
  for (const Variable &variable : variables) {
    u32(frameBytes, string(variable.name));
    u32(frameBytes, static_cast<uint32_t>(variable.size));
    u32(frameBytes, static_cast<uint32_t>(variable.align));
    u8(frameBytes, (variable.isBuffer ? 1 : 0) | (variable.isAddress ? 2 : 0));
  }
  return frames++;
}

void Table::global(const GlobalVariable &global, bool isBuffer, bool isAddress) {
  u32(globalBytes, string(global.getName()));
  u8(globalBytes, (isBuffer ? 1 : 0) | (isAddress ? 2 : 0));
  u8(globalBytes, global.hasLocalLinkage());
  ++globals;
}

std::string Table::finish() const {
  std::string out;
  auto word = [&](uint32_t v) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      out.push_back(static_cast<char>(v >> shift));
  };
  word(strings.size());
  for (const std::string &text : strings) {
    word(text.size());
    out += text;
  }
  word(sites);
  out += siteBytes;
  word(frames);
  out += frameBytes;
  word(globals);
  out += globalBytes;
  return out;
}

} // namespace suppress
