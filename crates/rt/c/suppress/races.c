// What happens before what, and the accesses to the memory that is looked at.
//
// Every thread has a vector clock; whoever synchronises hands its clock on through the object
// it synchronises by. Only runs that look at a write need all this.

#include "threads.h"

#include <string.h>
#include <sys/mman.h>

#define SLOTS (1u << 16)
#define MAX_COUNTERS 4096

int ff_is_watching;

struct object_clock {
  const void *object;
  uint32_t clock[FF_MAX_THREADS];
};
static struct object_clock *objects; // an open table

static struct ff_access last_other; // before the watched write, of another thread
static uint32_t last_other_clock;
static int has_last_other;
static struct ff_access candidate; // perhaps the watched write
static int is_candidate_raced, has_candidate;
static int is_watched_done, is_overwritten;
static uint32_t watched_clock;
static struct ff_access watched_write;
// The access before whose end its memory cannot be looked at.
static struct ff_race *open_race;
static int is_second_open;
static const void *last_address;
static uint32_t last_size, last_site, last_thread;

static struct {
  uint32_t thread, site, n;
} counters[MAX_COUNTERS];
static uint32_t n_counters;

__attribute__((constructor(103))) static void prepare(void) {
  if (!ff_crash || !ff_crash->watched.event)
    return;
  objects = mmap(NULL, SLOTS * sizeof *objects, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (objects == MAP_FAILED)
    return;
  ff_is_watching = 1;
  ff_steps_left = 1;
  for (uint32_t i = 0; i < FF_MAX_THREADS; ++i)
    ff_threads[i].clock[i] = 1;
}

static struct object_clock *clock_of(const void *object) {
  uint32_t hash = (uint32_t)((uint64_t)object >> 2) * 2654435761u >> 16;
  for (uint32_t i = 0; i < SLOTS; ++i) {
    struct object_clock *entry = &objects[(hash + i) % SLOTS];
    if (entry->object == object || entry->object == NULL) {
      entry->object = object;
      return entry;
    }
  }
  return &objects[0];
}

static void join(uint32_t *into, const uint32_t *from) {
  for (uint32_t i = 0; i < ff_n_threads; ++i)
    if (from[i] > into[i])
      into[i] = from[i];
}

// A fence, and nothing else, has no object: there is one for all of them.
static const char fences;

void ff_acquire(const void *object) {
  if (ff_is_watching)
    join(ff_threads[ff_current].clock, clock_of(object ? object : &fences)->clock);
}

void ff_release(const void *object) {
  if (!ff_is_watching)
    return;
  join(clock_of(object ? object : &fences)->clock, ff_threads[ff_current].clock);
  ff_threads[ff_current].clock[ff_current]++;
}

void ff_clock_forked(uint32_t child) {
  if (!ff_is_watching)
    return;
  join(ff_threads[child].clock, ff_threads[ff_current].clock);
  ff_threads[ff_current].clock[ff_current]++;
}

void ff_clock_joined(uint32_t child) { ff_acquire(&ff_threads[child]); }

static uint64_t value_now(void) {
  uint64_t value = 0;
  size_t size = ff_crash->watched_size < sizeof value ? ff_crash->watched_size : sizeof value;
  memcpy(&value, (void *)ff_crash->watched_at, size);
  return value;
}

// Whatever happens next, the access is over.
void ff_see_second(void) {
  if (!ff_is_watching)
    return;
  if (open_race) {
    open_race->value = value_now();
    open_race = NULL;
  }
  if (is_second_open) {
    ff_crash->second_value = value_now();
    ff_crash->second_seen = 1;
    is_second_open = 0;
  }
}

int ff_is_second_done(void) { return ff_crash->second_seen; }

static uint32_t count(uint32_t thread, uint32_t site) {
  for (uint32_t i = 0; i < n_counters; ++i)
    if (counters[i].thread == thread && counters[i].site == site)
      return ++counters[i].n;
  if (n_counters < MAX_COUNTERS) {
    counters[n_counters].thread = thread;
    counters[n_counters].site = site;
    counters[n_counters++].n = 1;
  }
  return 1;
}

static struct ff_access describe(int is_write, int is_atomic, uint32_t site) {
  const struct ff_thread *self = &ff_threads[ff_current];
  struct ff_access access = {
      .thread = ff_current,
      .site = site,
      .is_write = is_write,
      .is_atomic = is_atomic,
      .instance = count(ff_current, site),
      .syncs = self->syncs,
      .steps = self->steps,
  };
  ff_ready_set(access.ready);
  uint32_t depth = ff_depth < 4096 ? ff_depth : 4096;
  while (access.depth < FF_ACCESS_STACK && access.depth < depth) {
    access.stack[access.depth] = (uint32_t)ff_calls[2 * (depth - 1 - access.depth)];
    access.depth++;
  }
  return access;
}

static void add_race(const struct ff_access *first, const struct ff_access *second) {
  if (ff_crash->n_races == FF_MAX_RACES)
    return;
  struct ff_race *race = &ff_crash->races[ff_crash->n_races++];
  race->first = *first;
  race->second = *second;
  race->value = value_now();
  open_race = race;
}

static void before_watched(const struct ff_access *access) {
  if (access->thread != ff_crash->watched.thread) {
    last_other = *access;
    last_other_clock = ff_threads[access->thread].clock[access->thread];
    has_last_other = 1;
    return;
  }
  candidate = *access;
  has_candidate = 1;
  is_candidate_raced = has_last_other && !(last_other.is_atomic && access->is_atomic) &&
                       ff_threads[access->thread].clock[last_other.thread] < last_other_clock;
}

static void after_watched(const struct ff_access *access) {
  uint32_t by = watched_write.thread;
  // What reads another write's value does not depend on the watched one.
  if (is_overwritten)
    return;
  if (access->is_write) {
    is_overwritten = 1;
    return;
  }
  if (access->thread != by && !(access->is_atomic && watched_write.is_atomic) &&
      ff_threads[access->thread].clock[by] < watched_clock)
    add_race(&watched_write, access);
}

void ff_see_access(const void *address, size_t size, int is_write, int is_atomic, uint32_t site) {
  last_address = address;
  last_size = (uint32_t)size;
  last_site = site;
  last_thread = ff_current;
  uint64_t from = ff_crash->watched_at, to = from + ff_crash->watched_size;
  if (from == 0 || (uint64_t)address >= to || (uint64_t)address + size <= from)
    return;
  struct ff_access access = describe(is_write, is_atomic, site);
  if (ff_crash->is_altered) {
    if (!ff_crash->second_seen && access.thread == ff_crash->second && access.site == ff_crash->second_site &&
        access.instance == ff_crash->second_instance)
      is_second_open = 1;
  } else if (is_watched_done) {
    after_watched(&access);
  } else {
    before_watched(&access);
  }
}

// The definition that is looked at happens now; its access was seen right before.
void ff_watched_write(uint32_t site) {
  if (!ff_is_watching || last_site != site || last_thread != ff_current || !last_address)
    return;
  ff_crash->location = (uint64_t)last_address;
  ff_crash->location_size = last_size;
  if (!ff_crash->watched_at || ff_crash->is_altered || !has_candidate || candidate.site != site)
    return;
  is_watched_done = 1;
  watched_write = candidate;
  watched_clock = ff_threads[ff_current].clock[ff_current];
  if (is_candidate_raced)
    add_race(&last_other, &candidate);
}
