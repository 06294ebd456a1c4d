// Instruments one unit for value replacement: bitcode made at -O0 -g goes in, bitcode
// with hooks and the table of its sites come out.
//
// The hook costs a decrement and a branch: a global countdown reaches zero when the
// runtime wants to see the next value, and otherwise serves as the step budget.

#include "instrument.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <memory>

using namespace llvm;
using namespace instrument;

namespace {

class Hooks {
public:
  Hooks(Module &module, Table about, uint32_t firstSite, uint32_t firstSegment)
      : table(std::move(about)), module(module), context(module.getContext()), firstSite(firstSite),
        firstSegment(firstSegment) {
    i8 = Type::getInt8Ty(context);
    i32 = Type::getInt32Ty(context);
    i64 = Type::getInt64Ty(context);
    pointer = PointerType::getUnqual(context);
    countdown = external("ff_countdown", i64);
    leaves = external("ff_leaves", ArrayType::get(i64, MaxLeaves));
    relation = external("ff_relation", i64);
    coverage = external("ff_coverage", ArrayType::get(i8, 0));
    event = slowPath("ff_event", FunctionType::get(i64, {i32, i64, pointer}, false));
    tick = slowPath("ff_tick", FunctionType::get(Type::getVoidTy(context), false));
  }

  void run(Function &function) {
    stripForOptimiser(function);
    // Everything is collected before anything is changed, since hooks split blocks.
    std::vector<Site> sites = collectSites(function);
    std::vector<Instruction *> silentLatches = loopsWithoutSites(function, sites);
    addCoverage(function);
    for (const Site &site : sites)
      hook(site);
    for (Instruction *latch : silentLatches)
      addTick(*latch);
  }

  Table table;

private:
  GlobalVariable *external(const char *name, Type *type) {
    auto *global = cast<GlobalVariable>(module.getOrInsertGlobal(name, type));
    global->setDSOLocal(true);
    return global;
  }

  // Saves nearly all registers itself, so that the fast path pays nothing for the call.
  FunctionCallee slowPath(const char *name, FunctionType *type) {
    FunctionCallee callee = module.getOrInsertFunction(name, type);
    auto *function = cast<Function>(callee.getCallee());
    function->setCallingConv(CallingConv::PreserveMost);
    function->addFnAttr(Attribute::Cold);
    function->addFnAttr(Attribute::NoUnwind);
    return callee;
  }

  static void stripForOptimiser(Function &function) {
    function.removeFnAttr(Attribute::OptimizeNone);
    function.removeFnAttr(Attribute::NoInline);
  }

  // Splits before `point`. Returns the end of the block taken when the countdown reaches
  // zero, and the block that comes before.
  std::pair<Instruction *, BasicBlock *> countDown(Instruction *point) {
    IRBuilder<> builder(point);
    builder.SetCurrentDebugLocation(point->getDebugLoc());
    Value *left = builder.CreateSub(builder.CreateLoad(i64, countdown), builder.getInt64(1));
    builder.CreateStore(left, countdown);
    Value *isZero = builder.CreateICmpEQ(left, builder.getInt64(0));
    BasicBlock *fast = point->getParent();
    MDNode *weights = MDBuilder(context).createUnlikelyBranchWeights();
    Instruction *slow = SplitBlockAndInsertIfThen(isZero, point, false, weights);
    return {slow, fast};
  }

  Value *toBits(IRBuilder<> &builder, Value *value) {
    Type *type = value->getType();
    if (type->isDoubleTy())
      return builder.CreateBitCast(value, i64);
    if (type->isFloatTy())
      value = builder.CreateBitCast(value, i32);
    return builder.CreateZExt(value, i64);
  }

  Value *fromBits(IRBuilder<> &builder, Value *bits, Type *type) {
    if (type->isDoubleTy())
      return builder.CreateBitCast(bits, type);
    if (type->isFloatTy())
      return builder.CreateBitCast(builder.CreateTrunc(bits, i32), type);
    return builder.CreateTrunc(bits, type);
  }

  void hook(const Site &site) {
    Value *root = site.user->getOperand(site.operand);
    table.site(site);
    uint32_t id = firstSite + table.siteCount() - 1;
    Value *evaluate = site.tree.empty() ? static_cast<Value *>(ConstantPointerNull::get(pointer))
                                        : evaluator(site, root);
    auto [slow, fast] = countDown(site.point);
    IRBuilder<> builder(slow);
    builder.SetCurrentDebugLocation(DebugLoc(site.loc));
    for (unsigned i = 0; !site.tree.empty() && i < site.leaves.size(); ++i) {
      Value *slot = builder.CreateConstInBoundsGEP2_64(leaves->getValueType(), leaves, 0, i);
      builder.CreateStore(toBits(builder, site.leaves[i]), slot);
    }
    builder.CreateStore(relationOf(builder, root), relation);
    CallInst *call = builder.CreateCall(event, {builder.getInt32(id), toBits(builder, root), evaluate});
    call->setCallingConv(CallingConv::PreserveMost);
    Value *replaced = fromBits(builder, call, root->getType());
    PHINode *merged = PHINode::Create(root->getType(), 2, "", site.point->getParent()->begin());
    merged->addIncoming(root, fast);
    merged->addIncoming(replaced, slow->getParent());
    site.user->setOperand(site.operand, merged);
  }

  // How the operands of the comparison that decides the root relate: 1 less, 2 equal,
  // 3 greater; 1 and 2 alone where only equality is asked for; 0 where none decides it.
  Value *relationOf(IRBuilder<> &builder, Value *root) {
    while (isa<ZExtInst>(root))
      root = cast<Instruction>(root)->getOperand(0);
    auto *compare = dyn_cast<CmpInst>(root);
    if (!compare || !isReplaceable(compare->getOperand(0)->getType()))
      return builder.getInt64(0);
    Value *a = compare->getOperand(0), *b = compare->getOperand(1);
    bool isFloat = a->getType()->isFloatingPointTy();
    Value *equal = isFloat ? builder.CreateFCmpOEQ(a, b) : builder.CreateICmpEQ(a, b);
    Value *unequal = builder.getInt64(1);
    if (!compare->isEquality()) {
      Value *less = isFloat                  ? builder.CreateFCmpOLT(a, b)
                    : compare->isUnsigned() ? builder.CreateICmpULT(a, b)
                                            : builder.CreateICmpSLT(a, b);
      unequal = builder.CreateSelect(less, builder.getInt64(1), builder.getInt64(3));
    }
    return builder.CreateSelect(equal, builder.getInt64(2), unequal);
  }

  // The tree as a function of its leaves, so that the runtime can tell which alternates
  // of a leaf lead to the same value of the root. A division that would trap sets
  // `*trap` instead.
  Value *evaluator(const Site &site, Value *root) {
    auto *type = FunctionType::get(i64, {pointer, pointer}, false);
    auto *function = Function::Create(type, GlobalValue::InternalLinkage, "ff_eval", module);
    function->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> builder(BasicBlock::Create(context, "", function));
    DenseMap<Value *, Value *> clones;
    for (unsigned i = 0; i < site.leaves.size(); ++i) {
      Value *slot = builder.CreateConstInBoundsGEP1_64(i64, function->getArg(0), i);
      Value *bits = builder.CreateLoad(i64, slot);
      clones[site.leaves[i]] = fromBits(builder, bits, site.leaves[i]->getType());
    }
    for (Instruction *inst : site.tree) {
      Instruction *clone = inst->clone();
      clone->dropUnknownNonDebugMetadata();
      clone->setDebugLoc(DebugLoc());
      clone->dropPoisonGeneratingFlags();
      for (Use &use : clone->operands())
        if (auto found = clones.find(use.get()); found != clones.end())
          use.set(found->second);
      if (clone->isIntDivRem())
        guardDivision(builder, *clone, function->getArg(1));
      builder.Insert(clone);
      clones[inst] = clone;
    }
    builder.CreateRet(toBits(builder, clones.lookup(root)));
    return function;
  }

  void guardDivision(IRBuilder<> &builder, Instruction &division, Value *trap) {
    Type *type = division.getType();
    Value *divisor = division.getOperand(1);
    Value *bad = builder.CreateICmpEQ(divisor, ConstantInt::get(type, 0));
    unsigned opcode = division.getOpcode();
    if (opcode == Instruction::SDiv || opcode == Instruction::SRem) {
      APInt least = APInt::getSignedMinValue(type->getIntegerBitWidth());
      Value *overflow = builder.CreateAnd(
          builder.CreateICmpEQ(division.getOperand(0), ConstantInt::get(type, least)),
          builder.CreateICmpEQ(divisor, ConstantInt::getSigned(type, -1)));
      bad = builder.CreateOr(bad, overflow);
    }
    Value *before = builder.CreateLoad(i8, trap);
    builder.CreateStore(builder.CreateOr(before, builder.CreateZExt(bad, i8)), trap);
    division.setOperand(1, builder.CreateSelect(bad, ConstantInt::get(type, 1), divisor));
  }

  // A loop that computes nothing still has to run out of budget.
  std::vector<Instruction *> loopsWithoutSites(Function &function, const std::vector<Site> &sites) {
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> edges;
    FindFunctionBackedges(function, edges);
    DenseSet<const BasicBlock *> withSites;
    for (const Site &site : sites)
      withSites.insert(site.point->getParent());
    std::vector<Instruction *> latches;
    DenseSet<const BasicBlock *> seen;
    for (auto [from, to] : edges)
      if (!withSites.count(from) && !withSites.count(to) && seen.insert(from).second)
        latches.push_back(const_cast<Instruction *>(from->getTerminator()));
    return latches;
  }

  void addTick(Instruction &point) {
    Instruction *slow = countDown(&point).first;
    IRBuilder<> builder(slow);
    builder.SetCurrentDebugLocation(point.getDebugLoc());
    builder.CreateCall(tick)->setCallingConv(CallingConv::PreserveMost);
  }

  // A segment is a stretch that runs as a whole: a block, cut after each call, since a
  // call need not return.
  void addCoverage(Function &function) {
    for (BasicBlock &block : function) {
      std::vector<const DILocation *> locs;
      Instruction *start = nullptr;
      auto flush = [&] {
        if (start && !locs.empty())
          markSegment(function, *start, locs);
        locs.clear();
        start = nullptr;
      };
      for (Instruction &inst : block) {
        if (isa<PHINode>(inst) || isa<AllocaInst>(inst) || isa<DbgInfoIntrinsic>(inst))
          continue;
        if (!start)
          start = &inst;
        if (countsAsCode(inst))
          locs.push_back(inst.getDebugLoc());
        if (auto *call = dyn_cast<CallBase>(&inst); call && !isa<IntrinsicInst>(call))
          flush();
      }
      flush();
    }
  }

  // Whether a line is executed because of this instruction: not for the prologue that
  // saves parameters, nor for the closing brace.
  static bool countsAsCode(const Instruction &inst) {
    const DebugLoc &loc = inst.getDebugLoc();
    if (!loc || loc.getLine() == 0 || isa<IntrinsicInst>(inst))
      return false;
    if (auto *store = dyn_cast<StoreInst>(&inst))
      return !isa<Argument>(store->getValueOperand());
    if (auto *ret = dyn_cast<ReturnInst>(&inst)) {
      auto *load = dyn_cast_or_null<LoadInst>(ret->getReturnValue());
      return ret->getReturnValue() && !(load && isReturnSlot(load->getPointerOperand()));
    }
    if (auto *load = dyn_cast<LoadInst>(&inst))
      return !isReturnSlot(load->getPointerOperand());
    if (auto *branch = dyn_cast<BranchInst>(&inst))
      return branch->isConditional() || isJumpStatement(*branch);
    return true;
  }

  // `break`, `continue` and `goto` stand on lines of their own; the jumps that close an
  // `if` or a loop carry the position of something else in the same block or elsewhere.
  static bool isJumpStatement(const BranchInst &branch) {
    return branch.getParent()->size() == 1 && branch.getDebugLoc().getCol() > 0;
  }

  void markSegment(Function &function, Instruction &start, const std::vector<const DILocation *> &locs) {
    table.segment(function, locs);
    uint32_t id = firstSegment + table.segmentCount() - 1;
    IRBuilder<> builder(&start);
    builder.SetCurrentDebugLocation(start.getDebugLoc());
    // Atomic, so that a crash later in a loop finds the mark already made.
    StoreInst *mark = builder.CreateAlignedStore(
        builder.getInt8(1), builder.CreateConstInBoundsGEP2_64(coverage->getValueType(), coverage, 0, id),
        Align(1));
    mark->setAtomic(AtomicOrdering::Monotonic);
  }

  Module &module;
  LLVMContext &context;
  uint32_t firstSite, firstSegment;
  Type *i8, *i32, *i64;
  PointerType *pointer;
  GlobalVariable *countdown, *leaves, *relation, *coverage;
  FunctionCallee event, tick;
};

bool isRunnable(const Function &function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         !function.hasFnAttribute(Attribute::Naked);
}

} // namespace

extern "C" {

// What ff_instrument made, to be given back with ff_instrument_release.
struct ff_instrumented {
  const uint8_t *data;
  size_t length;
  void *owner;
  bool failed;
};

// The result is the length of the table (4 bytes, little endian), the table, and the
// instrumented bitcode; where `failed`, a message.
ff_instrumented ff_instrument(const uint8_t *bitcode, size_t length, uint32_t firstSite,
                              uint32_t firstSegment) {
  auto result = std::make_unique<std::string>();
  auto hand = [&](bool failed) {
    auto *data = reinterpret_cast<const uint8_t *>(result->data());
    size_t size = result->size();
    return ff_instrumented{data, size, result.release(), failed};
  };
  LLVMContext context;
  StringRef bytes(reinterpret_cast<const char *>(bitcode), length);
  Expected<std::unique_ptr<Module>> parsed =
      parseBitcodeFile(MemoryBufferRef(bytes, "unit"), context);
  if (!parsed) {
    *result = toString(parsed.takeError());
    return hand(true);
  }
  Module &module = **parsed;
  std::vector<Function *> functions;
  Table table;
  for (Function &function : module) {
    if (isRunnable(function))
      functions.push_back(&function);
    if (!function.isIntrinsic() && (!function.isDeclaration() || !function.use_empty()))
      table.function(function);
  }
  Hooks hooks(module, std::move(table), firstSite, firstSegment);
  for (Function *function : functions)
    hooks.run(*function);
  raw_string_ostream stream(*result);
  if (verifyModule(module, &stream)) {
    result->insert(0, "the instrumented unit is malformed: ");
    return hand(true);
  }
  std::string bytesOfTable = hooks.table.finish();
  for (unsigned shift = 0; shift < 32; shift += 8)
    stream << static_cast<char>(bytesOfTable.size() >> shift);
  stream << bytesOfTable;
  WriteBitcodeToFile(module, stream);
  stream.flush();
  return hand(false);
}

void ff_instrument_release(void *owner) { delete static_cast<std::string *>(owner); }

} // extern "C"
