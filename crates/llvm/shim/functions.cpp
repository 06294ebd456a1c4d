#include "functions.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace ff {

void writeHeader(const Function &function, unsigned flags, ModuleParts &parts, Stream &out) {
  const DISubprogram *subprogram = function.getSubprogram();
  if (function.isVarArg())
    flags |= IsVariadic;
  if (function.doesNotReturn())
    flags |= IsNoReturn;
  out.text(function.getName());
  out.byte(linkageByte(function));
  out.number(flags);
  out.number(parts.values.machineType(function.getReturnType()));
  out.number(parts.types.id(subprogram ? subprogram->getType() : nullptr));
  out.number(subprogram ? subprogram->getLine() : 0);
  out.number(function.arg_size());
  for (const Argument &argument : function.args()) {
    out.number(parts.values.machineType(argument.getType()));
    Type *copied = argument.getParamByValType();
    out.number(copied ? uint64_t(parts.values.layout().getTypeAllocSize(copied)) + 1 : 0);
    out.flag(argument.hasStructRetAttr());
  }
}

void writeFunctionAlias(const GlobalValue &value, ModuleParts &parts, Stream &out) {
  const Function *target = nullptr;
  if (auto *alias = dyn_cast<GlobalAlias>(&value))
    target = dyn_cast_or_null<Function>(alias->getAliaseeObject());
  out.text(value.getName());
  out.byte(linkageByte(value));
  out.flag(target != nullptr);
  if (target)
    out.number(*parts.values.function(target));
}

BodyWriter::BodyWriter(const Function &function, ModuleParts &parts, Stream &out)
    : function(function), parts(parts), out(out) {}

static bool isDeclaration(DbgVariableRecord &record) {
  return record.isDbgDeclare() && record.getAddress();
}

// Stack bookkeeping of variable-length arrays, scopes of variables, and the spill slots of
// checks that are gone.
bool BodyWriter::isDropped(const Instruction &instruction) const {
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    switch (call->getIntrinsicID()) {
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::stacksave:
    case Intrinsic::stackrestore:
    case Intrinsic::donothing:
    case Intrinsic::experimental_noalias_scope_decl:
      return true;
    default:
      return false;
    }
  if (auto *storage = dyn_cast<AllocaInst>(&instruction))
    return storage->use_empty() && !declared.count(storage);
  return instruction.isTerminator() && !isa<CallBrInst>(instruction);
}

void BodyWriter::number() {
  for (const BasicBlock &block : function) {
    blocks.try_emplace(&block, blocks.size());
    for (const Instruction &instruction : block)
      for (DbgVariableRecord &record : filterDbgVars(instruction.getDbgRecordRange()))
        if (isDeclaration(record))
          declared[record.getAddress()] =
              variable(record.getVariable(), record.getDebugLoc());
  }
  uint32_t next = 0;
  for (const BasicBlock &block : function)
    for (const Instruction &instruction : block) {
      for (DbgVariableRecord &record : filterDbgVars(instruction.getDbgRecordRange()))
        next += isDeclaration(record);
      if (!isDropped(instruction))
        records[&instruction] = next++;
    }
}

uint32_t BodyWriter::variable(const DILocalVariable *variable, const DebugLoc &loc) {
  auto [position, isNew] = variableIds.try_emplace(variable, variables.size());
  if (isNew)
    variables.push_back({variable, loc});
  return position->second;
}

void BodyWriter::writeVariables() {
  out.number(variables.size());
  for (auto &[variable, loc] : variables) {
    out.text(variable->getName());
    out.number(parts.types.id(variable->getType()));
    out.number(variable->getArg());
    out.number(loc ? loc.getLine() : variable->getLine());
    out.number(loc ? loc.getCol() : 0);
    out.flag(variable->isArtificial());
  }
}

void BodyWriter::write() {
  number();
  writeVariables();
  out.number(blocks.size());
  for (const BasicBlock &block : function) {
    for (const Instruction &instruction : block) {
      for (DbgVariableRecord &record : filterDbgVars(instruction.getDbgRecordRange()))
        if (isDeclaration(record))
          declaration(record);
      if (!isDropped(instruction))
        this->instruction(instruction);
      if (instruction.isTerminator())
        terminator(instruction);
    }
  }
}

} // namespace ff
