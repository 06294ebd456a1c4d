// Brings a function into the shape the model has, without changing what it does.
#pragma once

#include "values.h"
#include "llvm/IR/Function.h"

namespace ff {

// Calls that may unwind become plain calls, builtins that only advise the optimiser become
// what they mean without one, and unreachable blocks go. Comes before conversions are read.
void normalizeFunction(llvm::Function &function);

// Constant expressions without a form of their own become instructions.
void expandConstants(llvm::Function &function, const Values &values);

} // namespace ff
