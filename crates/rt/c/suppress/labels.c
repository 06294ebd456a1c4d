// Labels of memory, and new definitions.

#include "suppress.h"

#include <string.h>

ff_label ff_args[FF_MAX_ARGS];
uint64_t ff_values[FF_MAX_ARGS];
uint8_t ff_kinds[FF_MAX_ARGS]; // 1 for pointers
ff_label ff_ret;
uint64_t ff_sp;
uint64_t ff_at[4];
uint32_t ff_site;
uint32_t ff_depth;
uint32_t ff_called_from;
uint64_t ff_calls[8192];
ff_label ff_predicate;
char ff_sink[4096] __attribute__((aligned(64)));

// Tracking counts events up to the next one that matters; suppressing counts down to it.
uint32_t ff_count, ff_next = 0x7fffffff;
uint64_t ff_left = UINT64_MAX;

// Of the running thread: how many events it had when that was last looked at, and which of
// its own is looked at next.
static uint32_t thread, base_events, base_count, planned = 0x7fffffff;
static uint32_t first_point, end_point;

uint32_t ff_labels_events(void) {
#if FF_TRACKING
  return base_events + (ff_count - base_count);
#else
  return planned - (uint32_t)ff_left;
#endif
}

static int is_watched(uint32_t event) {
  return ff_crash->watched.event && ff_crash->watched.thread == thread && ff_crash->watched.event == event;
}

static void plan_next(uint32_t now) {
  uint32_t next = 0x7fffffff;
  if (ff_crash) {
    while (first_point < end_point && ff_crash->points[first_point].event <= now)
      first_point++;
    if (first_point < end_point)
      next = ff_crash->points[first_point].event;
    for (uint32_t i = 0; i < ff_crash->n_sites; ++i) {
      uint32_t from = ff_crash->sites[i].from <= now ? now + 1 : ff_crash->sites[i].from;
      if (ff_crash->sites[i].thread == thread && from < next)
        next = from;
    }
    if (ff_crash->watched.event > now && ff_crash->watched.event < next && is_watched(ff_crash->watched.event))
      next = ff_crash->watched.event;
  }
  planned = next;
  base_events = now;
  base_count = ff_count;
  ff_left = next - now;
  ff_next = ff_count > 0x7fffffff - (next - now) ? 0x7fffffff : ff_count + (next - now);
}

// Points are in order of threads.
static void find_points(void) {
  first_point = 0;
  uint32_t n = ff_crash ? ff_crash->n_points : 0;
  while (first_point < n && ff_crash->points[first_point].thread < thread)
    first_point++;
  end_point = first_point;
  while (end_point < n && ff_crash->points[end_point].thread == thread)
    end_point++;
}

void ff_labels_prepare(void) {
  find_points();
  plan_next(0);
}

void ff_labels_switch(uint32_t to, uint32_t to_events) {
  thread = to;
  find_points();
  plan_next(to_events);
}

static void note_reached(uint32_t event, uint32_t site) {
  if (ff_crash->n_reached == FF_MAX_POINTS)
    return;
  struct ff_point *point = &ff_crash->reached[ff_crash->n_reached++];
  point->thread = thread;
  point->event = event;
  point->site = site;
#if FF_TRACKING
  point->address = (uint32_t)ff_at[0] == site ? ff_at[3] : 0;
  if (point->address)
    ff_describe(point->object, sizeof point->object, (void *)point->address);
#endif
}

static ff_label hit(uint32_t site) {
  uint32_t event = FF_TRACKING ? ff_labels_events() : planned;
  if (event >= 0x7fffffff || (FF_TRACKING && ff_count >= 0x7fffffff))
    ff_fail(FF_TOO_LONG, 0);
  if (!ff_crash) {
    plan_next(event);
    return 0;
  }
  int is_point = first_point < end_point && ff_crash->points[first_point].event == event;
  for (uint32_t i = 0; i < ff_crash->n_sites && !is_point; ++i)
    is_point = ff_crash->sites[i].site == site && ff_crash->sites[i].thread == thread &&
               ff_crash->sites[i].from <= event;
  if (is_watched(event))
    ff_watched_write(site);
  if (is_point)
    note_reached(event, site);
  plan_next(event);
  return is_point ? FF_CORRUPT : 0;
}

// An event that may have to be suppressed. Where nothing is tracked, so many events behind it
// are counted already, and it is the one that matters only if nothing else is left.
__attribute__((preserve_most)) ff_label ff_hit(uint32_t counted, uint32_t site) {
#if !FF_TRACKING
  if (ff_left + counted != 0)
    return 0;
  ff_label said = hit(site);
  ff_left -= counted;
  return said;
#else
  (void)counted;
  return hit(site);
#endif
}

ff_label ff_define(void) {
#if FF_TRACKING
  uint32_t now = ++ff_count;
  ((uint64_t *)FF_LOG)[now & (FF_LOG_ENTRIES - 1)] = ff_site;
  return now | (now == ff_next ? ff_hit(now, ff_site) : 0);
#else
  return --ff_left == 0 ? ff_hit(0, ff_site) : 0;
#endif
}

ff_label ff_label_read(const void *address, size_t size) {
  const ff_label *labels = ff_shadow(address);
  ff_label joined = 0;
  for (size_t i = 0; i < size; ++i)
    if (labels[i] > joined)
      joined = labels[i];
  return joined;
}

void ff_label_write(void *address, size_t size, ff_label label) {
  ff_label *labels = ff_shadow(address);
  if (label == 0) {
    memset(labels, 0, size * FF_WIDTH);
    return;
  }
  for (size_t i = 0; i < size; ++i)
    labels[i] = label;
}

int ff_is_corrupt_at(const void *address, size_t size) {
  return size > 0 && ff_is_corrupt(ff_label_read(address, size));
}

// What is copied within the object keeps its labels, where it has any; what is written
// behind its end is defined by whoever wrote there.
void ff_copy_labels(void *to, const void *from, size_t size, ff_label unknown, ff_label beyond) {
  const char *start, *end;
  size_t inside = size;
  if (ff_object(to, &start, &end) && (size_t)(end - (char *)to) < size)
    inside = end - (char *)to;
  if (from)
    memmove(ff_shadow(to), ff_shadow(from), inside * FF_WIDTH);
  else
    memset(ff_shadow(to), 0, inside * FF_WIDTH);
#if FF_TRACKING
  ff_label *labels = ff_shadow(to);
  for (size_t i = 0; i < inside; ++i)
    if (labels[i] == 0)
      labels[i] = unknown;
#else
  (void)unknown;
#endif
  if (inside < size)
    ff_label_write((char *)to + inside, size - inside, beyond);
}

#if FF_TRACKING
// Fields that stores assign, by site: an open table, filled once.
#define PATH_SLOTS (1u << 16)
static uint32_t path_sites[PATH_SLOTS], path_of[PATH_SLOTS];
extern const uint32_t __start_ff_path_info[] __attribute__((weak));
extern const uint32_t __stop_ff_path_info[] __attribute__((weak));

static uint32_t *path_slot(uint32_t site) {
  for (uint32_t i = site * 2654435761u >> 16;; ++i) {
    uint32_t slot = i & (PATH_SLOTS - 1);
    if (path_sites[slot] == site + 1 || path_sites[slot] == 0) {
      path_sites[slot] = site + 1;
      return &path_of[slot];
    }
  }
}

__attribute__((constructor(102))) static void read_paths(void) {
  uint32_t n = 0;
  if (__start_ff_path_info)
    for (const uint32_t *entry = __start_ff_path_info; entry + 1 < __stop_ff_path_info; entry += 2)
      if (n++ < PATH_SLOTS / 2)
        *path_slot(entry[0]) = entry[1];
}

// A field read as the field it was assigned as hands on where its value came from.
ff_label ff_resolve(ff_label label, uint32_t path) {
  uint32_t event = label & ~FF_CORRUPT;
  if (event == 0 || event + FF_LOG_ENTRIES <= ff_count)
    return label;
  uint64_t entry = FF_LOG[event & (FF_LOG_ENTRIES - 1)];
  uint32_t site = (uint32_t)entry & ~FF_HANDED_ON, origin = entry >> 32 & ~FF_CORRUPT;
  uint32_t slot = site * 2654435761u >> 16;
  for (; path_sites[slot & (PATH_SLOTS - 1)] != 0; ++slot)
    if (path_sites[slot & (PATH_SLOTS - 1)] == site + 1) {
      if (origin == 0 || path_of[slot & (PATH_SLOTS - 1)] != path)
        return label;
      if (!ff_has_threads)
        return origin | (label & FF_CORRUPT);
      // Who assigned the field matters where threads do; `trace` follows it.
      ((uint64_t *)FF_LOG)[event & (FF_LOG_ENTRIES - 1)] |= FF_HANDED_ON;
      return label;
    }
  return label;
}
#else
ff_label ff_resolve(ff_label label, uint32_t path) {
  (void)path;
  return label;
}
#endif

// Of a value of which only some bytes were ever defined: whether the place where it was read
// can be trusted, or whatever led there.
ff_label ff_settle(ff_label label, ff_label way, const void *base, const void *address, size_t size) {
  const char *start, *end;
  if ((way & ~FF_CORRUPT) == 0 || !ff_object(base, &start, &end))
    return label;
  int is_inside = (const char *)address >= start && (const char *)address + size <= end;
  return is_inside ? label : way | (label & FF_CORRUPT);
}

// In place of a function that must not be called.
uint64_t ff_nothing(void) { return 0; }
