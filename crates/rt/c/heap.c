// The heap of programs that can be snapshot: one stretch of memory whose used part is
// known exactly, so that a snapshot copies no more than that.
//
// Blocks have a size class and go back to the class's list. Zeroed memory comes first,
// as from the system; a block that is freed twice or was never handed out ends the
// program, as glibc would.

#include "rt.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 16
#define N_CLASSES 256
#define HEAP_ADDRESS ((void *)0x200000000000)
#define IN_USE 0x5c5c5c5c00000000ull
#define FREE 0x3a3a3a3a00000000ull

size_t ff_heap_limit = (size_t)1 << 30;

struct header {
  uint64_t tag; // state and class
  uint64_t size; // as asked for
};

// At the front of the heap itself, where a program that writes past its arrays seldom comes.
static struct heap {
  char *end;
  void *free_blocks[N_CLASSES];
} *const heap = HEAP_ADDRESS;
static int is_ready;

// Steps of 16 bytes up to 1 KiB, then four steps to each doubling.
static unsigned class_of(size_t size) {
  if (size <= 1024)
    return size == 0 ? 0 : (size - 1) / ALIGNMENT;
  unsigned top = 63 - __builtin_clzll(size - 1);
  return 64 + (top - 10) * 4 + (((size - 1) >> (top - 2)) & 3);
}

static size_t class_size(unsigned class) {
  if (class < 64)
    return (class + 1) * ALIGNMENT;
  unsigned top = 10 + (class - 64) / 4;
  return ((size_t)1 << top) + (size_t)((class - 64) % 4 + 1) * ((size_t)1 << (top - 2));
}

// All of it is reserved at once, at an address of its own; untouched pages cost nothing.
static int prepare(void) {
  if (is_ready)
    return 1;
  void *at = mmap(HEAP_ADDRESS, FF_HEAP_RESERVED, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != HEAP_ADDRESS)
    return 0;
  heap->end = (char *)heap + ((sizeof *heap + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
  is_ready = 1;
  return 1;
}

char *ff_heap_start(void) { return prepare() ? (char *)heap : NULL; }
char *ff_heap_end(void) { return heap->end; }

static int has_room(size_t size) {
  if (!prepare())
    return 0;
  size_t whole = (size_t)(heap->end - (char *)heap) + size;
  return whole <= ff_heap_limit && whole <= FF_HEAP_RESERVED;
}

static struct header *header_of(void *block) { return (struct header *)block - 1; }

void *malloc(size_t size) {
  if (size > ff_heap_limit) {
    errno = ENOMEM;
    return NULL;
  }
  unsigned class = class_of(size);
  void *block = prepare() ? heap->free_blocks[class] : NULL;
  if (block) {
    heap->free_blocks[class] = *(void **)block;
  } else {
    size_t whole = sizeof(struct header) + class_size(class);
    if (!has_room(whole)) {
      errno = ENOMEM;
      return NULL;
    }
    block = heap->end + sizeof(struct header);
    heap->end += whole;
  }
  *header_of(block) = (struct header){IN_USE | class, size};
  return block;
}

static struct header *checked(void *block) {
  struct header *header = header_of(block);
  char *at = (char *)header;
  if (((uintptr_t)block & (ALIGNMENT - 1)) || !is_ready || at < (char *)heap || at >= heap->end ||
      (header->tag & ~0xffull) != IN_USE)
    abort();
  return header;
}

void free(void *block) {
  if (!block)
    return;
  struct header *header = checked(block);
  unsigned class = header->tag & 0xff;
  header->tag = FREE | class;
  *(void **)block = heap->free_blocks[class];
  heap->free_blocks[class] = block;
}

void *calloc(size_t count, size_t size) {
  size_t whole;
  if (__builtin_mul_overflow(count, size, &whole)) {
    errno = ENOMEM;
    return NULL;
  }
  void *block = malloc(whole);
  return block ? memset(block, 0, whole) : NULL;
}

void *realloc(void *block, size_t size) {
  if (!block)
    return malloc(size);
  struct header *header = checked(block);
  if (size > 0 && size <= class_size(header->tag & 0xff)) {
    header->size = size;
    return block;
  }
  if (size == 0) {
    free(block);
    return NULL;
  }
  void *moved = malloc(size);
  if (moved) {
    memcpy(moved, block, header->size < size ? header->size : size);
    free(block);
  }
  return moved;
}

void *reallocarray(void *block, size_t count, size_t size) {
  size_t whole;
  if (__builtin_mul_overflow(count, size, &whole)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(block, whole);
}

// A larger alignment is bought with a larger block: the header is repeated in front of
// the aligned address, with a class of its own kind that is never handed out again.
void *aligned_alloc(size_t alignment, size_t size) {
  if (alignment <= ALIGNMENT)
    return malloc(size);
  if (!has_room(size + 2 * alignment + sizeof(struct header))) {
    errno = ENOMEM;
    return NULL;
  }
  uintptr_t block = (uintptr_t)heap->end + sizeof(struct header);
  block = (block + alignment - 1) & ~(uintptr_t)(alignment - 1);
  unsigned class = class_of(size);
  heap->end = (char *)block + class_size(class);
  heap->end = (char *)(((uintptr_t)heap->end + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
  *header_of((void *)block) = (struct header){IN_USE | class, size};
  return (void *)block;
}

void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
void *valloc(size_t size) { return aligned_alloc(4096, size); }
void *pvalloc(size_t size) { return aligned_alloc(4096, (size + 4095) & ~(size_t)4095); }

int posix_memalign(void **to, size_t alignment, size_t size) {
  void *block = aligned_alloc(alignment, size);
  if (!block)
    return ENOMEM;
  *to = block;
  return 0;
}

size_t malloc_usable_size(void *block) { return block ? header_of(block)->size : 0; }
