// Shared by the files of the instrumentation: what a value site is, and how the tables
// that describe the sites to the outside are written.
//
// A value site is the place where a statement's computed value takes effect: a store, a
// call's argument, a returned value, a branch or switch condition, an array index. The
// pure expression in front of it is a tree whose leaves are the values the statement
// uses. Whatever is replaced inside the tree acts through the root alone, so one hook
// per root serves them all.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace instrument {

// Kept in step with `SiteKind` in crates/llvm/src/instrument.rs.
enum class Kind : uint8_t { Assign = 0, Argument = 1, Return = 2, Branch = 3, Switch = 4, Index = 5, Operand = 6 };

// One root: operand `operand` of `user`, and the leaves its value is computed from.
struct Site {
  Kind kind;
  llvm::Instruction *user;
  unsigned operand;
  // The hook goes before this: the user, or the end of the block a phi takes the value from.
  llvm::Instruction *point;
  const llvm::DILocation *loc;
  llvm::SmallVector<llvm::Value *, 8> leaves;
  // Pure instructions between leaves and root, operands before users.
  llvm::SmallVector<llvm::Instruction *, 16> tree;
};

// The runtime's buffer for leaves has as many places (FF_MAX_LEAVES in crates/rt).
constexpr unsigned MaxLeaves = 16;
constexpr unsigned MaxTree = 64;

bool isReplaceable(const llvm::Type *type);

// The slot clang keeps at -O0 for the value of a function with several returns.
bool isReturnSlot(const llvm::Value *address);

// All sites of a function, in the order of execution within each block.
std::vector<Site> collectSites(llvm::Function &function);

// What the outside world is told, in the format instrument.rs reads.
class Table {
public:
  void site(const Site &site);
  void segment(const llvm::Function &function, const std::vector<const llvm::DILocation *> &locs);
  // Functions the unit defines, and those it needs from elsewhere.
  void function(const llvm::Function &function);
  uint32_t siteCount() const { return sites; }
  uint32_t segmentCount() const { return segments; }
  std::string finish() const;

private:
  void u8(std::string &to, uint8_t v) { to.push_back(static_cast<char>(v)); }
  void u32(std::string &to, uint32_t v);
  uint32_t string(llvm::StringRef text);
  void location(std::string &to, const llvm::DILocation *loc);
  void value(std::string &to, const llvm::Value *v, const llvm::DILocation *fallback);
  std::string group(const Site &site) const;

  llvm::StringMap<uint32_t> interned;
  std::vector<std::string> strings;
  std::string siteBytes, segmentBytes, functionBytes;
  uint32_t sites = 0, segments = 0, functions = 0;
};

} // namespace instrument
