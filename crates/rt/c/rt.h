// The runtime that is linked into instrumented programs, as its own files see it.
//
// The program and firstfault share one file, the control file: a `struct ff_control_file`
// first, then tables at the offsets it names. crates/rt/src/layout.rs is the same in Rust.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FF_MAGIC 0x66697273746661ull
#define FF_MAX_LEAVES 16

enum ff_mode {
  FF_PLAIN = 0,   // run, count events, mark coverage
  FF_PROFILE = 1, // also record every value
  FF_REPLACE = 2, // replace one value at one event
  FF_SEARCH = 3,  // replace everything worth replacing, one at a time
};

enum ff_search_flag {
  FF_FORK = 1,        // a process per replacement instead of snapshots
  FF_FIRST = 2,       // a statement is done at its first IVMP
  FF_SPANNING = 4,    // only the four spanning values of each list
  FF_BRUTE_FORCE = 8, // run equivalent alternates too (to prove that they are)
  FF_LIST = 16,       // only log what would be tried
  FF_SAME = 32,       // replace at every later execution with the same operands too
  FF_RELATION = 128,  // with FF_SAME: operands of a comparison are the same if they relate alike
  FF_CHECK = 64,      // try the given mappings only, and log those that fail
  FF_ALWAYS = 256,    // with FF_SAME: at every later execution, whatever the operands
};

// What a byte of the table of active statements says.
enum ff_activity {
  FF_PASSIVE = 0,
  FF_ACTIVE = 1,
  FF_DONE = 2,       // it was active and has its IVMP
  FF_CONDITIONS = 3, // only conditions are searched
};

// How a candidate's value follows from what the site computes.
enum ff_change {
  FF_SET = 0, // it is the value
  FF_ADD = 1, // it is added, which inverts a condition
};

enum ff_status {
  FF_RUNNING = 0,
  FF_EXITED = 1,
  FF_OUT_OF_BUDGET = 2,
  FF_UNSAFE = 3,   // did something a snapshot cannot undo
  FF_TOO_LARGE = 4, // holds more memory than snapshots are worth
  FF_LOST = 5,     // the replacement's event had another site: the run is not repeatable
  FF_SEARCHED = 6,
};

// How values of a list compare, and how wide they are.
struct ff_type {
  uint8_t bits;
  uint8_t is_signed;
  uint8_t is_float;
  uint8_t pad;
};

struct ff_site {
  uint32_t statement;
  uint32_t first_list; // of the root's list; the leaves' lists follow
  struct ff_type type;
  uint8_t n_leaves; // with lists; 0 where the root is its own only leaf
  uint8_t pad[3];
};

// Values seen at a site's root or leaf: sorted, without duplicates.
struct ff_list {
  uint32_t first;
  uint32_t count;
  struct ff_type type;
  uint32_t pad;
};

struct ff_control_file {
  uint64_t magic;
  uint32_t mode;
  uint32_t flags;
  uint64_t budget;          // events of the whole run
  uint64_t replaced_budget; // events after a replacement
  uint64_t target_event;    // FF_REPLACE: counted from 1
  uint64_t target_value;
  uint32_t target_site;
  uint32_t n_sites;
  uint64_t memory_limit;
  int32_t expected_exit; // -1 for any that is not a signal
  uint32_t seconds;      // backstop for one replacement
  // Offsets into the control file.
  uint64_t coverage_at;
  uint64_t sites_at;
  uint64_t lists_at;
  uint64_t values_at;
  uint64_t active_at; // one byte per statement: enum ff_activity
  uint64_t stdout_at, stdout_size;
  uint64_t stderr_at, stderr_size; // size ~0: not compared
  uint64_t files_at, n_files;      // expected output files
  uint64_t mappings_at, n_mappings; // FF_CHECK: sorted by site
  uint64_t log_at, log_size;
  uint64_t file_size;
  // Written by the runtime.
  uint64_t events;
  uint32_t status;
  int32_t exit_code;
  uint64_t log_used;
  uint64_t log_lost; // records that did not fit
  uint64_t replacements;
  uint64_t equivalents; // alternates skipped because another one stood for them
  uint64_t crashes, hangs;
  uint64_t cut_short_at; // event after which no replacement could help any more
  uint32_t attached;     // processes that took the control file
  uint32_t pad;
};

_Static_assert(sizeof(struct ff_control_file) == 280 && offsetof(struct ff_control_file, events) == 200,
               "crates/rt/src/layout.rs says the same");

// A record of the profile: values seen together at one site.
struct ff_seen {
  uint32_t site;
  uint32_t n_leaves;
  uint64_t root;
  uint64_t leaves[];
};

// An IVMP.
struct ff_hit {
  uint32_t site;
  int32_t leaf; // -1 for the root itself
  uint64_t event;
  uint64_t instance; // how often the site had been executed, this time included
  uint64_t original, alternate; // of the root
  uint64_t leaf_original, leaf_alternate;
  uint32_t n_leaves;
  uint32_t relation;
  uint64_t change; // enum ff_change; what is added is `leaf_alternate`
  uint64_t leaves[];
};

// Operands and the value the site is to have for them.
struct ff_mapping {
  uint32_t site;
  uint32_t n_leaves;
  uint64_t root; // what the site computes by itself
  uint64_t value;
  uint64_t relation; // stands for the leaves where it is not 0
  uint64_t change;   // enum ff_change; `value` is set or added
  uint64_t leaves[FF_MAX_LEAVES];
};

// A file the test expects the program to write; the contents follow the name.
struct ff_expected_file {
  uint64_t name_size, size;
};

typedef uint64_t ff_evaluate(const uint64_t *leaves, uint8_t *trap);

// In a page of their own that is shared with firstfault; see `shared_section` in crates/run.
extern uint64_t ff_countdown;
extern uint64_t ff_leaves[FF_MAX_LEAVES];
extern uint64_t ff_relation; // of a comparison's operands; 0 where there is none
extern uint8_t ff_coverage[];
extern char ff_shared[], ff_shared_end[];

// What the runtime must find again after a replaced run that wrote everywhere: a page of
// its own, which nobody can write to once a search by snapshots has begun.
struct ff_guarded {
  struct ff_control_file *control;
  struct ff_search_state *state;
  struct ff_snapshot *snapshot;
  struct ff_saved_file *files;
};
#define FF_PAGE 4096
extern union ff_guarded_page {
  struct ff_guarded is;
  char page[FF_PAGE];
} ff_guarded;
#define ff_control ff_guarded.is.control
#define ff_state ff_guarded.is.state

// hook.c
void *ff_table(uint64_t at);
void *ff_log(size_t size);
_Noreturn void ff_stop(uint32_t status, int code);

// profile.c
void ff_profile(uint32_t site, uint64_t root);

// search.c
uint64_t ff_search(uint32_t site, uint64_t root, ff_evaluate *evaluate);
void ff_search_tick(void); // an event without a value
int ff_output_is_hopeless(void);
int ff_passes(int exited, int code);
void ff_search_prepare(void);

// candidates.c
uint64_t ff_relation_wanted(void); // the relation, where it stands for the operands
struct ff_candidate {
  uint64_t value;
  int32_t leaf;
  uint32_t change; // enum ff_change
  uint64_t leaf_alternate;
};
uint64_t ff_added(const struct ff_site *site, uint64_t root, uint64_t addend);
size_t ff_constant_changes(const struct ff_site *site, uint64_t root, struct ff_candidate *into,
                           size_t capacity);
size_t ff_mapped_candidates(uint32_t site, uint64_t root, struct ff_candidate *into, size_t capacity);
size_t ff_candidates(const struct ff_site *site, uint64_t root, ff_evaluate *evaluate,
                     struct ff_candidate *into, size_t capacity);

// snapshot.c, only in programs that can be snapshot
int ff_snapshot_prepare(void) __attribute__((weak));
_Noreturn void ff_snapshot_restore(void) __attribute__((weak));

// files.c
int ff_files_prepare(void) __attribute__((weak));
void ff_files_save(void) __attribute__((weak));
void ff_files_restore(void) __attribute__((weak));

// heap.c, only in programs that can be snapshot
#define FF_HEAP_RESERVED ((size_t)2 << 30)
extern size_t ff_heap_limit __attribute__((weak));
char *ff_heap_start(void);
char *ff_heap_end(void); // of what was ever handed out
