// Implicit conversions, found by the checks clang made for them.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace ff {

// A C type as the check's record describes it.
struct CheckedType {
  llvm::StringRef name; // C's spelling, perhaps with " (aka ...)" after a typedef's name.
  unsigned bits = 0;
  bool isSigned = false;
};

// What one check said about the conversion it guarded.
struct ImplicitConversion {
  CheckedType from, to;
  unsigned bitFieldWidth = 0; // 0 where the target is no bit-field.
};

// Takes the checks out of a module and remembers, for the instruction that converts, what
// its check said. Where nothing converts (a change of sign alone, a folded constant), an
// instruction that stands for the conversion is put in.
class Conversions {
public:
  explicit Conversions(const llvm::Module &module);

  void run(llvm::Function &function);

  const ImplicitConversion *find(const llvm::Instruction *instruction) const {
    auto found = marks.find(instruction);
    return found == marks.end() ? nullptr : &found->second;
  }

  // Forgets the instructions of a function that is about to go.
  void clear() { marks.clear(); }

private:
  void replaceCheck(llvm::CallInst &handlerCall);
  void mark(llvm::Value *from, llvm::Value *to, const ImplicitConversion &conversion,
            llvm::Instruction *before);
  void markBitField(llvm::Value *from, llvm::Value *to, const ImplicitConversion &conversion,
                    llvm::Instruction *before);
  ImplicitConversion readRecord(llvm::Value *record);
  CheckedType readType(llvm::Constant *descriptor);

  const llvm::Function *handler;
  llvm::DenseMap<const llvm::Instruction *, ImplicitConversion> marks;
};

// Data of the checks, which is no part of the program. Nothing else that C code becomes is
// private and nameless.
bool isCheckData(const llvm::GlobalVariable &global);

} // namespace ff
