// Which alternate values of a site's root are worth a run at one event.
//
// Every alternate of the root or of a leaf leads to one value of the root. Alternates
// that lead to the same value are equivalent, and one that leads to the original value
// changes nothing.

#include "rt.h"

// Maps bits to numbers whose order is the order of the values.
static uint64_t order(uint64_t bits, struct ff_type type) {
  if (type.is_float && type.bits == 32) {
    uint32_t narrow = (uint32_t)bits;
    return narrow >> 31 ? ~narrow : narrow | 1u << 31;
  }
  uint64_t top = 1ull << (type.bits - 1);
  if (type.is_float)
    return bits & top ? ~bits : bits | top;
  return type.is_signed ? bits ^ top : bits;
}

// The number of values in the list that come before `bits`.
static uint32_t rank(const uint64_t *values, const struct ff_list *list, uint64_t bits) {
  uint64_t key = order(bits, list->type);
  uint32_t low = 0, high = list->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (order(values[middle], list->type) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct walk {
  struct ff_candidate *into;
  size_t count, capacity;
  uint64_t root;
  ff_evaluate *evaluate;
};

static void consider(struct walk *walk, int32_t leaf, uint64_t alternate) {
  uint64_t value = alternate;
  if (leaf >= 0) {
    uint64_t leaves[FF_MAX_LEAVES];
    uint8_t trap = 0;
    for (int i = 0; i < FF_MAX_LEAVES; ++i)
      leaves[i] = ff_leaves[i];
    leaves[leaf] = alternate;
    value = walk->evaluate(leaves, &trap);
    if (trap) // It would crash on the spot.
      return;
  }
  if (value == walk->root || walk->count == walk->capacity) {
    ff_control->equivalents++;
    return;
  }
  walk->into[walk->count++] = (struct ff_candidate){value, leaf, 0, alternate};
}

static void consider_list(struct walk *walk, int32_t leaf, const struct ff_list *list,
                          uint64_t original) {
  const uint64_t *values = (const uint64_t *)ff_table(ff_control->values_at) + list->first;
  if (!(ff_control->flags & FF_SPANNING)) {
    for (uint32_t i = 0; i < list->count; ++i)
      if (values[i] != original)
        consider(walk, leaf, values[i]);
    return;
  }
  uint32_t below = rank(values, list, original);
  uint32_t above = below < list->count && values[below] == original ? below + 1 : below;
  if (below > 0)
    consider(walk, leaf, values[0]);
  if (below > 1)
    consider(walk, leaf, values[below - 1]);
  if (above < list->count)
    consider(walk, leaf, values[above]);
  if (above + 1 < list->count)
    consider(walk, leaf, values[list->count - 1]);
}

static int comes_before(const struct ff_candidate *a, const struct ff_candidate *b) {
  if (a->value != b->value)
    return a->value < b->value;
  if (a->leaf != b->leaf)
    return a->leaf < b->leaf;
  return a->leaf_alternate < b->leaf_alternate;
}

static void sift(struct ff_candidate *heap, size_t at, size_t count) {
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && comes_before(&heap[child], &heap[child + 1]))
      child++;
    if (!comes_before(&heap[at], &heap[child]))
      return;
    struct ff_candidate swapped = heap[at];
    heap[at] = heap[child];
    heap[child] = swapped;
  }
}

// In place and without the program's own allocator, unlike qsort().
static void sort(struct ff_candidate *items, size_t count) {
  for (size_t i = count / 2; i-- > 0;)
    sift(items, i, count);
  for (size_t end = count; end-- > 1;) {
    struct ff_candidate swapped = items[0];
    items[0] = items[end];
    items[end] = swapped;
    sift(items, 0, end);
  }
}

// Fills `into`, equivalent ones side by side, and returns how many there are.
size_t ff_candidates(const struct ff_site *site, uint64_t root, ff_evaluate *evaluate,
                     struct ff_candidate *into, size_t capacity) {
  const struct ff_list *lists =
      (const struct ff_list *)ff_table(ff_control->lists_at) + site->first_list;
  struct walk walk = {into, 0, capacity, root, evaluate};
  consider_list(&walk, -1, &lists[0], root);
  for (int leaf = 0; leaf < site->n_leaves; ++leaf)
    consider_list(&walk, leaf, &lists[1 + leaf], ff_leaves[leaf]);
  sort(into, walk.count);
  return walk.count;
}

uint64_t ff_added(const struct ff_site *site, uint64_t root, uint64_t addend) {
  uint64_t sum = root + addend;
  return site->type.bits < 64 ? sum & ((1ull << site->type.bits) - 1) : sum;
}

// A site that takes more values than this is not meant to hold one of them throughout.
#define FEW_VALUES 8

// What the site may compute in a whole run instead: one value, or its own value off by one.
// A condition is off by one when it is inverted.
size_t ff_constant_changes(const struct ff_site *site, uint64_t root, struct ff_candidate *into,
                           size_t capacity) {
  const struct ff_list *list = (const struct ff_list *)ff_table(ff_control->lists_at) + site->first_list;
  const uint64_t *values = (const uint64_t *)ff_table(ff_control->values_at) + list->first;
  size_t count = 0;
  for (uint32_t i = 0; i < list->count && list->count <= FEW_VALUES && count < capacity; ++i)
    into[count++] = (struct ff_candidate){values[i], -1, FF_SET, values[i]};
  if (site->type.is_float || list->count == 0)
    return count;
  const uint64_t addends[] = {1, ff_added(site, 0, ~0ull)};
  for (unsigned i = 0; i < (site->type.bits == 1 ? 1 : 2) && count < capacity; ++i)
    into[count++] = (struct ff_candidate){ff_added(site, root, addends[i]), -1, FF_ADD, addends[i]};
  return count;
}

uint64_t ff_relation_wanted(void) { return ff_control->flags & FF_RELATION ? ff_relation : 0; }

// The mappings given for the site's operands as they are now.
size_t ff_mapped_candidates(uint32_t site, uint64_t root, struct ff_candidate *into, size_t capacity) {
  const struct ff_mapping *mappings = ff_table(ff_control->mappings_at);
  size_t low = 0, high = ff_control->n_mappings;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (mappings[middle].site < site)
      low = middle + 1;
    else
      high = middle;
  }
  size_t count = 0;
  uint64_t relation = ff_relation_wanted();
  const struct ff_site *info = (const struct ff_site *)ff_table(ff_control->sites_at) + site;
  int always = !!(ff_control->flags & FF_ALWAYS);
  for (; low < ff_control->n_mappings && mappings[low].site == site && count < capacity; ++low) {
    const struct ff_mapping *mapping = &mappings[low];
    int same = always || (mapping->root == root && mapping->relation == relation);
    for (uint32_t i = 0; same && !always && !relation && i < mapping->n_leaves; ++i)
      same = mapping->leaves[i] == ff_leaves[i];
    uint64_t value = mapping->change == FF_ADD ? ff_added(info, root, mapping->value) : mapping->value;
    if (same)
      into[count++] = (struct ff_candidate){value, -1, mapping->change, mapping->value};
  }
  return count;
}
