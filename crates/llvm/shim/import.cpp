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

// Functions listed in `llvm.global_ctors` or `llvm.global_dtors`.
static void collectInitFunctions(const Module &module, StringRef list, unsigned flag,
                                 DenseMap<const Function *, unsigned> &flags) {
  const GlobalVariable *global = module.getGlobalVariable(list);
  if (!global || !global->hasInitializer())
    return;
  const Constant *entries = global->getInitializer();
  for (unsigned index = 0; Constant *entry = entries->getAggregateElement(index); ++index)
    if (Constant *target = entry->getAggregateElement(1u))
      if (auto *function = dyn_cast<Function>(target->stripPointerCasts()))
        flags[function] |= flag;
}

// Sections stand in the order in which the reader needs them; bodies are made first
// because they decide which types, constants and names there are.
static void writeModule(Module &module, Stream &out) {
  for (Function &function : module)
    if (!function.isDeclaration())
      normalizeFunction(function);
  Conversions conversions;
  conversions.run(module);
  Types types;
  Values values(module, conversions, types);
  DenseMap<const Function *, unsigned> flags;
  collectInitFunctions(module, "llvm.global_ctors", IsConstructor, flags);
  collectInitFunctions(module, "llvm.global_dtors", IsDestructor, flags);

  ModuleParts parts = {conversions, types, values};
  Stream bodies, headers, globals;
  for (Function &function : module)
    if (!function.isDeclaration()) {
      expandConstants(function, values);
      BodyWriter(function, parts, bodies).write();
    }
  headers.number(values.functionOrder().size());
  for (const Function *function : values.functionOrder())
    writeHeader(*function, flags.lookup(function), parts, headers);
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
  values.writeStructNames(out);
  values.writeConstants(out);
  out.append(globals);
  out.append(headers);
  out.text(module.getModuleInlineAsm());
  out.append(bodies);
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
  LLVMContext context;
  StringRef bytes(reinterpret_cast<const char *>(bitcode), length);
  Expected<std::unique_ptr<Module>> module =
      parseBitcodeFile(MemoryBufferRef(bytes, "unit"), context);
  bool failed = !module;
  if (failed) {
    std::string message = toString(module.takeError());
    for (char letter : message)
      stream->byte(letter);
  } else {
    (*module)->setIsNewDbgInfoFormat(true);
    ff::writeModule(**module, *stream);
  }
  ff_result result = {stream->data(), stream->size(), nullptr, failed};
  result.owner = stream.release();
  return result;
}

void ff_release(void *owner) { delete static_cast<ff::Stream *>(owner); }
}
