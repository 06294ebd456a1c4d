// Which variable or block an address belongs to.

#include "suppress.h"

#include <stdio.h>
#include <stdlib.h>

struct global {
  const char *address;
  uint64_t size;
  const char *name;
};

extern const struct global __start_ff_global_info[] __attribute__((weak));
extern const struct global __stop_ff_global_info[] __attribute__((weak));

struct frame {
  uint32_t id, n_places, size, pad;
  uint32_t *offsets; // the last is the return address's
};

extern const struct frame __start_ff_frame_info[] __attribute__((weak));
extern const struct frame __stop_ff_frame_info[] __attribute__((weak));

#define STACK_BYTES (64ull << 20)
#define STACK_AT 0x070000000000ull

static struct global *sorted;
static size_t n_sorted;

static int by_address(const void *a, const void *b) {
  const struct global *x = a, *y = b;
  return x->address < y->address ? -1 : x->address > y->address;
}

// The frames' orders of variables that this run is to have.
static void apply_layouts(void) {
  if (!ff_crash || !ff_crash->layouts_at || !__start_ff_frame_info)
    return;
  const uint32_t *entry = (const uint32_t *)((char *)ff_crash + ff_crash->layouts_at);
  for (; *entry != UINT32_MAX; entry += 2 + entry[1])
    for (const struct frame *frame = __start_ff_frame_info; frame < __stop_ff_frame_info; ++frame)
      if (frame->id == entry[0] && frame->n_places == entry[1])
        for (uint32_t i = 0; i < entry[1]; ++i)
          frame->offsets[i] = entry[2 + i];
}

void ff_objects_prepare(void) {
  apply_layouts();
  ff_sp = STACK_AT + STACK_BYTES - 4096;
  if (!__start_ff_global_info)
    return;
  n_sorted = __stop_ff_global_info - __start_ff_global_info;
  sorted = malloc(n_sorted * sizeof *sorted);
  if (!sorted) {
    n_sorted = 0;
    return;
  }
  for (size_t i = 0; i < n_sorted; ++i)
    sorted[i] = __start_ff_global_info[i];
  qsort(sorted, n_sorted, sizeof *sorted, by_address);
}

void ff_note_touched(void) {
  if (!__start_ff_global_info)
    return;
  size_t n = __stop_ff_global_info - __start_ff_global_info;
  for (size_t i = 0; i < n && i < FF_MAX_GLOBALS; ++i) {
    const ff_label *labels = ff_shadow(__start_ff_global_info[i].address);
    for (uint64_t k = 0; k < __start_ff_global_info[i].size; ++k)
      if (labels[k]) {
        ff_crash->touched[i / 8] |= 1 << i % 8;
        break;
      }
  }
}

int ff_any_corrupt(unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (ff_is_corrupt(ff_args[i]))
      return 1;
  return 0;
}

size_t ff_inside(const void *to, size_t size) {
  const char *start, *end;
  if (ff_object(to, &start, &end) && (size_t)(end - (char *)to) < size)
    return end - (char *)to;
  return size;
}

static const struct global *global_at(const char *address) {
  size_t low = 0, high = n_sorted;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (sorted[middle].address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || address >= sorted[low - 1].address + sorted[low - 1].size)
    return NULL;
  return &sorted[low - 1];
}

// The place of a frame an address lies in: the nearest one at or below it. Sizes are not
// kept here: a place ends where the next begins.
static const struct frame *frame_at(const char *address, uint64_t *base, uint32_t *place) {
  uint32_t depth = ff_depth < 4096 ? ff_depth : 4096;
  for (uint32_t i = depth; i-- > 0;) {
    uint64_t id = ff_calls[2 * i] >> 32;
    *base = ff_calls[2 * i + 1];
    if (id == 0 || (uint64_t)address < *base || !__start_ff_frame_info)
      continue;
    for (const struct frame *frame = __start_ff_frame_info; frame < __stop_ff_frame_info; ++frame) {
      if (frame->id + 1 != id || (uint64_t)address >= *base + frame->size)
        continue;
      uint32_t best = UINT32_MAX, offset = (uint64_t)address - *base;
      for (uint32_t p = 0; p < frame->n_places; ++p)
        if (frame->offsets[p] <= offset && (best == UINT32_MAX || frame->offsets[p] > frame->offsets[best]))
          best = p;
      *place = best;
      return best == UINT32_MAX ? NULL : frame;
    }
  }
  return NULL;
}

int ff_object(const void *address, const char **start, const char **end) {
  uint32_t site;
  int is_live;
  const struct global *global = global_at(address);
  if (global) {
    *start = global->address;
    *end = global->address + global->size;
    return 1;
  }
  if (ff_heap_object(address, start, end, &site, &is_live))
    return is_live;
  uint64_t base;
  uint32_t place;
  const struct frame *frame = frame_at(address, &base, &place);
  if (!frame)
    return 0;
  uint32_t next = frame->size;
  for (uint32_t p = 0; p < frame->n_places; ++p)
    if (frame->offsets[p] > frame->offsets[place] && frame->offsets[p] < next)
      next = frame->offsets[p];
  *start = (char *)base + frame->offsets[place];
  *end = (char *)base + next;
  return 1;
}

// "G name offset size", "H site offset size live", "F frame place offset": to be put into words
// by whoever knows the names.
void ff_describe(char *into, size_t size, const void *address) {
  const struct global *global = global_at(address);
  const char *start, *end;
  uint32_t site, place;
  int is_live;
  uint64_t base;
  const struct frame *frame;
  if (global)
    snprintf(into, size, "G %.60s %ld %lu", global->name, (long)((char *)address - global->address),
             (unsigned long)global->size);
  else if (ff_heap_object(address, &start, &end, &site, &is_live))
    snprintf(into, size, "H %u %ld %ld %d", site, (long)((char *)address - start), (long)(end - start), is_live);
  else if ((frame = frame_at(address, &base, &place)))
    snprintf(into, size, "F %u %u %ld", frame->id, place, (long)((uint64_t)address - base - frame->offsets[place]));
}
