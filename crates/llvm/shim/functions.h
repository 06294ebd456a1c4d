// Functions: their headers, variables, blocks and instructions.
#pragma once

#include "conversions.h"
#include "types.h"
#include "values.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace ff {

// What all functions of a module share while they are written.
struct ModuleParts {
  const Conversions &conversions;
  Types &types;
  Values &values;
};

void writeHeader(const llvm::Function &function, unsigned flags, ModuleParts &parts, Stream &out);

// A second name of a function, or a function chosen when the program starts.
void writeFunctionAlias(const llvm::GlobalValue &alias, ModuleParts &parts, Stream &out);

// Bits of a function's flags; src/stream/functions.rs reads them.
enum FunctionFlag : unsigned {
  IsVariadic = 1,
  IsNoReturn = 2,
  IsConstructor = 4,
  IsDestructor = 8,
  HasBody = 16,
};

// Writes one body. Instructions and variable declarations are records, numbered in order;
// operands name them relative to the record that uses them.
class BodyWriter {
public:
  BodyWriter(const llvm::Function &function, ModuleParts &parts, Stream &out);
  void write();

private:
  void number();
  bool isDropped(const llvm::Instruction &instruction) const;
  uint32_t variable(const llvm::DILocalVariable *variable, const llvm::DebugLoc &loc);
  void writeVariables();

  void begin(uint8_t op, const llvm::DebugLoc &loc);
  void operand(const llvm::Value *value);
  void type(llvm::Type *type) { out.number(parts.values.machineType(type)); }
  void block(const llvm::BasicBlock *block) { out.number(blocks.lookup(block)); }

  void declaration(const llvm::DbgVariableRecord &record);
  void instruction(const llvm::Instruction &instruction);
  void alloca_(const llvm::AllocaInst &instruction);
  void load(const llvm::LoadInst &instruction);
  void store(const llvm::StoreInst &instruction);
  void address(const llvm::GetElementPtrInst &instruction);
  void binary(const llvm::BinaryOperator &instruction);
  void compare(const llvm::CmpInst &instruction);
  void conversion(const llvm::Instruction &instruction);
  void phi(const llvm::PHINode &instruction);
  void call(const llvm::CallBase &call);
  bool intrinsic(const llvm::IntrinsicInst &call);
  void callArguments(const llvm::CallBase &call);
  void copiedArguments(const llvm::CallBase &call);
  void atomic(const llvm::Instruction &instruction);
  void element(const llvm::Instruction &instruction);
  void opaque(const llvm::Instruction &instruction);
  void terminator(const llvm::Instruction &instruction);

  const llvm::Function &function;
  ModuleParts &parts;
  Stream &out;
  uint32_t current = 0; // The record being written.
  llvm::DenseMap<const llvm::Value *, uint32_t> records;
  BlockNumbers blocks;
  llvm::DenseMap<const llvm::DILocalVariable *, uint32_t> variableIds;
  std::vector<std::pair<const llvm::DILocalVariable *, llvm::DebugLoc>> variables;
  llvm::DenseMap<const llvm::Value *, uint32_t> declared; // Storage to its variable.
};

} // namespace ff
