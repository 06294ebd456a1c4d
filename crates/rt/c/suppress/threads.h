// Threads of the program under test. One runs at a time; it hands the baton on where it
// synchronises or touches shared memory, as the schedule wants it.
#pragma once

#include "suppress.h"

#include <pthread.h>
#include <time.h>

enum ff_state {
  FF_READY,
  FF_BLOCKED,  // until somebody wakes it
  FF_TIMED,    // likewise, or until its time has come
  FF_SLEEPING, // until its time has come
  FF_POLLING,  // until its descriptor is ready
  FF_DONE,
};

struct ff_thread {
  int turn; // a futex: 1 where it may run
  uint32_t state;
  const void *waits_for;
  uint32_t wait_kind, wait_site;
  uint64_t ticket; // who waits longest has the smallest
  uint64_t until; // of virtual time
  int has_timed_out;
  int fd, fd_events;
  // How far it has come.
  uint32_t syncs, steps; // steps since the last synchronisation
  uint32_t events;
  uint64_t priority;
  pthread_t id;
  int is_joined, n_destructors;
  void *(*run)(void *);
  void *argument;
  // What instrumented code keeps in variables of the runtime.
  ff_label args[FF_MAX_ARGS], ret, predicate;
  uint64_t values[FF_MAX_ARGS];
  uint8_t kinds[FF_MAX_ARGS];
  uint64_t sp, at[4];
  uint32_t site, depth, called_from;
  uint64_t *calls;
  uint32_t clock[FF_MAX_THREADS];
};

extern struct ff_thread ff_threads[FF_MAX_THREADS];
extern uint32_t ff_n_threads, ff_current;
extern uint64_t ff_total_steps, ff_virtual_time;

// baton.c
uint32_t ff_begin_thread(void); // a place for a new one; of FF_MAX_THREADS none is left
void ff_sync(void);             // the running thread synchronises: others may run
void ff_sync_quietly(void);     // likewise, but it goes on
void ff_wait_for(const void *object, enum ff_wait_kind kind);
int ff_wait_until(const void *object, enum ff_wait_kind kind, uint64_t nanoseconds); // 0: woken
void ff_sleep(uint64_t nanoseconds);
void ff_wake_all(const void *object);
void ff_wake_one(const void *object); // who waits longest
void ff_wake(uint32_t thread);
void ff_end_thread(void);
void ff_first_turn(struct ff_thread *self);
int ff_watch_stack(void);
void ff_yield(void);
int ff_is_ready(uint32_t thread);
void ff_ready_set(uint64_t *set);

// policy.c
uint32_t ff_choose(int can_go_on); // who runs now
uint64_t ff_quota(void);           // steps until it has to be asked again
void ff_policy_new(uint32_t thread);
void ff_policy_yields(uint32_t thread);
void ff_record_switch(uint32_t from, uint32_t to);

// races.c
extern int ff_is_watching;
void ff_acquire(const void *object);
void ff_release(const void *object);
void ff_clock_forked(uint32_t child);
void ff_clock_joined(uint32_t child);
void ff_see_access(const void *address, size_t size, int is_write, int is_atomic, uint32_t site);
void ff_see_second(void);
int ff_is_second_done(void);

// objects of synchronisation, locks.c
struct ff_sync_state {
  const void *object;
  uint32_t holder, holder_site; // thread + 1
  uint32_t count, arrived, generation;
  uint32_t once; // 1 while it runs, 2 afterwards
};
struct ff_sync_state *ff_sync_of(const void *object);
int ff_sync_is_skipped(unsigned count); // by corrupt arguments, or suppressed
uint64_t ff_nanoseconds_until(int clock, const struct timespec *time);
void ff_describe_waits(void);
