// Which thread runs next.
//
// In turn: a thread runs until it waits or has had its share. Priorities: the ready thread of
// the highest one runs, and at a few random steps the running thread's becomes the lowest
// (Burckhardt et al., A randomized scheduler with probabilistic guarantees of finding bugs).
// Random: after random numbers of steps a random thread runs. Replay: as recorded.

#include "threads.h"

#define SHARE 20000
#define MAX_CHANGES 8

static uint64_t random_state;
static uint64_t changes[MAX_CHANGES]; // steps at which priorities change
static uint32_t next_change;
static uint64_t lowest = 1u << 20; // priorities that were lowered lie below all others
static uint64_t share_end, burst_end;
static uint32_t next_entry; // of the schedule
static int is_holding, was_held;
static int is_yielding;

static uint64_t draw(void) { // splitmix64
  uint64_t z = random_state += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

static enum ff_policy policy(void) { return ff_crash ? (enum ff_policy)ff_crash->policy : FF_IN_TURN; }

static uint64_t burst(void) {
  // From single steps to long stretches, as the seed has it.
  uint64_t mean = 1ull << ff_crash->seed / 2 % 12;
  return ff_total_steps + 1 + draw() % (2 * mean);
}

void ff_policy_new(uint32_t thread) {
  if (thread == 0) {
    share_end = SHARE;
    if (policy() == FF_PRIORITIES || policy() == FF_RANDOM) {
      random_state = ff_crash->seed;
      uint32_t n = ff_crash->n_changes < MAX_CHANGES ? ff_crash->n_changes : MAX_CHANGES;
      for (uint32_t i = 0; i < n; ++i)
        changes[i] = ff_total_steps + 1 + draw() % (ff_crash->horizon ? ff_crash->horizon : 1);
      for (uint32_t i = n; i < MAX_CHANGES; ++i)
        changes[i] = UINT64_MAX;
      for (uint32_t i = 1; i < n; ++i)
        for (uint32_t k = i; k > 0 && changes[k] < changes[k - 1]; --k) {
          uint64_t later = changes[k - 1];
          changes[k - 1] = changes[k];
          changes[k] = later;
        }
    }
    if (policy() == FF_RANDOM)
      burst_end = burst();
  }
  if (policy() == FF_PRIORITIES)
    ff_threads[thread].priority = (draw() >> 1 | 1ull << 62);
}

void ff_policy_yields(uint32_t thread) {
  is_yielding = 1;
  if (policy() == FF_PRIORITIES)
    ff_threads[thread].priority = --lowest;
}

void ff_record_switch(uint32_t from, uint32_t to) {
  if (!ff_crash || !ff_crash->recorded_at)
    return;
  if (ff_crash->n_recorded == ff_crash->recorded_room)
    ff_fail(FF_TOO_LONG, 0);
  struct ff_switch *entries = (struct ff_switch *)((char *)ff_crash + ff_crash->recorded_at);
  entries[ff_crash->n_recorded++] = (struct ff_switch){from, to, ff_threads[from].syncs, ff_threads[from].steps};
}

// The thread after that one, round about; `skip` only where there is no other.
static uint32_t next_ready(uint32_t after, uint32_t skip) {
  for (uint32_t i = 1; i <= ff_n_threads; ++i) {
    uint32_t thread = (after + i) % ff_n_threads;
    if (thread != skip && ff_is_ready(thread))
      return thread;
  }
  return skip != UINT32_MAX && ff_is_ready(skip) ? skip : UINT32_MAX;
}

static uint32_t in_turn(int can_go_on) {
  if (can_go_on && !is_yielding && ff_total_steps < share_end)
    return ff_current;
  uint32_t chosen = next_ready(ff_current, UINT32_MAX);
  share_end = ff_total_steps + SHARE;
  return chosen;
}

static uint32_t by_priority(int can_go_on) {
  // A thread that waits in a loop for another must not keep it from running for ever.
  int is_greedy = can_go_on && ff_total_steps >= share_end;
  while ((next_change < MAX_CHANGES && ff_total_steps >= changes[next_change]) || is_greedy) {
    ff_threads[ff_current].priority = --lowest;
    next_change += !is_greedy;
    share_end = ff_total_steps + SHARE;
    is_greedy = 0;
  }
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < ff_n_threads; ++i)
    if (ff_is_ready(i) && (best == UINT32_MAX || ff_threads[i].priority > ff_threads[best].priority))
      best = i;
  if (best != ff_current)
    share_end = ff_total_steps + SHARE;
  return best;
}

static uint32_t at_random(int can_go_on) {
  if (can_go_on && !is_yielding && ff_total_steps < burst_end)
    return ff_current;
  uint32_t ready[FF_MAX_THREADS], n = 0;
  for (uint32_t i = 0; i < ff_n_threads; ++i)
    if (ff_is_ready(i) && !(is_yielding && i == ff_current))
      ready[n++] = i;
  burst_end = burst();
  if (n == 0)
    return can_go_on ? ff_current : UINT32_MAX;
  return ready[draw() % n];
}

static const struct ff_switch *entry_for(uint32_t thread) {
  const struct ff_switch *entries = (const struct ff_switch *)((char *)ff_crash + ff_crash->schedule_at);
  // Entries of another thread mean that this run has left the recorded one: go on where the
  // thread that runs comes up again.
  uint32_t entry = next_entry;
  while (entry < ff_crash->n_schedule && entries[entry].from != thread)
    entry++;
  if (entry == ff_crash->n_schedule)
    return NULL;
  next_entry = entry;
  return &entries[entry];
}

static int is_due(const struct ff_switch *entry, const struct ff_thread *thread) {
  return thread->syncs > entry->syncs || (thread->syncs == entry->syncs && thread->steps >= entry->steps);
}

static uint32_t replayed(int can_go_on) {
  const struct ff_switch *entry = entry_for(ff_current);
  if (!entry)
    return in_turn(can_go_on);
  if (can_go_on && !is_due(entry, &ff_threads[ff_current]))
    return ff_current;
  next_entry++;
  // Whoever waits for time or for the outside world had waited long enough.
  if (entry->to < ff_n_threads && ff_threads[entry->to].state != FF_BLOCKED && ff_threads[entry->to].state != FF_DONE)
    return entry->to;
  return can_go_on ? ff_current : next_ready(ff_current, UINT32_MAX);
}

// Of those that sleep, who is to wake first.
static uint32_t first_sleeper(uint32_t skip) {
  uint32_t first = UINT32_MAX;
  for (uint32_t i = 0; i < ff_n_threads; ++i)
    if (i != skip && ff_threads[i].state == FF_SLEEPING &&
        (first == UINT32_MAX || ff_threads[i].until < ff_threads[first].until))
      first = i;
  return first;
}

// Another thread runs in place of the one that was about to do the first access of a race,
// until the second has happened.
static uint32_t altered(int can_go_on) {
  const struct ff_thread *self = &ff_threads[ff_current];
  if (!was_held && ff_current == ff_crash->held && self->syncs == ff_crash->held_syncs &&
      self->steps == ff_crash->held_steps) {
    was_held = is_holding = 1;
    uint32_t instead = ff_crash->instead;
    if (instead < ff_n_threads && (ff_is_ready(instead) || ff_threads[instead].state == FF_SLEEPING))
      return instead;
  }
  if (ff_is_second_done())
    is_holding = 0;
  if (!was_held)
    return replayed(can_go_on);
  if (can_go_on && !is_yielding && ff_total_steps < share_end && !(is_holding && ff_current == ff_crash->held))
    return ff_current;
  share_end = ff_total_steps + SHARE;
  uint32_t skip = is_holding ? ff_crash->held : UINT32_MAX;
  uint32_t next = next_ready(ff_current, skip);
  if (next != UINT32_MAX && next != skip)
    return next;
  uint32_t sleeper = first_sleeper(skip);
  return sleeper == UINT32_MAX ? next : sleeper;
}

uint32_t ff_choose(int can_go_on) {
  uint32_t chosen;
  if (ff_crash && ff_crash->is_altered)
    chosen = altered(can_go_on);
  else if (policy() == FF_REPLAY)
    chosen = replayed(can_go_on);
  else if (policy() == FF_PRIORITIES)
    chosen = by_priority(can_go_on);
  else if (policy() == FF_RANDOM)
    chosen = at_random(can_go_on);
  else
    chosen = in_turn(can_go_on);
  is_yielding = 0;
  return chosen;
}

static uint64_t until(uint64_t step) { return step > ff_total_steps ? step - ff_total_steps : 1; }

uint64_t ff_quota(void) {
  if (!ff_has_threads)
    return UINT64_MAX;
  if (ff_crash && ff_crash->is_altered)
    return 1;
  uint64_t quota = until(share_end);
  if (policy() == FF_PRIORITIES && next_change < MAX_CHANGES && until(changes[next_change]) < quota)
    quota = until(changes[next_change]);
  if (policy() == FF_RANDOM)
    quota = until(burst_end);
  if (policy() == FF_REPLAY) {
    const struct ff_thread *self = &ff_threads[ff_current];
    const struct ff_switch *entry = entry_for(ff_current);
    if (entry && entry->syncs == self->syncs)
      quota = entry->steps > self->steps ? entry->steps - self->steps : 1;
    else if (entry)
      quota = entry->syncs > self->syncs ? UINT64_MAX : 1;
  }
  return quota;
}
