// The door of the importer: bitcode in, one flat byte stream or one error text out.

#include "conversions.h"
#include "functions.h"
#include "normalize.h"
#include "stream.h"
#include "types.h"
#include "values.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

using namespace llvm;

namespace ff {

using FunctionFlags = DenseMap<const Function *, unsigned>;

// Functions listed in `llvm.global_ctors` or `llvm.global_dtors`.
static void collectInitFunctions(const Module &module, StringRef list, unsigned flag,
                                 FunctionFlags &flags) {
  const GlobalVariable *global = module.getGlobalVariable(list);
  if (!global || !global->hasInitializer())
    return;
  const Constant *entries = global->getInitializer();
  for (unsigned index = 0; Constant *entry = entries->getAggregateElement(index); ++index)
    if (Constant *target = entry->getAggregateElement(1u))
      if (auto *function = dyn_cast<Function>(target->stripPointerCasts()))
        flags[function] |= flag;
}

// Blocks whose addresses stand in a constant must outlive the function's own turn.
static bool hasLabels(const Function &function) {
  return any_of(function, [](const BasicBlock &block) { return block.hasAddressTaken(); });
}

// Reads, writes and drops one function after the other: a unit's bodies never are in
// memory together.
static Error writeFunctions(const FunctionFlags &flags, Conversions &conversions,
                            ModuleParts &parts, Stream &headers, Stream &bodies) {
  headers.number(parts.values.functionOrder().size());
  for (Function *function : parts.values.functionOrder()) {
    bool hasBody = !function->isDeclaration();
    if (Error error = function->materialize())
      return error;
    writeHeader(*function, flags.lookup(function) | hasBody * HasBody, parts, headers);
    if (!hasBody)
      continue;
    normalizeFunction(*function);
    conversions.run(*function);
    expandConstants(*function, parts.values);
    BodyWriter(*function, parts, bodies).write();
    conversions.clear();
    if (!hasLabels(*function))
      function->dropAllReferences();
  }
  return Error::success();
}

// Sections stand in the order in which the reader needs them; bodies are made first
// because they decide which types, constants and names there are.
static Error writeModule(Module &module, Stream &out) {
  Conversions conversions(module);
  Types types;
  Values values(module, types);
  ModuleParts parts = {conversions, types, values};
  Stream bodies, headers, globals;
  FunctionFlags flags;
  collectInitFunctions(module, "llvm.global_ctors", IsConstructor, flags);
  collectInitFunctions(module, "llvm.global_dtors", IsDestructor, flags);
  if (Error error = writeFunctions(flags, conversions, parts, headers, bodies))
    return error;
  headers.number(values.functionAliases().size());
  for (const GlobalValue *alias : values.functionAliases())
    writeFunctionAlias(*alias, parts, headers);
  values.writeGlobals(globals);
  // Types the source names but no variable has: targets of casts, enumerations.
  for (const DICompileUnit *unit : module.debug_compile_units()) {
    for (const DIScope *scope : unit->getRetainedTypes())
      if (auto *type = dyn_cast_or_null<DIType>(scope))
        types.id(type);
    for (const DICompositeType *type : unit->getEnumTypes())
      types.id(type);
  }

  types.write(out);
  values.writeStructs(out);
  values.writeConstants(out);
  out.append(globals);
  out.append(headers);
  out.text(module.getModuleInlineAsm());
  out.append(bodies);
  return Error::success();
}

// One stream or one message.
static bool import(StringRef bitcode, Stream &out) {
  LLVMContext context;
  Expected<std::unique_ptr<Module>> module =
      getLazyBitcodeModule(MemoryBufferRef(bitcode, "unit"), context);
  Error error = module ? (*module)->materializeMetadata() : module.takeError();
  if (!error) {
    (*module)->setIsNewDbgInfoFormat(true);
    error = writeModule(**module, out);
  }
  if (!error)
    return true;
  out.clear();
  for (char letter : toString(std::move(error)))
    out.byte(letter);
  return false;
}

} // namespace ff

extern "C" {

struct ff_result {
  const uint8_t *data;
  size_t length;
  void *owner;
  bool failed;
};

ff_result ff_import(const uint8_t *bitcode, size_t length) {
  auto stream = std::make_unique<ff::Stream>();
  bool succeeded = ff::import(StringRef(reinterpret_cast<const char *>(bitcode), length), *stream);
  ff_result result = {stream->data(), stream->size(), nullptr, !succeeded};
  result.owner = stream.release();
  return result;
}

void ff_release(void *owner) { delete static_cast<ff::Stream *>(owner); }
}
