// The search for IVMPs inside one failing run: at each event, every candidate value is
// tried in a run of its own that starts there, and the run is then taken up again as if
// nothing had happened.

#include "search.h"

#include <sys/mman.h>

// Events between two looks at the output of a replaced run.
#define CHUNK 4096
// With FF_SPANNING: executions of a site that are all searched; of the later ones only those
// whose number is a power of two.
#define MANY_EXECUTIONS 500
// Operands told apart in one run; beyond, executions are passed over.
#define OPERAND_SLOTS (1u << 20)

static void *reserve(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    ff_stop(FF_TOO_LARGE, 0);
  return memory;
}

static size_t most_candidates(void) {
  const struct ff_site *sites = ff_table(ff_control->sites_at);
  const struct ff_list *lists = ff_table(ff_control->lists_at);
  size_t most = 0;
  for (uint32_t s = 0; s < ff_control->n_sites; ++s) {
    size_t count = 0;
    for (uint32_t l = 0; l <= sites[s].n_leaves; ++l)
      count += lists[sites[s].first_list + l].count;
    if (count > most)
      most = count;
  }
  return most;
}

void ff_search_prepare(void) {
  struct ff_search_state *state = reserve(sizeof *state);
  state->capacity = most_candidates() + ff_control->n_mappings + 4;
  state->candidates = reserve(state->capacity * sizeof *state->candidates);
  state->instances = reserve(ff_control->n_sites * sizeof *state->instances + 8);
  if (ff_control->flags & FF_SAME) {
    size_t size = OPERAND_SLOTS * sizeof *state->operands_seen;
    state->operands_seen = reserve(size);
    // Replaced runs have no use for it, and many touched pages make a fork slow.
    madvise(state->operands_seen, size, MADV_DONTFORK);
  }
  ff_state = state;
  if (ff_control->flags & FF_LIST)
    return;
  if (ff_control->flags & FF_FORK)
    ff_fork_prepare();
  else if (!ff_snapshot_prepare || !ff_snapshot_prepare())
    ff_stop(FF_UNSAFE, 0);
}

static void log_hits(size_t from, size_t to) {
  struct ff_search_state *state = ff_state;
  const struct ff_site *site = (const struct ff_site *)ff_table(ff_control->sites_at) + state->site;
  for (size_t i = from; i < to; ++i) {
    const struct ff_candidate *candidate = &state->candidates[i];
    struct ff_hit *hit = ff_log(sizeof *hit + site->n_leaves * sizeof(uint64_t));
    if (!hit)
      return;
    hit->site = state->site;
    hit->leaf = candidate->leaf;
    hit->event = ff_control->events;
    hit->instance = state->instances[state->site];
    hit->original = state->root;
    hit->alternate = candidate->value;
    hit->leaf_original = candidate->leaf < 0 ? state->root : state->leaves[candidate->leaf];
    hit->leaf_alternate = candidate->leaf_alternate;
    hit->n_leaves = site->n_leaves;
    hit->relation = state->relation;
    hit->change = candidate->change;
    for (uint32_t l = 0; l < site->n_leaves; ++l)
      hit->leaves[l] = state->leaves[l];
  }
}

static uint8_t *activity(void) {
  const struct ff_site *site = (const struct ff_site *)ff_table(ff_control->sites_at) + ff_state->site;
  return (uint8_t *)ff_table(ff_control->active_at) + site->statement;
}

// The candidates that one run decides: from `next` to the end of its equivalents.
static size_t end_of_class(size_t next) {
  size_t end = next + 1;
  // The same value here is not the same value at every later execution.
  if (!(ff_control->flags & (FF_BRUTE_FORCE | FF_ALWAYS)))
    while (end < ff_state->count && ff_state->candidates[end].value == ff_state->candidates[next].value)
      end++;
  return end;
}

// Notes how the replaced run ended.
void ff_judge(int exited, int code) {
  struct ff_search_state *state = ff_state;
  size_t from = state->next, to = end_of_class(from);
  ff_control->replacements++;
  ff_control->equivalents += to - from - 1;
  int passes = ff_passes(exited, code);
  if (passes != !!(ff_control->flags & FF_CHECK)) {
    log_hits(from, to);
    if (ff_control->flags & FF_FIRST)
      *activity() = FF_DONE;
  }
  state->next = to;
}

// Starts the run of the next candidate: its value is what the program goes on with.
static uint64_t begin_replaced(void) {
  struct ff_search_state *state = ff_state;
  state->is_replaced = 1;
  state->serial++;
  state->left = ff_control->replaced_budget;
  ff_countdown = ff_control->flags & FF_SAME ? 1 : CHUNK;
  return state->candidates[state->next].value;
}

static int has_next(void) { return ff_state->next < ff_state->count && *activity() != FF_DONE; }

static uint64_t explore_by_snapshot(void) {
  ff_files_save();
  if (ff_context_save(ff_state->context) == 0)
    ff_snapshot_take();
  // Comes back here after each replaced run.
  if (has_next())
    return begin_replaced();
  ff_state->is_replaced = 0;
  ff_countdown = 1;
  return ff_state->root;
}

static uint64_t list_only(void) {
  while (ff_state->next < ff_state->count) {
    log_hits(ff_state->next, ff_state->next + 1);
    ff_state->next = end_of_class(ff_state->next);
  }
  return ff_state->root;
}

static uint64_t explore_by_fork(void) {
  ff_fork_instance();
  while (has_next()) {
    if (ff_fork_child())
      return begin_replaced();
  }
  ff_countdown = 1;
  return ff_state->root;
}

// Takes events from the budget of a replaced run, and looks at its output now and then.
static void spend(uint64_t events) {
  struct ff_search_state *state = ff_state;
  if (state->left <= events) {
    ff_control->hangs++;
    ff_replaced_ended(0, 0);
  }
  state->left -= events;
  if (state->left % CHUNK < events) {
    state->serial++;
    if (ff_output_is_hopeless())
      ff_replaced_ended(0, 0);
  }
}

// Called every CHUNK events of a replaced run.
static void go_on_replaced(void) {
  spend(CHUNK);
  ff_countdown = CHUNK;
}

static void next_event(void) {
  if (++ff_control->events >= ff_control->budget)
    ff_stop(FF_SEARCHED, 0);
  ff_countdown = 1;
}

// Whether the site's operands are those the replacement was made for.
static int has_same_operands(uint32_t site, uint64_t root) {
  struct ff_search_state *state = ff_state;
  if (site != state->site)
    return 0;
  if (ff_control->flags & FF_ALWAYS)
    return 1;
  if (root != state->root)
    return 0;
  if (state->relation)
    return state->relation == ff_relation;
  const struct ff_site *info = (const struct ff_site *)ff_table(ff_control->sites_at) + site;
  for (uint32_t i = 0; i < info->n_leaves; ++i)
    if (ff_leaves[i] != state->leaves[i])
      return 0;
  return 1;
}

// An event of a replaced run in which every execution is looked at.
static uint64_t go_on_same(uint32_t site, uint64_t root) {
  spend(1);
  ff_countdown = 1;
  if (!has_same_operands(site, root))
    return root;
  const struct ff_candidate *candidate = &ff_state->candidates[ff_state->next];
  if (candidate->change == FF_SET)
    return candidate->value;
  const struct ff_site *info = (const struct ff_site *)ff_table(ff_control->sites_at) + site;
  return ff_added(info, root, candidate->leaf_alternate);
}

// Whether this is the first execution of the site with these operands.
static int is_first_with_operands(const struct ff_site *info, uint32_t site, uint64_t root) {
  if (ff_control->flags & FF_ALWAYS)
    return ff_state->instances[site] == 1;
  uint64_t hash = (site + 1) * 0x9e3779b97f4a7c15ull ^ root;
  hash ^= ff_relation_wanted() << 56;
  for (uint32_t i = 0; i < info->n_leaves && !ff_relation_wanted(); ++i)
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9ull ^ ff_leaves[i];
  hash = (hash ^ (hash >> 32)) * 0x94d049bb133111ebull | 1;
  uint64_t *slots = ff_state->operands_seen;
  for (uint32_t probe = 0; probe < 64; ++probe) {
    uint64_t *slot = &slots[((hash >> 24) + probe) & (OPERAND_SLOTS - 1)];
    if (*slot == hash)
      return 0;
    if (*slot == 0) {
      *slot = hash;
      return 1;
    }
  }
  return 0;
}

static int is_passed_over(uint64_t instance) {
  return (ff_control->flags & FF_SPANNING) && instance > MANY_EXECUTIONS &&
         (instance & (instance - 1)) != 0;
}

static size_t candidates_here(const struct ff_site *info, uint64_t root, ff_evaluate *evaluate) {
  struct ff_search_state *state = ff_state;
  if (ff_control->flags & FF_CHECK)
    return ff_mapped_candidates(state->site, root, state->candidates, state->capacity);
  if (ff_control->flags & FF_ALWAYS)
    return ff_constant_changes(info, root, state->candidates, state->capacity);
  return ff_candidates(info, root, evaluate, state->candidates, state->capacity);
}

uint64_t ff_search(uint32_t site, uint64_t root, ff_evaluate *evaluate) {
  struct ff_search_state *state = ff_state;
  if (state->is_replaced) {
    if (ff_control->flags & FF_SAME)
      return go_on_same(site, root);
    go_on_replaced();
    return root;
  }
  next_event();
  state->instances[site]++;
  state->site = site;
  const struct ff_site *info = (const struct ff_site *)ff_table(ff_control->sites_at) + site;
  uint8_t active = *activity();
  if (active != FF_ACTIVE && (active != FF_CONDITIONS || info->type.bits != 1))
    return root;
  if (is_passed_over(state->instances[site]))
    return root;
  // Where operands are to relate alike, sites that compare nothing have been searched before.
  if ((ff_control->flags & FF_RELATION) && ff_relation == 0)
    return root;
  if ((ff_control->flags & FF_SAME) && !is_first_with_operands(info, site, root))
    return root;
  state->count = candidates_here(info, root, evaluate);
  if (state->count == 0)
    return root;
  if (!(ff_control->flags & FF_LIST) && ff_output_is_hopeless()) {
    ff_control->cut_short_at = ff_control->events;
    ff_stop(FF_SEARCHED, 0);
  }
  state->next = 0;
  state->root = root;
  state->relation = ff_relation_wanted();
  for (int i = 0; i < FF_MAX_LEAVES; ++i)
    state->leaves[i] = ff_leaves[i];
  if (ff_control->flags & FF_LIST)
    return list_only();
  return ff_control->flags & FF_FORK ? explore_by_fork() : explore_by_snapshot();
}

// A loop without values, in either kind of run.
void ff_search_tick(void) {
  if (ff_state->is_replaced && (ff_control->flags & FF_SAME))
    go_on_same(UINT32_MAX, 0);
  else if (ff_state->is_replaced)
    go_on_replaced();
  else
    next_event();
}

_Noreturn void ff_replaced_ended(int exited, int code) {
  if (ff_control->flags & FF_FORK)
    ff_fork_end();
  ff_judge(exited, code);
  ff_snapshot_restore();
}
