// The runtime of programs run for execution suppression, as its own files see it. It is
// compiled twice: with FF_TRACKING labels say which event defined a value, without it only
// whether the value is corrupt. crates/llvm/shim/suppress_labels.h has the same addresses.
//
// The program and firstfault share one file, `struct ff_crash_file`; crates/rt/src/crash.rs
// is the same in Rust.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if FF_TRACKING
typedef uint32_t ff_label;
#define FF_WIDTH 4
#define FF_CORRUPT 0x80000000u
#else
typedef uint8_t ff_label;
#define FF_WIDTH 1
#define FF_CORRUPT 1u
#endif

#define FF_CRASH_MAGIC 0x6372617368666631ull
#define FF_MAX_ARGS 16
#define FF_MAX_POINTS 256
#define FF_MAX_SITES 32
#define FF_MAX_CULPRITS 20
#define FF_MAX_STACK 64
#define FF_MAX_GLOBALS 8192
#define FF_LOG ((const uint64_t *)0x080000000000)
#define FF_LOG_ENTRIES (1u << 25)
// Of the site in an entry of the log: the value was only handed on, by an assignment that
// can be trusted to be one.
#define FF_HANDED_ON 0x80000000u

enum ff_failure {
  FF_NONE = 0,
  FF_SIGNAL = 1,
  FF_ABORT = 2,        // abort(), a failed assertion
  FF_DOUBLE_FREE = 3,
  FF_INVALID_FREE = 4,
  FF_HEAP_OVERRUN = 5, // found by the allocator in front of or behind a block
  FF_RETURN = 6,       // the return address was overwritten
  FF_OUTPUT = 7,       // a byte of the output is not as expected
  FF_STACK = 8,        // no stack left
  FF_MEMORY = 9,       // the limit on memory was reached: not a failure of the program
  FF_TOO_LONG = 10,    // more events than can be counted
  FF_FORKED = 11,      // it started another process
  FF_THREADS = 12,     // more threads than are followed, or such as nobody can serialise
  FF_DEADLOCK = 13,    // every thread waits for another
};

// What a failing place used.
struct ff_culprit {
  uint32_t label; // 0 where nothing is known to have defined it
  uint32_t role;  // enum ff_role
  uint64_t value;
};

enum ff_role { FF_BASE = 0, FF_INDEX = 1, FF_PREDICATE = 2, FF_CONTENT = 3, FF_ARGUMENT = 16 };

// Definitions are numbered in each thread for itself: other threads may come in between
// at other places once something is suppressed.
struct ff_event {
  uint32_t thread, event;
};

// Where the event behind a culprit was. What only handed the value on through a variable
// known by name is `store`; `event` is where the value came from.
struct ff_definition {
  struct ff_event event, store;
  uint32_t site, store_site;
  uint32_t order; // among the events of all threads
  uint32_t pad;
};

// A suppression point that was reached.
struct ff_point {
  uint32_t thread, event, site, pad;
  uint64_t address; // what it writes to; 0 where it is no write
  char object[112]; // in words
};

// Thread `from` runs until it has done so many synchronisations, and so many accesses to
// shared memory since the last one; then `to` runs.
struct ff_switch {
  uint32_t from, to, syncs, steps;
};

#define FF_MAX_THREADS 256
#define FF_MAX_RACES 8
#define FF_ACCESS_STACK 24

// One access to the memory that is looked at.
struct ff_access {
  uint32_t thread, site;
  uint32_t is_write, instance; // of its site, in its thread
  uint32_t syncs, steps;       // when it happened
  uint32_t depth, is_atomic;
  uint64_t ready[FF_MAX_THREADS / 64]; // threads that could have run instead
  uint32_t stack[FF_ACCESS_STACK];
};

struct ff_race {
  struct ff_access first, second;
  uint64_t value; // of the memory after the second access
};

// A thread that waits where nothing goes on.
struct ff_wait {
  uint32_t thread, site, kind, holder; // enum ff_wait_kind; thread + 1
  uint32_t holder_site, pad;
};
enum ff_wait_kind { FF_ON_MUTEX, FF_ON_RWLOCK, FF_ON_CONDITION, FF_ON_SEMAPHORE, FF_ON_JOIN, FF_ON_BARRIER, FF_ON_ONCE };
#define FF_MAX_WAITS 16

enum ff_policy { FF_IN_TURN = 0, FF_PRIORITIES = 1, FF_RANDOM = 2, FF_REPLAY = 3 };

struct ff_crash_file {
  uint64_t magic;
  uint64_t file_size;
  uint64_t memory_limit;
  uint64_t output_differs_at; // ~0: it is not compared
  uint64_t layouts_at;        // frame, n, offsets; ends in ~0
  uint32_t n_points, n_sites;
  uint32_t check_heap_at_exit, pad;
  struct ff_event points[FF_MAX_POINTS]; // to suppress, by thread and number
  struct {
    uint32_t site, thread, from, pad; // all events of a site from that event of the thread on
  } sites[FF_MAX_SITES];
  // Threads.
  uint64_t schedule_at, recorded_at; // of struct ff_switch
  uint64_t seed, horizon;            // steps among which priorities change
  uint32_t policy, n_changes;        // enum ff_policy
  uint32_t n_schedule, recorded_room;
  struct ff_event watched; // the write that is looked at; event 0 for none
  uint64_t watched_at;     // its memory; 0 while that is not known
  uint32_t watched_size, is_altered;
  // With `is_altered`, `instead` runs where `held` is about to do an access; `second` is
  // the access after which the memory is looked at.
  uint32_t held, held_syncs, held_steps, instead;
  uint32_t second, second_site, second_instance, pad2;
  // Written by the runtime.
  uint32_t failure; // enum ff_failure
  int32_t signal;
  uint32_t site;
  uint32_t n_culprits;
  uint64_t fault_address;
  uint64_t events;
  struct ff_culprit culprits[FF_MAX_CULPRITS];
  struct ff_definition definitions[FF_MAX_CULPRITS];
  uint32_t n_reached, depth;
  uint32_t stack[FF_MAX_STACK]; // calls, innermost first
  char object[112];             // where the fault address lies, in words
  struct ff_point reached[FF_MAX_POINTS];
  uint32_t finished; // it came to its own end
  uint32_t attached;
  uint8_t touched[FF_MAX_GLOBALS / 8]; // globals that hold something the run defined
  uint32_t thread, n_threads; // that failed; that were started
  uint64_t steps;
  uint32_t n_recorded, n_races;
  uint64_t location; // of the watched write
  uint32_t location_size, n_waits;
  uint32_t second_seen, pad3;
  uint64_t second_value;
  struct ff_race races[FF_MAX_RACES];
  struct ff_wait waits[FF_MAX_WAITS];
};

_Static_assert(offsetof(struct ff_crash_file, failure) == 2720 && sizeof(struct ff_crash_file) == 43000,
               "crates/rt/src/crash.rs says the same");

extern struct ff_crash_file *ff_crash;

// Written by instrumented code.
extern ff_label ff_args[FF_MAX_ARGS];
extern uint64_t ff_values[FF_MAX_ARGS];
extern ff_label ff_ret;
extern uint64_t ff_sp;
extern uint64_t ff_at[4];
extern uint32_t ff_site;
extern uint32_t ff_depth;
extern uint64_t ff_calls[8192];
extern ff_label ff_predicate;
extern char ff_sink[4096];

static inline ff_label *ff_shadow(const void *address) {
#if FF_TRACKING
  return (ff_label *)((((uint64_t)address & 0x0fffffffffffull) << 2) + 0x100000000000ull);
#else
  return (ff_label *)(((uint64_t)address ^ 0x200000000000ull) + 2080);
#endif
}

static inline int ff_is_corrupt(ff_label label) { return (label & FF_CORRUPT) != 0; }

// Steps until the scheduler is asked; counted by instrumented code of programs with threads.
extern uint64_t ff_steps_left;
extern uint32_t ff_count;
extern uint8_t ff_kinds[FF_MAX_ARGS];
extern uint32_t ff_called_from;

// labels.c
void ff_labels_prepare(void);
void ff_labels_switch(uint32_t to, uint32_t to_events);
uint32_t ff_labels_events(void); // of the running thread
ff_label ff_define(void); // a new event of the current site
ff_label ff_label_read(const void *address, size_t size);
void ff_label_write(void *address, size_t size, ff_label label);
int ff_is_corrupt_at(const void *address, size_t size);
void ff_copy_labels(void *to, const void *from, size_t size, ff_label unknown, ff_label beyond);

ff_label ff_printed_corruption(unsigned first, const char *format, __builtin_va_list list);

// objects.c
int ff_any_corrupt(unsigned count); // of the first arguments
size_t ff_inside(const void *to, size_t size); // how much of that lies within the object
int ff_object(const void *address, const char **start, const char **end);
void ff_describe(char *into, size_t size, const void *address);
void ff_objects_prepare(void);
void ff_note_touched(void);

// failure.c
_Noreturn void ff_fail(uint32_t failure, int signal);
void ff_blame(ff_label label, uint32_t role, uint64_t value);
void ff_blame_arguments(unsigned count);
void ff_watch(void);

// baton.c
#define FF_IS_WRITE 0x80000000u
void ff_note_access(const void *address, size_t size, int is_write);
uint32_t ff_thread(void); // that runs
extern int ff_has_threads; // some were started
struct ff_event ff_event_of(uint32_t count); // which thread's an event was
void ff_watched_write(uint32_t site);
void ff_wait_descriptor(int fd, int events); // until it is ready, where others can run
void ff_threads_note(void); // at the end of the run

// Memory that a stand-in is about to read or write.
static inline void ff_touch(const void *address, size_t size, int is_write) {
  if (--ff_steps_left == 0)
    ff_note_access(address, size, is_write);
}

// heap.c
int ff_heap_object(const void *address, const char **start, const char **end, uint32_t *site, int *is_live);
void *ff_heap_allocate(size_t size);
void ff_heap_check_all(void);
int ff_heap_prepare(void);
