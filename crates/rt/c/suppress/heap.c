// The heap of the program under test: blocks in the order they are asked for, with a gap
// between them as other allocators have it, everything known about them kept elsewhere.

#include "suppress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GRANULE 16
#define ARENA_AT 0x060000000000ull
#define ARENA_BYTES (2ull << 30)
#define N_GRANULES (ARENA_BYTES / GRANULE)
#define GAP 16
#define HEAP_STEP (132ull << 10)
#define GUARD 0xfd
#define N_CLASSES 4096 // of freed blocks, by granules; larger ones are not used again

struct block {
  uint64_t size; // as asked for
  uint32_t site; // that asked for it
  uint32_t state; // enum block_state
  uint32_t next_free; // granule + 1
  uint32_t pad;
};
enum block_state { NOTHING = 0, LIVE = 1, FREED = 2 };

static char *const arena = (char *)ARENA_AT;
static uint32_t *owner;      // of each granule: the block's first granule + 1
static struct block *blocks; // by first granule
static uint64_t used = GAP;  // bytes of the arena
static uint64_t live_bytes;
static uint32_t free_lists[N_CLASSES];

static uint64_t accessible; // bytes of the arena; what lies behind is nobody's

static void *reserve(uint64_t at, size_t size, int access) {
  void *memory = mmap((void *)at, size, access,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

int ff_heap_prepare(void) {
  owner = reserve(0, N_GRANULES * sizeof *owner, PROT_READ | PROT_WRITE);
  blocks = reserve(0, N_GRANULES * sizeof *blocks, PROT_READ | PROT_WRITE);
  return reserve(ARENA_AT, ARENA_BYTES, PROT_NONE) != NULL && owner && blocks;
}

static size_t rounded(size_t size) { return (size + GRANULE - 1) / GRANULE * GRANULE; }
static uint32_t granule_of(const void *address) { return ((const char *)address - arena) / GRANULE; }

static uint32_t take(size_t whole) {
  size_t class = whole / GRANULE;
  if (class < N_CLASSES && free_lists[class]) {
    uint32_t granule = free_lists[class] - 1;
    free_lists[class] = blocks[granule].next_free;
    return granule;
  }
  if (whole > ARENA_BYTES - used - GAP)
    return UINT32_MAX;
  uint32_t granule = used / GRANULE;
  used += whole + GAP;
  if (used > accessible) {
    // In steps, as the system's own heap grows.
    accessible = (used + HEAP_STEP) / HEAP_STEP * HEAP_STEP;
    if (accessible > ARENA_BYTES)
      accessible = ARENA_BYTES;
    if (mprotect(arena, accessible, PROT_READ | PROT_WRITE) < 0)
      return UINT32_MAX;
  }
  return granule;
}

void *ff_heap_allocate(size_t size) {
  uint64_t limit = ff_crash && ff_crash->memory_limit ? ff_crash->memory_limit : ARENA_BYTES;
  size_t whole = rounded(size ? size : 1);
  if (size > limit) { // Nobody would give so much.
    errno = ENOMEM;
    return NULL;
  }
  uint32_t granule = whole + live_bytes > limit ? UINT32_MAX : take(whole);
  if (granule == UINT32_MAX)
    ff_fail(FF_MEMORY, 0);
  live_bytes += whole;
  blocks[granule] = (struct block){size, ff_site, LIVE, 0, 0};
  for (uint32_t i = 0; i < whole / GRANULE; ++i)
    owner[granule + i] = granule + 1;
  char *start = arena + (uint64_t)granule * GRANULE;
  memset(start + size, GUARD, whole - size + GAP);
  memset(ff_shadow(start - GAP), 0, GAP * FF_WIDTH);
  memset(ff_shadow(start), 0, (whole + GAP) * FF_WIDTH);
  return start;
}

int ff_heap_object(const void *address, const char **start, const char **end, uint32_t *site, int *is_live) {
  if ((char *)address < arena || (char *)address >= arena + used)
    return 0;
  uint32_t granule = granule_of(address);
  // The gap belongs to the block in front of it.
  if (owner[granule] == 0 && granule > 0)
    granule--;
  if (owner[granule] == 0)
    return 0;
  const struct block *block = &blocks[owner[granule] - 1];
  *start = arena + (uint64_t)(owner[granule] - 1) * GRANULE;
  *end = *start + block->size;
  *site = block->site;
  *is_live = block->state == LIVE;
  return 1;
}

// Whether somebody wrote between the block and the next one.
static int is_overrun(uint32_t granule, const char **at) {
  const struct block *block = &blocks[granule];
  char *start = arena + (uint64_t)granule * GRANULE;
  size_t whole = rounded(block->size ? block->size : 1);
#if FF_TRACKING
  // Labels see what was written even where it is what was there before.
  const ff_label *labels = ff_shadow(start);
  ff_label first = 0;
  for (size_t i = block->size; i < whole + GAP; ++i)
    if (labels[i] && !ff_is_corrupt(labels[i]) && (first == 0 || labels[i] < first)) {
      first = labels[i];
      *at = start + i;
    }
  return first != 0;
#else
  for (size_t i = block->size; i < whole + GAP; ++i)
    if ((unsigned char)start[i] != GUARD && !ff_is_corrupt(*ff_shadow(start + i))) {
      *at = start + i;
      return 1;
    }
  return 0;
#endif
}

static void check(uint32_t granule) {
  const char *at;
  if (!is_overrun(granule, &at))
    return;
  ff_crash->fault_address = (uint64_t)at;
  ff_blame(*ff_shadow(at), FF_CONTENT, (uint64_t)at);
  ff_fail(FF_HEAP_OVERRUN, 0);
}

void ff_heap_check_all(void) {
  for (uint64_t at = GAP; at < used;) {
    uint32_t granule = at / GRANULE;
    if (owner[granule] == 0)
      break;
    if (blocks[granule].state == LIVE)
      check(granule);
    size_t size = blocks[granule].size;
    at += rounded(size ? size : 1) + GAP;
  }
}

// Gives back a block, or fails as an allocator does that looks at its own records.
static void release(void *pointer) {
  uint32_t granule = granule_of(pointer);
  int is_ours = (char *)pointer >= arena && (char *)pointer < arena + used &&
                (uint64_t)pointer % GRANULE == 0 && owner[granule] == granule + 1;
  const char *start, *end;
  if (!is_ours && !ff_object(pointer, &start, &end)) {
    free(pointer); // The library's own.
    return;
  }
  if (!is_ours || blocks[granule].state != LIVE) {
    int is_double = is_ours && blocks[granule].state == FREED;
    ff_crash->fault_address = (uint64_t)pointer;
    ff_blame(ff_args[0], FF_BASE, (uint64_t)pointer);
    ff_fail(is_double ? FF_DOUBLE_FREE : FF_INVALID_FREE, 0);
  }
  if (ff_crash)
    check(granule);
  struct block *block = &blocks[granule];
  size_t whole = rounded(block->size ? block->size : 1);
  live_bytes -= whole;
  block->state = FREED;
  if (whole / GRANULE < N_CLASSES) {
    block->next_free = free_lists[whole / GRANULE];
    free_lists[whole / GRANULE] = granule + 1;
  }
}

static void *give(void *memory, ff_label from) {
  ff_label defined = ff_define();
  ff_ret = defined | (from & FF_CORRUPT);
  return memory;
}

void *ff_m_malloc(size_t size) {
  ff_label label = ff_args[0];
  return give(ff_is_corrupt(label) ? NULL : ff_heap_allocate(size), label);
}

void *ff_m_calloc(size_t count, size_t size) {
  ff_label label = (ff_args[0] | ff_args[1]) & FF_CORRUPT;
  size_t whole;
  if (ff_is_corrupt(label) || __builtin_mul_overflow(count, size, &whole))
    return give(NULL, label);
  void *memory = ff_heap_allocate(whole);
  if (memory)
    memset(memory, 0, whole);
  return give(memory, label);
}

void ff_m_free(void *pointer) {
  if (!pointer || ff_is_corrupt(ff_args[0]))
    return;
  ff_touch(pointer, 1, 1);
  release(pointer);
}

void *ff_m_realloc(void *pointer, size_t size) {
  ff_label label = (ff_args[0] | ff_args[1]) & FF_CORRUPT;
  if (ff_is_corrupt(label))
    return give(NULL, label);
  void *memory = ff_heap_allocate(size);
  if (!pointer || !memory)
    return give(memory, 0);
  const char *start, *end;
  uint32_t site;
  int is_live;
  if (ff_heap_object(pointer, &start, &end, &site, &is_live) && start == pointer && is_live) {
    size_t kept = (size_t)(end - start) < size ? (size_t)(end - start) : size;
    memcpy(memory, pointer, kept);
    memcpy(ff_shadow(memory), ff_shadow(pointer), kept * FF_WIDTH);
  }
  release(pointer);
  return give(memory, 0);
}

void *ff_m_reallocarray(void *pointer, size_t count, size_t size) {
  size_t whole;
  ff_args[1] |= ff_args[2] & FF_CORRUPT;
  return __builtin_mul_overflow(count, size, &whole) ? NULL : ff_m_realloc(pointer, whole);
}
