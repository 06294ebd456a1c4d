// The value profile: which values were seen together at each site, each set once.

#include "rt.h"

#include <sys/mman.h>

// Fingerprints of the sets already in the log. Twice the size of what a log holds.
#define SLOTS (1u << 21)
// Sets kept per site and run: more would only repeat what these show.
#define PER_SITE 2048

static uint64_t *fingerprints;
static uint16_t *n_sets;

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccdull;
  return hash ^ (hash >> 32);
}

static void *reserve(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    ff_stop(FF_TOO_LARGE, 0);
  return memory;
}

void ff_profile(uint32_t site, uint64_t root) {
  if (!fingerprints) {
    fingerprints = reserve(SLOTS * sizeof *fingerprints);
    n_sets = reserve(ff_control->n_sites * sizeof *n_sets);
  }
  const struct ff_site *info = (const struct ff_site *)ff_table(ff_control->sites_at) + site;
  uint32_t n_leaves = info->n_leaves;
  uint64_t hash = mix(mix(1, site), root);
  for (uint32_t i = 0; i < n_leaves; ++i)
    hash = mix(hash, ff_leaves[i]);
  hash |= 1; // 0 is the empty slot
  uint32_t slot = (hash >> 20) & (SLOTS - 1);
  for (; fingerprints[slot]; slot = (slot + 1) & (SLOTS - 1))
    if (fingerprints[slot] == hash)
      return;
  if (n_sets[site] >= PER_SITE) {
    ff_control->log_lost++;
    return;
  }
  struct ff_seen *record = ff_log(sizeof *record + n_leaves * sizeof(uint64_t));
  if (!record)
    return;
  fingerprints[slot] = hash;
  n_sets[site]++;
  record->site = site;
  record->n_leaves = n_leaves;
  record->root = root;
  for (uint32_t i = 0; i < n_leaves; ++i)
    record->leaves[i] = ff_leaves[i];
}
