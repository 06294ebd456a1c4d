// C types out of debug information. Ids are given on first sight; id 0 is void.
#pragma once

#include "stream.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include <vector>

namespace ff {

class Types {
public:
  uint32_t id(const llvm::DIType *type);

  // Writes every type that got an id, and those they lead to.
  void write(Stream &out);

private:
  void writeOne(const llvm::DIType *type, Stream &out);
  void writeDerived(const llvm::DIDerivedType *type, Stream &out);
  void writeComposite(const llvm::DICompositeType *type, Stream &out);
  void writeRecord(const llvm::DICompositeType *type, Stream &out);
  void writeEnum(const llvm::DICompositeType *type, Stream &out);
  void writeArray(const llvm::DICompositeType *type, Stream &out);
  void writeFunction(const llvm::DISubroutineType *type, Stream &out);

  llvm::DenseMap<const llvm::DIType *, uint32_t> ids;
  std::vector<const llvm::DIType *> order;
};

} // namespace ff
