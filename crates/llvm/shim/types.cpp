#include "types.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"

using namespace llvm;

namespace ff {

// Kinds of type records; src/stream/types.rs reads them.
enum TypeKind : uint8_t {
  Unknown,
  Basic,
  Pointer,
  Typedef,
  Const,
  Volatile,
  Restrict,
  Atomic,
  Array,
  Vector,
  Record,
  Enum,
  FunctionType,
};

uint32_t Types::id(const DIType *type) {
  if (!type)
    return 0;
  auto [position, isNew] = ids.try_emplace(type, order.size() + 1);
  if (isNew)
    order.push_back(type);
  return position->second;
}

void Types::write(Stream &out) {
  Stream records;
  for (size_t index = 0; index < order.size(); ++index) // Grows on the way.
    writeOne(order[index], records);
  out.number(order.size());
  out.append(records);
}

void Types::writeOne(const DIType *type, Stream &out) {
  if (auto *basic = dyn_cast<DIBasicType>(type)) {
    out.byte(Basic);
    out.text(basic->getName());
    out.number(basic->getSizeInBits());
    out.number(basic->getEncoding());
  } else if (auto *derived = dyn_cast<DIDerivedType>(type)) {
    writeDerived(derived, out);
  } else if (auto *composite = dyn_cast<DICompositeType>(type)) {
    writeComposite(composite, out);
  } else if (auto *function = dyn_cast<DISubroutineType>(type)) {
    writeFunction(function, out);
  } else {
    out.byte(Unknown);
  }
}

void Types::writeDerived(const DIDerivedType *type, Stream &out) {
  switch (type->getTag()) {
  case dwarf::DW_TAG_pointer_type:
    out.byte(Pointer);
    break;
  case dwarf::DW_TAG_typedef:
    out.byte(Typedef);
    out.text(type->getName());
    break;
  case dwarf::DW_TAG_const_type:
    out.byte(Const);
    break;
  case dwarf::DW_TAG_volatile_type:
    out.byte(Volatile);
    break;
  case dwarf::DW_TAG_restrict_type:
    out.byte(Restrict);
    break;
  case dwarf::DW_TAG_atomic_type:
    out.byte(Atomic);
    break;
  default:
    out.byte(Unknown);
    return;
  }
  out.number(id(type->getBaseType()));
}

void Types::writeComposite(const DICompositeType *type, Stream &out) {
  switch (type->getTag()) {
  case dwarf::DW_TAG_structure_type:
  case dwarf::DW_TAG_union_type:
    return writeRecord(type, out);
  case dwarf::DW_TAG_enumeration_type:
    return writeEnum(type, out);
  case dwarf::DW_TAG_array_type:
    return writeArray(type, out);
  default:
    out.byte(Unknown);
  }
}

void Types::writeRecord(const DICompositeType *type, Stream &out) {
  out.byte(Record);
  out.flag(type->getTag() == dwarf::DW_TAG_union_type);
  out.text(type->getName());
  out.number(type->getSizeInBits());
  out.flag(type->isForwardDecl());
  out.number(type->getLine());
  SmallVector<const DIDerivedType *, 16> members;
  for (const DINode *element : type->getElements())
    if (auto *member = dyn_cast_or_null<DIDerivedType>(element))
      if (member->getTag() == dwarf::DW_TAG_member)
        members.push_back(member);
  out.number(members.size());
  for (const DIDerivedType *member : members) {
    out.text(member->getName());
    out.number(id(member->getBaseType()));
    out.number(member->getOffsetInBits());
    out.number(member->getSizeInBits());
    out.flag(member->isBitField());
  }
}

void Types::writeEnum(const DICompositeType *type, Stream &out) {
  out.byte(Enum);
  out.text(type->getName());
  out.number(type->getSizeInBits());
  out.number(id(type->getBaseType()));
  SmallVector<const DIEnumerator *, 16> enumerators;
  for (const DINode *element : type->getElements())
    if (auto *enumerator = dyn_cast_or_null<DIEnumerator>(element))
      enumerators.push_back(enumerator);
  out.number(enumerators.size());
  for (const DIEnumerator *enumerator : enumerators) {
    const APInt &value = enumerator->getValue();
    out.text(enumerator->getName());
    out.signedNumber(value.sextOrTrunc(64).getSExtValue());
  }
}

// Dimensions from the outermost in; -1 where the count is not a constant.
void Types::writeArray(const DICompositeType *type, Stream &out) {
  out.byte(type->isVector() ? Vector : Array);
  out.number(id(type->getBaseType()));
  SmallVector<int64_t, 4> counts;
  for (const DINode *element : type->getElements()) {
    int64_t count = -1;
    if (auto *range = dyn_cast_or_null<DISubrange>(element))
      if (auto *constant = dyn_cast_if_present<ConstantInt *>(range->getCount()))
        count = constant->getSExtValue();
    counts.push_back(count);
  }
  out.number(counts.size());
  for (int64_t count : counts)
    out.signedNumber(count);
}

// The result and the parameters; a last null stands for "...", or for an unprototyped list.
void Types::writeFunction(const DISubroutineType *type, Stream &out) {
  out.byte(FunctionType);
  DITypeRefArray types = type->getTypeArray();
  unsigned count = types ? types.size() : 0;
  bool isVariadic = count > 1 && !types[count - 1];
  out.number(count ? id(types[0]) : 0);
  unsigned parameters = count ? count - 1 - isVariadic : 0;
  out.number(parameters);
  for (unsigned index = 0; index < parameters; ++index)
    out.number(id(types[index + 1]));
  out.flag(isVariadic);
}

} // namespace ff
