// The baton: which thread runs, and what becomes of the others meanwhile.

#define _GNU_SOURCE
#include "threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREAD_STACKS 0x070010000000ull // behind the first thread's
#define THREAD_STACK (8ull << 20)
#define SEGMENTS_AT 0x0b0000000000ull
#define MAX_SEGMENTS (64u << 20)
#define STEP_NANOSECONDS 20 // of virtual time

struct ff_thread ff_threads[FF_MAX_THREADS];
uint32_t ff_n_threads = 1, ff_current;
uint64_t ff_total_steps, ff_virtual_time;
uint64_t ff_steps_left = UINT64_MAX;
int ff_has_threads;

static uint64_t granted = UINT64_MAX, tickets;

// Which thread the events of a run belong to: the last segment that begins before one.
struct segment {
  uint32_t count, thread, events;
};
static struct segment *const segments = (struct segment *)SEGMENTS_AT;
static uint32_t n_segments;

static void begin_segment(void) {
  if (n_segments < MAX_SEGMENTS)
    segments[n_segments++] = (struct segment){ff_count, ff_current, ff_threads[ff_current].events};
}

struct ff_event ff_event_of(uint32_t count) {
  if (n_segments == 0)
    return (struct ff_event){0, count};
  uint32_t low = 0, high = n_segments;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (segments[middle].count < count)
      low = middle;
    else
      high = middle;
  }
  return (struct ff_event){segments[low].thread, segments[low].events + (count - segments[low].count)};
}

uint32_t ff_thread(void) { return ff_current; }

// What the running thread has done since it was last asked.
static void charge(void) {
  uint64_t done = granted - ff_steps_left;
  ff_threads[ff_current].steps += done;
  ff_total_steps += done;
  ff_virtual_time += done * STEP_NANOSECONDS;
  granted = ff_steps_left;
}

static void grant(void) { granted = ff_steps_left = ff_is_watching ? 1 : ff_quota(); }

static void save(struct ff_thread *self) {
  memcpy(self->args, ff_args, sizeof ff_args);
  memcpy(self->values, ff_values, sizeof ff_values);
  memcpy(self->kinds, ff_kinds, sizeof self->kinds);
  memcpy(self->at, ff_at, sizeof ff_at);
  self->ret = ff_ret, self->predicate = ff_predicate, self->sp = ff_sp, self->site = ff_site;
  self->depth = ff_depth, self->called_from = ff_called_from;
  if (FF_TRACKING)
    memcpy(self->calls, ff_calls, (ff_depth < 4096 ? ff_depth : 4096) * 2 * sizeof *ff_calls);
  self->events = ff_labels_events();
}

static void restore(const struct ff_thread *next) {
  memcpy(ff_args, next->args, sizeof ff_args);
  memcpy(ff_values, next->values, sizeof ff_values);
  memcpy(ff_kinds, next->kinds, sizeof next->kinds);
  memcpy(ff_at, next->at, sizeof ff_at);
  ff_ret = next->ret, ff_predicate = next->predicate, ff_sp = next->sp, ff_site = next->site;
  ff_depth = next->depth, ff_called_from = next->called_from;
  if (FF_TRACKING)
    memcpy(ff_calls, next->calls, (ff_depth < 4096 ? ff_depth : 4096) * 2 * sizeof *ff_calls);
}

static void let_run(struct ff_thread *next) {
  __atomic_store_n(&next->turn, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &next->turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void await_turn(struct ff_thread *self) {
  while (__atomic_load_n(&self->turn, __ATOMIC_SEQ_CST) == 0)
    syscall(SYS_futex, &self->turn, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  __atomic_store_n(&self->turn, 0, __ATOMIC_SEQ_CST);
}

static void hand_over(uint32_t to) {
  struct ff_thread *self = &ff_threads[ff_current], *next = &ff_threads[to];
  ff_record_switch(ff_current, to);
  save(self);
  ff_current = to;
  restore(next);
  ff_labels_switch(to, next->events);
  begin_segment();
  if (next->state != FF_READY)
    next->has_timed_out = next->state == FF_TIMED;
  // Who is woken early has slept as long as it wanted.
  if ((next->state == FF_TIMED || next->state == FF_SLEEPING) && next->until > ff_virtual_time)
    ff_virtual_time = next->until;
  next->state = FF_READY;
  int is_done = self->state == FF_DONE;
  grant();
  let_run(next);
  if (!is_done)
    await_turn(self);
}

static int is_descriptor_ready(const struct ff_thread *thread) {
  struct pollfd fd = {thread->fd, (short)thread->fd_events, 0};
  return poll(&fd, 1, 0) != 0;
}

int ff_is_ready(uint32_t thread) {
  const struct ff_thread *t = &ff_threads[thread];
  if (t->state == FF_TIMED || t->state == FF_SLEEPING)
    return t->until <= ff_virtual_time;
  return t->state == FF_READY || (t->state == FF_POLLING && is_descriptor_ready(t));
}

// Who could run instead of the running thread; sleeping takes as long as it takes.
void ff_ready_set(uint64_t *set) {
  for (uint32_t i = 0; i < ff_n_threads; ++i)
    if (i != ff_current && (ff_is_ready(i) || ff_threads[i].state == FF_SLEEPING))
      set[i / 64] |= 1ull << i % 64;
}

static int is_anybody(enum ff_state state) {
  for (uint32_t i = 0; i < ff_n_threads; ++i)
    if (ff_threads[i].state == state)
      return 1;
  return 0;
}

// Time passes where nobody has anything else to do.
static int pass_time(void) {
  uint64_t first = UINT64_MAX;
  for (uint32_t i = 0; i < ff_n_threads; ++i) {
    const struct ff_thread *t = &ff_threads[i];
    if ((t->state == FF_TIMED || t->state == FF_SLEEPING) && t->until < first)
      first = t->until;
  }
  if (is_anybody(FF_POLLING)) {
    struct pollfd fds[FF_MAX_THREADS];
    unsigned n = 0;
    for (uint32_t i = 0; i < ff_n_threads; ++i)
      if (ff_threads[i].state == FF_POLLING)
        fds[n++] = (struct pollfd){ff_threads[i].fd, (short)ff_threads[i].fd_events, 0};
    // The outside world gets a moment before sleepers go on.
    if (poll(fds, n, first == UINT64_MAX ? -1 : 1) > 0)
      return 1;
  }
  if (first == UINT64_MAX)
    return 0;
  if (first > ff_virtual_time)
    ff_virtual_time = first;
  return 1;
}

// The running thread may or must let others run.
static void reschedule(int can_go_on) {
  for (;;) {
    uint32_t next = ff_choose(can_go_on);
    if (next != UINT32_MAX) {
      if (next != ff_current)
        hand_over(next);
      else if (ff_threads[next].state != FF_READY) {
        ff_threads[next].has_timed_out = ff_threads[next].state == FF_TIMED;
        ff_threads[next].state = FF_READY;
      }
      break;
    }
    int is_over = 1;
    for (uint32_t i = 0; i < ff_n_threads; ++i)
      is_over &= ff_threads[i].state == FF_DONE;
    if (is_over)
      return;
    if (!pass_time()) {
      ff_describe_waits();
      ff_fail(FF_DEADLOCK, 0);
    }
  }
}

void ff_sync_quietly(void) {
  charge();
  ff_threads[ff_current].syncs++;
  ff_threads[ff_current].steps = 0;
  // A step as well: who only synchronises must not run for ever.
  ff_total_steps++;
  ff_virtual_time += STEP_NANOSECONDS;
  ff_see_second();
  grant();
}

void ff_sync(void) {
  if (!ff_has_threads)
    return;
  ff_sync_quietly();
  reschedule(1);
  grant();
}

// What instrumented code and stand-ins call when the steps are used up: before the access.
static void step(const void *address, size_t size, int is_write, int is_atomic, uint32_t site) {
  charge();
  if (!ff_has_threads) {
    ff_see_second();
    if (ff_is_watching && address)
      ff_see_access(address, size, is_write, is_atomic, site);
    grant();
    return;
  }
  ff_see_second();
  reschedule(1);
  if (ff_is_watching && address)
    ff_see_access(address, size, is_write, is_atomic, site);
  grant();
}

__attribute__((preserve_most)) void ff_step(const void *address, uint32_t info, uint32_t site) {
  step(address, info & ~FF_IS_WRITE, (info & FF_IS_WRITE) != 0, 0, site);
}

void ff_note_access(const void *address, size_t size, int is_write) {
  step(address, size, is_write, 0, ff_site);
}

// Of an atomic access: bits of `order` say acquire (1), release (2), write (4).
__attribute__((preserve_most)) void ff_atomic(const void *address, uint32_t size, uint32_t order, uint32_t site) {
  ff_sync();
  if (ff_is_watching) {
    if (address)
      ff_see_access(address, size, (order & 4) != 0, 1, site);
    if (order & 1)
      ff_acquire(address);
    if (order & 2)
      ff_release(address);
  }
}

// Every place where threads may change has a position of its own.
static void next_position(void) {
  charge();
  ff_threads[ff_current].syncs++;
  ff_threads[ff_current].steps = 0;
}

static void block(enum ff_state state, const void *object, enum ff_wait_kind kind) {
  struct ff_thread *self = &ff_threads[ff_current];
  next_position();
  ff_see_second();
  self->state = state;
  self->waits_for = object;
  self->wait_kind = kind;
  self->wait_site = ff_site;
  self->has_timed_out = 0;
  self->ticket = ++tickets;
  reschedule(0);
  self->waits_for = NULL;
  grant();
}

void ff_wait_for(const void *object, enum ff_wait_kind kind) { block(FF_BLOCKED, object, kind); }

int ff_wait_until(const void *object, enum ff_wait_kind kind, uint64_t nanoseconds) {
  uint32_t self = ff_current;
  ff_threads[self].until = ff_virtual_time + nanoseconds;
  block(FF_TIMED, object, kind);
  return ff_threads[self].has_timed_out;
}

void ff_sleep(uint64_t nanoseconds) {
  if (!ff_has_threads)
    return;
  ff_sync_quietly();
  ff_threads[ff_current].until = ff_virtual_time + nanoseconds;
  block(FF_SLEEPING, NULL, FF_ON_CONDITION);
}

void ff_yield(void) {
  if (!ff_has_threads)
    return;
  ff_sync_quietly();
  ff_policy_yields(ff_current);
  reschedule(1);
  grant();
}

void ff_wait_descriptor(int fd, int events) {
  if (!ff_has_threads)
    return;
  struct pollfd ready = {fd, (short)events, 0};
  ff_sync();
  if (poll(&ready, 1, 0) != 0)
    return;
  ff_threads[ff_current].fd = fd;
  ff_threads[ff_current].fd_events = events;
  block(FF_POLLING, NULL, FF_ON_CONDITION);
}

void ff_wake_all(const void *object) {
  for (uint32_t i = 0; i < ff_n_threads; ++i) {
    struct ff_thread *t = &ff_threads[i];
    if ((t->state == FF_BLOCKED || t->state == FF_TIMED) && t->waits_for == object)
      t->state = FF_READY;
  }
}

void ff_wake_one(const void *object) {
  struct ff_thread *first = NULL;
  for (uint32_t i = 0; i < ff_n_threads; ++i) {
    struct ff_thread *t = &ff_threads[i];
    if ((t->state == FF_BLOCKED || t->state == FF_TIMED) && t->waits_for == object && (!first || t->ticket < first->ticket))
      first = t;
  }
  if (first)
    first->state = FF_READY;
}

void ff_wake(uint32_t thread) {
  uint32_t state = ff_threads[thread].state;
  if (state == FF_BLOCKED || state == FF_TIMED || state == FF_SLEEPING)
    ff_threads[thread].state = FF_READY;
}

static int reserve(uint64_t at, uint64_t size) {
  return mmap((void *)at, size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == (void *)at;
}

static uint64_t *room_for_calls(void) {
  void *room = mmap(NULL, sizeof ff_calls, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room == MAP_FAILED ? NULL : room;
}

uint32_t ff_begin_thread(void) {
  charge();
  if (!ff_has_threads) {
    if (!reserve(SEGMENTS_AT, (uint64_t)MAX_SEGMENTS * sizeof *segments) || !(ff_threads[0].calls = room_for_calls()))
      return FF_MAX_THREADS;
    ff_has_threads = 1;
    ff_threads[0].id = pthread_self();
    segments[n_segments++] = (struct segment){0, 0, 0};
    ff_policy_new(0);
  }
  if (ff_n_threads == FF_MAX_THREADS)
    return FF_MAX_THREADS;
  uint32_t thread = ff_n_threads;
  struct ff_thread *t = &ff_threads[thread];
  uint64_t stack = THREAD_STACKS + thread * THREAD_STACK;
  // With a gap below, for overflows to fail in.
  if (!reserve(stack + 65536, THREAD_STACK - 65536) || !(t->calls = room_for_calls()))
    return FF_MAX_THREADS;
  t->sp = stack + THREAD_STACK - 4096;
  t->state = FF_READY;
  ff_n_threads++;
  ff_policy_new(thread);
  return thread;
}

void ff_first_turn(struct ff_thread *self) { await_turn(self); }

void ff_end_thread(void) {
  struct ff_thread *self = &ff_threads[ff_current];
  next_position();
  ff_see_second();
  self->state = FF_DONE;
  ff_release(self);
  ff_wake_all(self);
  reschedule(0);
}

void ff_threads_note(void) {
  ff_see_second();
  ff_crash->thread = ff_current;
  ff_crash->n_threads = ff_n_threads;
  charge();
  ff_crash->steps = ff_total_steps;
}
