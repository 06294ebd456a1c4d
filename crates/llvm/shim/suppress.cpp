// Instruments one unit for execution suppression: bitcode made at -O0 -g goes in, bitcode
// with labels and the table of its sites, frames and globals come out.

#include "suppress_function.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <memory>

using namespace llvm;

namespace suppress {

// The globals of the program with their names and sizes, for the runtime.
static void addGlobals(Module &module, Labels &labels, Table &table) {
  const DataLayout &layout = module.getDataLayout();
  std::vector<GlobalVariable *> globals;
  for (GlobalVariable &global : module.globals())
    if (!global.isDeclaration() && !nameOf(&global).empty() && !global.isThreadLocal())
      globals.push_back(&global);
  auto *type = StructType::get(labels.pointer, labels.i64, labels.pointer);
  for (GlobalVariable *global : globals) {
    Type *of = global->getValueType();
    table.global(*global, holdsArray(of), isAddressRelated(of));
    Constant *text = ConstantDataArray::getString(module.getContext(), nameOf(global));
    auto *name = new GlobalVariable(module, text->getType(), true, GlobalValue::PrivateLinkage, text);
    Constant *info = ConstantStruct::get(
        type, {global, ConstantInt::get(labels.i64, layout.getTypeAllocSize(of)), name});
    auto *entry = new GlobalVariable(module, type, true, GlobalValue::InternalLinkage, info, "ff_global");
    entry->setSection("ff_global_info");
    entry->setAlignment(Align(8));
    appendToUsed(module, {entry});
  }
}

// Which field each store to one assigns, by the number of its site.
static void addPaths(Module &module, Labels &labels, const Options &options,
                     const std::map<uint32_t, uint32_t> &sitePaths) {
  if (sitePaths.empty())
    return;
  std::vector<uint32_t> pairs;
  for (auto [site, path] : sitePaths) {
    pairs.push_back(options.firstSite + site);
    pairs.push_back(path);
  }
  Constant *data = ConstantDataArray::get(module.getContext(), pairs);
  auto *entry = new GlobalVariable(module, data->getType(), true, GlobalValue::InternalLinkage, data, "ff_paths");
  entry->setSection("ff_path_info");
  entry->setAlignment(Align(4));
  appendToUsed(module, {entry});
}

void instrument(Module &module, const Options &options, Table &table) {
  std::vector<Function *> functions;
  for (Function &function : module)
    if (!function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
        !function.hasFnAttribute(Attribute::Naked))
      functions.push_back(&function);
  Labels labels(module, options.isTracking);
  addGlobals(module, labels, table);
  std::map<uint32_t, uint32_t> sitePaths;
  for (Function *function : functions)
    FunctionPass(*function, labels, options, table, sitePaths).run();
  if (options.isTracking)
    addPaths(module, labels, options, sitePaths);
}

static void addNames(StringSet<> &to, const char *names) {
  SmallVector<StringRef, 32> each;
  StringRef(names).split(each, '\n', -1, false);
  for (StringRef name : each)
    to.insert(name);
}

} // namespace suppress

extern "C" {

struct ff_suppressed {
  const uint8_t *data;
  size_t length;
  void *owner;
  bool failed;
};

// The result is the length of the table (4 bytes, little endian), the table, and the
// instrumented bitcode; where `failed`, a message. Names end in newlines.
ff_suppressed ff_suppress(const uint8_t *bitcode, size_t length, bool isTracking, bool isThreaded,
                          uint32_t firstSite, uint32_t firstFrame, const char *defined, const char *modelled) {
  auto result = std::make_unique<std::string>();
  auto hand = [&](bool failed) {
    auto *data = reinterpret_cast<const uint8_t *>(result->data());
    size_t size = result->size();
    return ff_suppressed{data, size, result.release(), failed};
  };
  LLVMContext context;
  StringRef bytes(reinterpret_cast<const char *>(bitcode), length);
  Expected<std::unique_ptr<Module>> parsed = parseBitcodeFile(MemoryBufferRef(bytes, "unit"), context);
  if (!parsed) {
    *result = toString(parsed.takeError());
    return hand(true);
  }
  Module &module = **parsed;
  suppress::Options options{isTracking, isThreaded, firstSite, firstFrame, {}, {}};
  suppress::addNames(options.defined, defined);
  suppress::addNames(options.modelled, modelled);
  suppress::Table table;
  suppress::instrument(module, options, table);
  // Sites have their positions in the table.
  StripDebugInfo(module);
  raw_string_ostream stream(*result);
  if (verifyModule(module, &stream)) {
    result->insert(0, "the instrumented unit is malformed: ");
    return hand(true);
  }
  std::string bytesOfTable = table.finish();
  for (unsigned shift = 0; shift < 32; shift += 8)
    stream << static_cast<char>(bytesOfTable.size() >> shift);
  stream << bytesOfTable;
  WriteBitcodeToFile(module, stream);
  stream.flush();
  return hand(false);
}

// The names of the functions a unit defines, a line for each; those it starts threads by
// come with a plus sign.
ff_suppressed ff_defined(const uint8_t *bitcode, size_t length) {
  auto result = std::make_unique<std::string>();
  LLVMContext context;
  StringRef bytes(reinterpret_cast<const char *>(bitcode), length);
  Expected<std::unique_ptr<Module>> parsed = parseBitcodeFile(MemoryBufferRef(bytes, "unit"), context);
  bool failed = !parsed;
  if (failed) {
    *result = toString(parsed.takeError());
  } else {
    for (Function &function : **parsed)
      if (!function.isDeclaration())
        *result += function.getName().str() + "\n";
      else if (function.getName() == "pthread_create" || function.getName() == "thrd_create")
        *result += "+" + function.getName().str() + "\n";
  }
  auto *data = reinterpret_cast<const uint8_t *>(result->data());
  size_t size = result->size();
  return ff_suppressed{data, size, result.release(), failed};
}

void ff_suppress_release(void *owner) { delete static_cast<std::string *>(owner); }

} // extern "C"
