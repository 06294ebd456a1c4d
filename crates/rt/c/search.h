// The state of a search, outside the memory that snapshots cover.
#pragma once

#include "rt.h"

struct ff_context {
  uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
  uint32_t mxcsr;
  uint16_t x87;
};

struct ff_search_state {
  struct ff_context context[1];
  struct ff_candidate *candidates;
  size_t capacity, count, next;
  uint64_t *instances; // executions of each site so far
  uint64_t root;
  uint64_t leaves[FF_MAX_LEAVES];
  uint64_t relation;
  uint64_t left;   // events the replaced run may still take
  uint64_t serial; // grows while there is progress; the backstop timer watches it
  uint64_t verified; // bytes of standard output known to be as expected
  uint64_t *operands_seen; // FF_SAME: fingerprints of sites with their operands
  uint32_t site;
  int is_replaced;
  int64_t offsets[3], sizes[3]; // of the standard streams; output.c
};

void ff_judge(int exited, int code);
_Noreturn void ff_replaced_ended(int exited, int code);

// snapshot.c
__attribute__((returns_twice, weak)) int ff_context_save(struct ff_context *context);
void ff_snapshot_take(void) __attribute__((weak));

// fork.c
void ff_fork_prepare(void);
void ff_fork_instance(void); // before the children of an instance
int ff_fork_child(void); // 1 in the child, 0 in the parent when the child is judged
_Noreturn void ff_fork_end(void);

// output.c
void ff_offsets_save(void);
void ff_offsets_restore(void);
