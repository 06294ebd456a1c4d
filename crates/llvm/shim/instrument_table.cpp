// Describes sites to the outside: positions, names and C types from debug information.

#include "instrument.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace instrument {

// Kept in step with `ValueType` in crates/llvm/src/instrument.rs.
enum Flag : uint8_t { Unsigned = 1, Float = 2, Character = 4, Boolean = 8, NotReplaced = 16 };

static const DIType *strip(const DIType *type) {
  while (auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    if (derived->getTag() == dwarf::DW_TAG_pointer_type)
      return derived;
    type = derived->getBaseType();
  }
  return type;
}

// The declared variable behind an address, as far as it is a plain one.
static const DIVariable *variableOf(const Value *address) {
  if (auto *alloca = dyn_cast<AllocaInst>(address)) {
    for (DbgVariableRecord *record : findDVRDeclares(const_cast<AllocaInst *>(alloca)))
      return record->getVariable();
    for (DbgDeclareInst *declare : findDbgDeclares(const_cast<AllocaInst *>(alloca)))
      return declare->getVariable();
  } else if (auto *global = dyn_cast<GlobalVariable>(address)) {
    SmallVector<DIGlobalVariableExpression *, 1> expressions;
    global->getDebugInfo(expressions);
    if (!expressions.empty())
      return expressions.front()->getVariable();
  }
  return nullptr;
}

static uint8_t flagsOf(const Value *value, const DIType *type) {
  uint8_t flags = 0;
  if (value->getType()->isFloatingPointTy())
    return Float;
  if (auto *basic = dyn_cast_or_null<DIBasicType>(strip(type))) {
    unsigned encoding = basic->getEncoding();
    if (encoding == dwarf::DW_ATE_unsigned || encoding == dwarf::DW_ATE_unsigned_char)
      flags |= Unsigned;
    if (encoding == dwarf::DW_ATE_signed_char || encoding == dwarf::DW_ATE_unsigned_char)
      flags |= Character;
    if (encoding == dwarf::DW_ATE_boolean)
      flags |= Boolean | Unsigned;
  }
  if (value->getType()->isIntegerTy(1))
    flags |= Boolean | Unsigned;
  else if (value->getType()->isIntegerTy(8) && !type)
    flags |= Character;
  else if (isa<ZExtInst>(value))
    flags |= Unsigned;
  return flags;
}

// What is stored to, so that stores to the same thing have the same name: a variable, an
// element of one, a member of a structure, what a pointer variable points at.
static std::string targetOf(const Value *address) {
  // The first element of an array has the address of the array.
  if (auto *local = dyn_cast<AllocaInst>(address))
    return local->getFunction()->getName().str() + ":" + local->getName().str() +
           (local->getAllocatedType()->isArrayTy() ? "[]" : "");
  if (auto *global = dyn_cast<GlobalVariable>(address))
    return global->getName().str() + (global->getValueType()->isArrayTy() ? "[]" : "");
  if (auto *load = dyn_cast<LoadInst>(address)) {
    std::string from = targetOf(load->getPointerOperand());
    return from.empty() ? from : "*" + from;
  }
  auto *element = dyn_cast<GEPOperator>(address);
  if (!element)
    return "";
  if (auto *structure = dyn_cast<StructType>(element->getSourceElementType());
      structure && structure->hasName() && element->hasAllConstantIndices()) {
    std::string name = structure->getName().str();
    for (const Use &index : drop_begin(element->indices()))
      name += "." + std::to_string(cast<ConstantInt>(index)->getZExtValue());
    return name;
  }
  std::string base = targetOf(element->getPointerOperand());
  return base.empty() || StringRef(base).ends_with("[]") ? base : base + "[]";
}

// Sites of a group hold values for the same purpose: what one was seen to hold, another
// one whose value is a constant might have to.
std::string Table::group(const Site &site) const {
  auto *function = site.user->getFunction();
  if (site.kind == Kind::Return)
    return "return " + function->getName().str();
  if (auto *store = dyn_cast<StoreInst>(site.user))
    return targetOf(store->getPointerOperand());
  if (auto *call = dyn_cast<CallBase>(site.user); call && call->getCalledFunction())
    return call->getCalledFunction()->getName().str() + "#" + std::to_string(site.operand);
  return "";
}

// Whether the statement makes a new value here, instead of passing one on: casts and tests
// against zero only read what somebody else computed.
static bool computes(const Site &site) {
  for (const Instruction *inst : site.tree) {
    if (auto *compare = dyn_cast<CmpInst>(inst)) {
      auto *constant = dyn_cast<Constant>(compare->getOperand(1));
      if (!compare->isEquality() || !constant || !constant->isZeroValue())
        return true;
    } else if (!isa<CastInst>(inst)) {
      return true;
    }
  }
  return isa<Constant>(site.user->getOperand(site.operand));
}

void Table::u32(std::string &to, uint32_t v) {
  for (unsigned i = 0; i < 4; ++i)
    to.push_back(static_cast<char>(v >> (8 * i)));
}

uint32_t Table::string(StringRef text) {
  auto [entry, isNew] = interned.try_emplace(text, strings.size());
  if (isNew)
    strings.push_back(text.str());
  return entry->second;
}

// Clang splits a path at the folder it shares with the compiler's working directory. The
// name alone is enough only where that folder is the one we are in.
static std::string pathOf(const DILocation *loc) {
  StringRef name = loc->getFilename(), folder = loc->getDirectory();
  SmallString<256> here;
  if (folder.empty() || sys::path::is_absolute(name) ||
      (!sys::fs::current_path(here) && folder == here))
    return name.str();
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

void Table::location(std::string &to, const DILocation *loc) {
  if (!loc) {
    u32(to, string("")), u32(to, 0), u32(to, 0);
    return;
  }
  u32(to, string(pathOf(loc))), u32(to, loc->getLine()), u32(to, loc->getColumn());
}

void Table::value(std::string &to, const Value *v, const DILocation *fallback) {
  const DIVariable *variable = nullptr;
  if (auto *load = dyn_cast<LoadInst>(v))
    variable = variableOf(load->getPointerOperand());
  std::string name;
  if (variable)
    name = variable->getName();
  else if (auto *call = dyn_cast<CallBase>(v); call && call->getCalledFunction())
    name = (call->getCalledFunction()->getName() + "()").str();
  bool replaceable = isReplaceable(v->getType()) && !isa<PtrToIntInst>(v);
  u8(to, v->getType()->getPrimitiveSizeInBits());
  u8(to, flagsOf(v, variable ? variable->getType() : nullptr) | (replaceable ? 0 : NotReplaced));
  auto *inst = dyn_cast<Instruction>(v);
  location(to, inst && inst->getDebugLoc() ? inst->getDebugLoc().get() : fallback);
  u32(to, string(name));
}

void Table::site(const Site &site) {
  const DILocation *loc = site.loc;
  Value *root = site.user->getOperand(site.operand);
  const DIType *type = nullptr;
  std::string name;
  if (auto *store = dyn_cast<StoreInst>(site.user)) {
    if (const DIVariable *variable = variableOf(store->getPointerOperand())) {
      name = variable->getName();
      type = variable->getType();
    }
  } else if (auto *call = dyn_cast<CallBase>(site.user)) {
    if (const Function *callee = call->getCalledFunction())
      name = callee->getName();
  }
  if (auto *subprogram = site.user->getFunction()->getSubprogram();
      subprogram && site.kind == Kind::Return && subprogram->getType()) {
    DITypeRefArray types = subprogram->getType()->getTypeArray();
    if (types && types.size() > 0)
      type = types[0];
  }
  u8(siteBytes, static_cast<uint8_t>(site.kind));
  u8(siteBytes, root->getType()->getPrimitiveSizeInBits());
  u8(siteBytes, flagsOf(root, type));
  u8(siteBytes, site.operand);
  location(siteBytes, loc);
  u32(siteBytes, string(site.user->getFunction()->getName()));
  u32(siteBytes, string(name));
  u32(siteBytes, string(group(site)));
  u8(siteBytes, (site.tree.empty() ? 0 : 1) | (isa<Constant>(root) ? 2 : 0) | (computes(site) ? 4 : 0));
  u8(siteBytes, site.leaves.size());
  for (const Value *leaf : site.leaves)
    value(siteBytes, leaf, loc);
  ++sites;
}

void Table::segment(const Function &function, const std::vector<const DILocation *> &locs) {
  u32(segmentBytes, string(function.getName()));
  u32(segmentBytes, locs.size());
  for (const DILocation *loc : locs)
    location(segmentBytes, loc);
  ++segments;
}

void Table::function(const Function &function) {
  u32(functionBytes, string(function.getName()));
  u8(functionBytes, function.isDeclaration() ? 0 : 1);
  ++functions;
}

std::string Table::finish() const {
  std::string out;
  Table writer;
  writer.u32(out, strings.size());
  for (const std::string &text : strings) {
    writer.u32(out, text.size());
    out += text;
  }
  writer.u32(out, sites);
  out += siteBytes;
  writer.u32(out, segments);
  out += segmentBytes;
  writer.u32(out, functions);
  out += functionBytes;
  return out;
}

} // namespace instrument
