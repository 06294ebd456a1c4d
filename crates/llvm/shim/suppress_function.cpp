// Instruments one function: a label beside every value, nothing done with corrupt ones.
//
// All of it happens at -O0, where values cross blocks through slots alone: labels of slots
// are slots as well, and both become values afterwards.

#include "suppress_function.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace suppress {

void FunctionPass::run() {
  function.removeFnAttr(Attribute::OptimizeNone);
  function.removeFnAttr(Attribute::NoInline);
  removeUnreachableBlocks(function);
  demotePhis();
  Frame ownFrame(function, labels);
  frame = &ownFrame;
  std::vector<Skip> skips = findSkips(function);
  std::vector<Instruction *> body;
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &inst : *block)
      if (!isa<AllocaInst>(inst))
        body.push_back(&inst);
  describeSites(body);
  frame->enter(table, options.firstFrame);
  for (AllocaInst *slot : frame->promotable)
    addSlotLabel(slot);
  readArguments();
  std::vector<SkipPlaces> places = placesOf(skips);
  for (Instruction *inst : body)
    visit(inst);
  for (const SkipPlaces &skip : places)
    addSkip(skip);
  frame->moveDynamic();
  std::vector<AllocaInst *> slots;
  for (auto &[slot, label] : slotLabels) {
    slots.push_back(slot);
    slots.push_back(label);
  }
  llvm::sort(slots, [](AllocaInst *a, AllocaInst *b) { return a->comesBefore(b); });
  DominatorTree dominators(function);
  PromoteMemToReg(slots, dominators);
}

void FunctionPass::demotePhis() {
  std::vector<PHINode *> phis;
  for (BasicBlock &block : function)
    for (PHINode &phi : block.phis())
      phis.push_back(&phi);
  for (PHINode *phi : phis)
    DemotePHIToStack(phi);
}

void FunctionPass::addSlotLabel(AllocaInst *slot) {
  IRBuilder<> b(slot);
  AllocaInst *label = b.CreateAlloca(labels.type, nullptr, "ff_label");
  b.SetInsertPoint(function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  b.CreateStore(labels.none(), label);
  slotLabels[slot] = label;
}

void FunctionPass::readArguments() {
  IRBuilder<> b(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  for (Argument &argument : function.args())
    if (argument.getArgNo() < MaxArguments)
      known[&argument] = b.CreateLoad(labels.type, argumentSlot(b, argument.getArgNo()));
}

Value *FunctionPass::argumentSlot(IRBuilder<> &b, unsigned index) {
  return b.CreateConstInBoundsGEP2_64(labels.arguments->getValueType(), labels.arguments, 0, index);
}

Value *FunctionPass::labelOf(const Value *value) const {
  auto found = known.find(value);
  return found == known.end() ? labels.none() : found->second;
}

// The site a definition or an access belongs to, named before slots lose their names.
void FunctionPass::describeSites(const std::vector<Instruction *> &body) {
  auto add = [&](const Value *key, unsigned operand, Kind kind, const Instruction &at, const std::string &name) {
    siteIds[{key, operand}] = options.firstSite + table.site(kind, at, name);
  };
  for (Instruction *inst : body) {
    if (auto *store = dyn_cast<StoreInst>(inst)) {
      std::string name = nameOf(store->getPointerOperand());
      add(inst, 0, name.empty() ? Kind::Store : Kind::Assign, *inst,
          name.empty() ? describe(store->getPointerOperand()) : name);
      setPath(inst, store->getPointerOperand());
    } else if (auto *load = dyn_cast<LoadInst>(inst)) {
      auto *slot = dyn_cast<AllocaInst>(load->getPointerOperand());
      if (!slot || (options.isThreaded && !isAllocaPromotable(slot)))
        add(inst, 0, Kind::Load, *inst, describe(load->getPointerOperand()));
      setPath(inst, load->getPointerOperand());
    } else if (auto *call = dyn_cast<CallBase>(inst)) {
      if (isa<DbgInfoIntrinsic>(inst))
        continue;
      const Function *callee = calleeOf(*call);
      std::string name = callee ? callee->getName().str() : describe(call->getCalledOperand());
      add(inst, 0, Kind::Call, *inst, StringRef(name).starts_with("llvm.mem") ? name.substr(5, name.find('.', 5) - 5) : name);
      for (unsigned i = 0; i < call->arg_size() && i < MaxArguments; ++i)
        if (isDefinition(call->getArgOperand(i)))
          add(inst, 1 + i, Kind::Argument, *inst, name);
    } else if (auto *ret = dyn_cast<ReturnInst>(inst)) {
      add(inst, 0, ret->getReturnValue() && isDefinition(ret->getReturnValue()) ? Kind::Return : Kind::Leave, *inst,
          function.getName().str());
    } else if (inst->isIntDivRem() || isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst)) {
      add(inst, 0, Kind::Assign, *inst, "");
    }
  }
}

void FunctionPass::setPath(const Instruction *inst, const Value *address) {
  std::string field = fieldOf(address);
  if (field.empty())
    return;
  // Written as a number and read as an address is not the same.
  const Value *value = isa<StoreInst>(inst) ? cast<StoreInst>(inst)->getValueOperand() : inst;
  field += value->getType()->isPointerTy() ? '*' : '.';
  paths[inst] = static_cast<uint32_t>(xxh3_64bits(field)) | 1;
  if (isa<StoreInst>(inst))
    sitePaths[siteOf(inst, 0) - options.firstSite] = paths[inst];
}

uint32_t FunctionPass::siteOf(const Value *key, unsigned operand) const { return siteIds.lookup({key, operand}); }

// Whether a value arises here; if not, it is only handed on.
bool FunctionPass::isDefinition(const Value *value) {
  while (isa<CastInst>(value) || isa<FreezeInst>(value))
    value = cast<Instruction>(value)->getOperand(0);
  return !isa<LoadInst>(value) && !isa<CallBase>(value) && !isa<Argument>(value);
}

const Function *FunctionPass::calleeOf(const CallBase &call) {
  return dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
}

// A place known by name, whatever happens.
bool FunctionPass::isNamedPlace(Value *address, uint64_t size) const {
  const DataLayout &layout = function.getParent()->getDataLayout();
  APInt offset(64, 0);
  Value *base = address;
  while (auto *gep = dyn_cast<GEPOperator>(base)) {
    if (!gep->accumulateConstantOffset(layout, offset))
      return false;
    base = gep->getPointerOperand();
  }
  uint64_t whole;
  if (auto found = frame->sizes.find(base); found != frame->sizes.end())
    whole = found->second;
  else if (auto *global = dyn_cast<GlobalVariable>(base))
    whole = layout.getTypeAllocSize(global->getValueType());
  else
    return false;
  return offset.isNonNegative() && offset.getZExtValue() + size <= whole;
}

uint64_t FunctionPass::sizeOf(Type *type) const {
  return function.getParent()->getDataLayout().getTypeStoreSize(type).getFixedValue();
}

// What an access is made of: kept where a crash can be understood from it.
Value *FunctionPass::recordAccess(IRBuilder<> &b, Instruction *inst, Value *address) {
  Value *base = address, *index = labels.none();
  while (auto *gep = dyn_cast<GEPOperator>(base)) {
    for (Use &use : gep->indices())
      if (!isa<Constant>(use.get()))
        index = labels.join(b, index, labelOf(use.get()));
    base = gep->getPointerOperand();
  }
  record(b, siteOf(inst, 0), base, labelOf(base), index, address);
  return labels.prefer(b, index, labelOf(base));
}

void FunctionPass::record(IRBuilder<> &b, uint32_t site, Value *base, Value *baseLabel, Value *index, Value *address) {
  if (!labels.isTracking)
    return;
  auto put = [&](unsigned slot, Value *value) {
    b.CreateStore(value, b.CreateConstInBoundsGEP2_64(labels.at->getValueType(), labels.at, 0, slot));
  };
  Value *first = b.CreateOr(b.CreateShl(b.CreateZExt(baseLabel, labels.i64), 32), b.getInt64(site));
  put(0, first);
  put(1, b.CreateZExt(index, labels.i64));
  put(2, b.CreatePtrToInt(base, labels.i64));
  put(3, b.CreatePtrToInt(address, labels.i64));
}

// The place itself, or one where nothing is lost. Weights make it a branch, so that the access
// need not wait for the label.
Value *FunctionPass::placeOrSink(IRBuilder<> &b, Value *address, Value *label) {
  if (isa<Constant>(label))
    return address;
  MDNode *weights = MDBuilder(function.getContext()).createUnlikelyBranchWeights();
  Value *place = b.CreateSelect(labels.isCorrupt(b, label), labels.sink, address);
  if (auto *select = dyn_cast<SelectInst>(place))
    select->setMetadata(LLVMContext::MD_prof, weights);
  return place;
}

void FunctionPass::visit(Instruction *inst) {
  if (auto *load = dyn_cast<LoadInst>(inst))
    visitLoad(*load);
  else if (auto *store = dyn_cast<StoreInst>(inst))
    visitStore(*store);
  else if (auto *call = dyn_cast<CallBase>(inst))
    visitCall(*call);
  else if (auto *ret = dyn_cast<ReturnInst>(inst))
    visitReturn(*ret);
  else if (isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst))
    visitAtomic(*inst);
  else if (auto *fence = dyn_cast<FenceInst>(inst))
    synchronise(fence, nullptr, 0, fence->getOrdering(), false, 0);
  else if (!inst->isTerminator())
    visitOperation(*inst);
  // Where threads take turns, the runtime may look at any access.
  if (inst->isTerminator() || options.isThreaded)
    labels.endStretch();
}

void FunctionPass::visitLoad(LoadInst &load) {
  Value *address = load.getPointerOperand();
  IRBuilder<> b(&load);
  if (auto *slot = dyn_cast<AllocaInst>(address); slot && slotLabels.count(slot)) {
    known[&load] = b.CreateLoad(labels.type, slotLabels[slot]);
    return;
  }
  uint64_t size = sizeOf(load.getType());
  if (load.isAtomic())
    synchronise(&load, address, size, load.getOrdering(), false, siteOf(&load, 0));
  else
    countStep(&load, address, size, false, siteOf(&load, 0));
  b.SetInsertPoint(&load);
  if (isNamedPlace(address, size)) {
    known[&load] = labels.read(b, address, size);
    return;
  }
  Value *way = recordAccess(b, &load, address);
  Value *place = placeOrSink(b, address, way);
  load.setOperand(load.getPointerOperandIndex(), place);
  Value *label = labels.read(b, place, size);
  if (labels.isTracking) {
    // A field that was assigned as the same field hands its value on.
    if (uint32_t path = paths.lookup(&load))
      label = b.CreateCall(resolve, {label, b.getInt32(path)});
    label = labels.prefer(b, label, way);
    if (!isa<Constant>(way))
      label = settleDoubt(load, place, label, way);
  } else {
    label = labels.join(b, label, way);
  }
  known[&load] = label;
}

// What lies only partly where something was defined, and reaches beyond what its address
// leads to, was never meant to be read there: the address is to blame, not the content.
Value *FunctionPass::settleDoubt(LoadInst &load, Value *place, Value *label, Value *way) {
  IRBuilder<> b(&load);
  Value *isPart = labels.isPartlyDefined(b, place, sizeOf(load.getType()));
  if (!isPart)
    return label;
  Value *base = load.getPointerOperand();
  if (auto *choice = dyn_cast<SelectInst>(base))
    base = choice->getFalseValue();
  Value *address = base;
  while (auto *gep = dyn_cast<GEPOperator>(base))
    base = gep->getPointerOperand();
  BasicBlock *before = load.getParent();
  MDNode *weights = MDBuilder(function.getContext()).createUnlikelyBranchWeights();
  Instruction *slow = SplitBlockAndInsertIfThen(isPart, &load, false, weights);
  b.SetInsertPoint(slow);
  FunctionCallee settle = labels.runtime(
      "ff_settle", labels.type, {labels.type, labels.type, labels.pointer, labels.pointer, labels.i64});
  Value *settled = b.CreateCall(settle, {label, way, base, address, b.getInt64(sizeOf(load.getType()))});
  PHINode *merged = PHINode::Create(labels.type, 2, "", load.getParent()->begin());
  merged->addIncoming(label, before);
  merged->addIncoming(settled, slow->getParent());
  return merged;
}

void FunctionPass::visitStore(StoreInst &store) {
  Value *address = store.getPointerOperand(), *value = store.getValueOperand();
  Value *label = labelOf(value);
  bool isNew = isDefinition(value);
  IRBuilder<> b(&store);
  if (auto *slot = dyn_cast<AllocaInst>(address); slot && slotLabels.count(slot)) {
    if (isNew)
      label = labels.define(&store, siteOf(&store, 0), label, false);
    b.SetInsertPoint(&store);
    b.CreateStore(label, slotLabels[slot]);
    return;
  }
  uint64_t size = sizeOf(value->getType());
  if (store.isAtomic())
    synchronise(&store, address, size, store.getOrdering(), true, siteOf(&store, 0));
  else
    countStep(&store, address, size, true, siteOf(&store, 0));
  b.SetInsertPoint(&store);
  if (isNamedPlace(address, size)) {
    // Of memory that threads share, who assigned it matters, too.
    if (isNew || isShared(address))
      label = labels.define(&store, siteOf(&store, 0), label, !isNew, !isNew);
    b.SetInsertPoint(&store);
    store.setOperand(store.getPointerOperandIndex(), placeOrSink(b, address, label));
    labels.write(b, address, size, label);
    return;
  }
  Value *way = recordAccess(b, &store, address);
  label = labels.define(&store, siteOf(&store, 0), label, !isNew);
  b.SetInsertPoint(&store);
  // A corrupt value leaves its place as it is, which is corrupt from now on; with a corrupt
  // address there is no such place.
  Value *labelPlace = placeOrSink(b, address, way);
  store.setOperand(store.getPointerOperandIndex(), placeOrSink(b, address, labels.join(b, label, way)));
  labels.write(b, labelPlace, size, label);
}

void FunctionPass::visitAtomic(Instruction &inst) {
  bool isExchange = isa<AtomicCmpXchgInst>(inst);
  Value *address = inst.getOperand(0);
  Type *type = inst.getOperand(1)->getType();
  AtomicOrdering order = isExchange ? cast<AtomicCmpXchgInst>(inst).getMergedOrdering()
                                    : cast<AtomicRMWInst>(inst).getOrdering();
  synchronise(&inst, address, sizeOf(type), order, true, siteOf(&inst, 0));
  IRBuilder<> b(&inst);
  Value *way = recordAccess(b, &inst, address);
  Value *from = labelOf(inst.getOperand(1));
  if (isExchange)
    from = labels.join(b, from, labelOf(inst.getOperand(2)));
  Value *before = labels.join(b, labels.read(b, placeOrSink(b, address, way), sizeOf(type)), way);
  Value *label = labels.define(&inst, siteOf(&inst, 0), labels.join(b, from, before), false);
  b.SetInsertPoint(&inst);
  labels.write(b, placeOrSink(b, address, way), sizeOf(type), label);
  inst.setOperand(0, placeOrSink(b, address, labels.join(b, label, way)));
  known[&inst] = before;
}

void FunctionPass::visitOperation(Instruction &inst) {
  IRBuilder<> b(&inst);
  if (auto *gep = dyn_cast<GetElementPtrInst>(&inst)) {
    Value *index = labels.none();
    for (Use &use : gep->indices())
      index = labels.join(b, index, labelOf(use.get()));
    known[&inst] = labels.prefer(b, index, labelOf(gep->getPointerOperand()));
    return;
  }
  Value *label = labels.none();
  for (Use &use : inst.operands())
    label = labels.join(b, label, labelOf(use.get()));
  known[&inst] = label;
  if (inst.isIntDivRem() && !isa<Constant>(inst.getOperand(1))) {
    Value *divisor = inst.getOperand(1), *one = ConstantInt::get(inst.getType(), 1);
    Value *zero = ConstantPointerNull::get(cast<PointerType>(labels.pointer));
    record(b, siteOf(&inst, 0), zero, labels.none(), labelOf(divisor), zero);
    inst.setOperand(1, b.CreateSelect(labels.isCorrupt(b, label), one, divisor));
  }
}

void FunctionPass::visitReturn(ReturnInst &ret) {
  Value *value = ret.getReturnValue();
  Value *label = value ? labelOf(value) : labels.none();
  if (value && isDefinition(value))
    label = labels.define(&ret, siteOf(&ret, 0), label, false);
  frame->leave(&ret, siteOf(&ret, 0));
  IRBuilder<> b(&ret);
  if (value)
    b.CreateStore(label, labels.returned);
}

} // namespace suppress
