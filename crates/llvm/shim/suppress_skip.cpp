// Where control goes when the value that decides about it is corrupt: past everything that
// depends on it, which is to its immediate post-dominator.

#include "suppress.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"

using namespace llvm;

namespace suppress {

namespace {

// Immediate post-dominators of the part of a function that can return, by the iterative
// algorithm of Cooper, Harvey and Kennedy on the reversed graph. Number 0 is the exit.
class PostDominators {
public:
  explicit PostDominators(Function &function) {
    blocks.push_back(nullptr);
    std::vector<BasicBlock *> exits;
    for (BasicBlock &block : function)
      if (isa<ReturnInst>(block.getTerminator()))
        exits.push_back(&block);
    DenseSet<BasicBlock *> seen;
    std::vector<BasicBlock *> order;
    for (BasicBlock *exit : exits)
      postOrder(exit, seen, order);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      numbers[*it] = blocks.size();
      blocks.push_back(*it);
    }
    solve();
  }

  // Null for the exit of the function, and for blocks from which no way returns.
  BasicBlock *of(BasicBlock *block) const {
    auto found = numbers.find(block);
    return found == numbers.end() ? nullptr : blocks[idom[found->second]];
  }

private:
  static void postOrder(BasicBlock *from, DenseSet<BasicBlock *> &seen, std::vector<BasicBlock *> &order) {
    std::vector<std::pair<BasicBlock *, pred_iterator>> stack;
    if (!seen.insert(from).second)
      return;
    stack.push_back({from, pred_begin(from)});
    while (!stack.empty()) {
      auto &[block, next] = stack.back();
      if (next == pred_end(block)) {
        order.push_back(block);
        stack.pop_back();
        continue;
      }
      BasicBlock *predecessor = *next++;
      if (seen.insert(predecessor).second)
        stack.push_back({predecessor, pred_begin(predecessor)});
    }
  }

  unsigned meet(unsigned a, unsigned b) const {
    while (a != b) {
      while (a > b)
        a = idom[a];
      while (b > a)
        b = idom[b];
    }
    return a;
  }

  void solve() {
    constexpr unsigned Unknown = ~0u;
    idom.assign(blocks.size(), Unknown);
    idom[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned i = 1; i < blocks.size(); ++i) {
        unsigned best = isa<ReturnInst>(blocks[i]->getTerminator()) ? 0 : Unknown;
        for (BasicBlock *successor : successors(blocks[i])) {
          auto found = numbers.find(successor);
          if (found == numbers.end() || idom[found->second] == Unknown)
            continue;
          best = best == Unknown ? found->second : meet(best, found->second);
        }
        if (best != idom[i]) {
          idom[i] = best;
          changed = true;
        }
      }
    }
    for (unsigned &dominator : idom)
      if (dominator == Unknown)
        dominator = 0;
  }

  std::vector<BasicBlock *> blocks;
  DenseMap<BasicBlock *, unsigned> numbers;
  std::vector<unsigned> idom;
};

// Assignments to named places between a block and where its ways meet.
std::vector<StoreInst *> assignedBetween(BasicBlock *from, BasicBlock *to) {
  DenseSet<BasicBlock *> seen;
  DenseSet<Value *> places;
  std::vector<BasicBlock *> work(succ_begin(from), succ_end(from));
  std::vector<StoreInst *> stores;
  while (!work.empty()) {
    BasicBlock *block = work.back();
    work.pop_back();
    if (block == to || !seen.insert(block).second)
      continue;
    for (Instruction &inst : *block) {
      auto *store = dyn_cast<StoreInst>(&inst);
      if (!store)
        continue;
      Value *place = store->getPointerOperand();
      if ((isa<AllocaInst>(place) || isa<GlobalVariable>(place)) && places.insert(place).second)
        stores.push_back(store);
    }
    work.insert(work.end(), succ_begin(block), succ_end(block));
  }
  return stores;
}

} // namespace

std::vector<Skip> findSkips(Function &function) {
  PostDominators postDominators(function);
  std::vector<Skip> skips;
  for (BasicBlock &block : function) {
    Instruction *terminator = block.getTerminator();
    if (terminator->getNumSuccessors() < 2)
      continue;
    BasicBlock *to = postDominators.of(&block);
    skips.push_back({terminator, to, assignedBetween(&block, to)});
  }
  return skips;
}

} // namespace suppress
