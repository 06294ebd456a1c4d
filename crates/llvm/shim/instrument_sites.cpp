// Finds the value sites of a function compiled at -O0.

#include "instrument.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace instrument {

bool isReplaceable(const Type *type) {
  if (auto *integer = dyn_cast<IntegerType>(type))
    return integer->getBitWidth() <= 64;
  return type->isFloatTy() || type->isDoubleTy();
}

// Instructions that only compute: replacing an operand acts through the result alone.
static bool isPure(const Instruction &inst) {
  for (const Use &use : inst.operands())
    if (!isReplaceable(use->getType()))
      return false;
  return isa<BinaryOperator>(inst) || isa<CmpInst>(inst) || isa<SelectInst>(inst) ||
         isa<UnaryOperator>(inst) || (isa<CastInst>(inst) && isReplaceable(inst.getType()));
}

static void walk(Value *value, Site &site, SmallPtrSetImpl<Value *> &seen) {
  if (isa<Constant>(value) || !seen.insert(value).second)
    return;
  auto *inst = dyn_cast<Instruction>(value);
  if (inst && isPure(*inst) && site.tree.size() < MaxTree) {
    for (Value *operand : inst->operands())
      walk(operand, site, seen);
    site.tree.push_back(inst);
    return;
  }
  site.leaves.push_back(value);
}

// Addresses mean nothing outside their own run: a number made from one is left alone.
static bool isAddress(const Value *value) {
  if (isa<PtrToIntInst>(value))
    return true;
  if (auto *cast = dyn_cast<CastInst>(value))
    return isAddress(cast->getOperand(0));
  return false;
}

static bool isSpilledParameter(const StoreInst &store) {
  return isa<Argument>(store.getValueOperand());
}

bool isReturnSlot(const Value *address) {
  return isa<AllocaInst>(address) && address->getName().starts_with("retval");
}

// `ret` of what lies in the return slot; the stores into the slot are the statements.
static bool isFromReturnSlot(const Value *value) {
  auto *load = dyn_cast<LoadInst>(value);
  return load && isReturnSlot(load->getPointerOperand());
}

static void addAt(std::vector<Site> &sites, Kind kind, Instruction &user, unsigned operand,
                  Instruction &point, const DILocation *loc) {
  Value *root = user.getOperand(operand);
  if (!isReplaceable(root->getType()) || isAddress(root))
    return;
  // A constant can only be wrong where it is assigned, returned or passed on as it stands.
  if (isa<Constant>(root) && !((isa<ConstantInt>(root) || isa<ConstantFP>(root)) &&
                               (kind == Kind::Assign || kind == Kind::Return || kind == Kind::Argument)))
    return;
  if (!loc || loc->getLine() == 0)
    return;
  Site site{kind, &user, operand, &point, loc, {}, {}};
  SmallPtrSet<Value *, 16> seen;
  walk(root, site, seen);
  if (site.leaves.size() > MaxLeaves) {
    // Too wide to replace leaf by leaf: the root alone is the site.
    site.leaves.assign(1, root);
    site.tree.clear();
  }
  sites.push_back(std::move(site));
}

static void add(std::vector<Site> &sites, Kind kind, Instruction &user, unsigned operand) {
  addAt(sites, kind, user, operand, user, user.getDebugLoc());
}

// The last operand of `&&` and `||` and the arms of `?:` reach the rest of the statement
// through a phi.
static void addPhi(std::vector<Site> &sites, PHINode &phi) {
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    Value *value = phi.getIncomingValue(i);
    // A phi that takes another one's value is the same expression once more.
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst || isa<PHINode>(inst))
      continue;
    BasicBlock *from = phi.getIncomingBlock(i);
    unsigned edges = 0;
    for (BasicBlock *block : phi.blocks())
      edges += block == from;
    if (edges == 1) {
      Kind kind = phi.getType()->isIntegerTy(1) ? Kind::Branch : Kind::Operand;
      addAt(sites, kind, phi, i, *from->getTerminator(), inst->getDebugLoc());
    }
  }
}

static void addCall(std::vector<Site> &sites, CallBase &call) {
  if (call.isInlineAsm())
    return;
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&call)) {
    if (intrinsic->isAssumeLikeIntrinsic() || isa<DbgInfoIntrinsic>(intrinsic))
      return;
  }
  bool isIntrinsic = isa<IntrinsicInst>(call);
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (!call.paramHasAttr(i, Attribute::ImmArg) &&
        !(isIntrinsic && isa<Constant>(call.getArgOperand(i))))
      add(sites, Kind::Argument, call, i);
}

static void addInstruction(std::vector<Site> &sites, Instruction &inst) {
  if (auto *store = dyn_cast<StoreInst>(&inst)) {
    // The front end clears the slot on entry to main(); that store has no position.
    if (!isSpilledParameter(*store))
      add(sites, isReturnSlot(store->getPointerOperand()) ? Kind::Return : Kind::Assign, inst, 0);
  } else if (auto *call = dyn_cast<CallBase>(&inst)) {
    addCall(sites, *call);
  } else if (auto *ret = dyn_cast<ReturnInst>(&inst)) {
    if (ret->getReturnValue() && !isFromReturnSlot(ret->getReturnValue()))
      add(sites, Kind::Return, inst, 0);
  } else if (auto *branch = dyn_cast<BranchInst>(&inst)) {
    if (branch->isConditional())
      add(sites, Kind::Branch, inst, 0);
  } else if (auto *phi = dyn_cast<PHINode>(&inst)) {
    addPhi(sites, *phi);
  } else if (isa<SwitchInst>(&inst)) {
    add(sites, Kind::Switch, inst, 0);
  } else if (auto *select = dyn_cast<SelectInst>(&inst)) {
    // A choice between numbers is part of the expression that uses it; one between addresses
    // takes effect here.
    if (!isReplaceable(select->getType()))
      add(sites, Kind::Branch, inst, 0);
  } else if (auto *address = dyn_cast<GetElementPtrInst>(&inst)) {
    // Operand 0 is the pointer; constant field numbers are no sites.
    for (unsigned i = 1; i < address->getNumOperands(); ++i)
      add(sites, Kind::Index, inst, i);
  }
}

std::vector<Site> collectSites(Function &function) {
  std::vector<Site> sites;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      addInstruction(sites, inst);
  return sites;
}

} // namespace instrument
