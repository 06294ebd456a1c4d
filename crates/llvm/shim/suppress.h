// Shared by the files of the instrumentation for execution suppression: what a site and a
// frame are, and how both are described to the outside.
//
// Every value has a label beside it: where it was defined, and whether that definition is
// suppressed. A run that tracks definitions has labels of 32 bits, the number of the
// defining event with the top bit for corrupt ones; a run that only suppresses has labels
// of 8 bits, 1 for corrupt. Both count the same events.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace suppress {

// Kept in step with `SiteKind` in crates/llvm/src/suppress.rs.
enum class Kind : uint8_t { Assign = 0, Store = 1, Argument = 2, Return = 3, Call = 4, Load = 5, Leave = 6 };

// A variable of a frame, in the order of declaration.
struct Variable {
  llvm::AllocaInst *slot;
  std::string name;
  uint64_t size, align;
  bool isBuffer, isAddress;
  bool isPrivate; // its address is not taken
};

// What the outside world is told, in the format suppress.rs reads.
class Table {
public:
  // Returns the number of the site within this unit.
  uint32_t site(Kind kind, const llvm::Instruction &at, llvm::StringRef name);
  uint32_t frame(const llvm::Function &function, const std::vector<Variable> &variables);
  void global(const llvm::GlobalVariable &global, bool isBuffer, bool isAddress);
  uint32_t siteCount() const { return sites; }
  uint32_t frameCount() const { return frames; }
  std::string finish() const;

private:
  void u8(std::string &to, uint8_t v) { to.push_back(static_cast<char>(v)); }
  void u32(std::string &to, uint32_t v);
  uint32_t string(llvm::StringRef text);
  void location(std::string &to, const llvm::DILocation *loc);

  llvm::StringMap<uint32_t> interned;
  std::vector<std::string> strings;
  std::string siteBytes, frameBytes, globalBytes;
  uint32_t sites = 0, frames = 0, globals = 0;
};

// What a type says about a variable: whether it holds an array, and whether it is an
// address or may index one.
bool holdsArray(llvm::Type *type);
bool isAddressRelated(llvm::Type *type);

// The declared name behind an address or a value; empty for anything else.
std::string nameOf(const llvm::Value *address);
std::string describe(const llvm::Value *value);
// The field an address leads to ("struct node.2"); empty for anything else.
std::string fieldOf(const llvm::Value *address);

// Where a corrupt predicate goes instead: the block at which all its ways meet again, and
// the variables assigned on the way. Ways that never return do not count.
struct Skip {
  llvm::Instruction *terminator;
  llvm::BasicBlock *to; // null: the function ends there
  std::vector<llvm::StoreInst *> skipped;
};
std::vector<Skip> findSkips(llvm::Function &function);

struct Options {
  bool isTracking;
  bool isThreaded; // accesses to memory that threads may share are counted, too
  uint32_t firstSite, firstFrame;
  llvm::StringSet<> defined;  // by some unit of the program
  llvm::StringSet<> modelled; // library functions the runtime stands in for
};

// Instruments the whole unit.
void instrument(llvm::Module &module, const Options &options, Table &table);

} // namespace suppress
