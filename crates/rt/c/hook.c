// The slow path of the hooks: what happens when the countdown reaches zero.

#include "rt.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROL_VARIABLE "FIRSTFAULT_CONTROL="

__attribute__((aligned(FF_PAGE))) union ff_guarded_page ff_guarded;

void *ff_table(uint64_t at) { return (char *)ff_control + at; }

// Room for a record in the log, or null when it is full.
void *ff_log(size_t size) {
  size = (size + 7) & ~(size_t)7;
  if (ff_control->log_used + size > ff_control->log_size) {
    ff_control->log_lost++;
    return NULL;
  }
  void *record = ff_table(ff_control->log_at + ff_control->log_used);
  ff_control->log_used += size;
  return record;
}

// Ends the process at once; whoever reads the control file learns why.
_Noreturn void ff_stop(uint32_t status, int code) {
  ff_control->status = status;
  ff_control->exit_code = code;
  // Not _exit(), which the snapshot runtime replaces.
  kill(getpid(), SIGKILL);
  for (;;)
    pause();
}

static void leave_no_trace(char **environment, char *entry) {
  for (; *environment; ++environment)
    if (*environment == entry)
      for (; *environment; ++environment)
        *environment = environment[1];
}

// The control file over the page of counters and coverage, so that both survive a crash.
static int attach(const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0)
    return 0;
  struct ff_control_file *control =
      mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (control == MAP_FAILED || control->magic != FF_MAGIC ||
      control->file_size != (uint64_t)status.st_size) {
    close(fd);
    return 0;
  }
  size_t size = ff_shared_end - ff_shared;
  int is_mapped = mmap(ff_shared, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                       control->coverage_at) != MAP_FAILED;
  close(fd);
  if (is_mapped)
    ff_control = control;
  return is_mapped;
}

__attribute__((constructor(101))) static void start(int argc, char **argv, char **environment) {
  (void)argc, (void)argv;
  ff_countdown = UINT64_MAX;
  size_t prefix = strlen(CONTROL_VARIABLE);
  char *entry = NULL;
  for (char **e = environment; *e; ++e)
    if (strncmp(*e, CONTROL_VARIABLE, prefix) == 0)
      entry = *e;
  if (!entry || !attach(entry + prefix))
    return;
  leave_no_trace(environment, entry);
  if (__atomic_fetch_add(&ff_control->attached, 1, __ATOMIC_RELAXED) > 0) {
    // A script started the program again: only the first run is looked at.
    ff_control = NULL;
    ff_countdown = UINT64_MAX;
    return;
  }
  if (&ff_heap_limit && ff_control->memory_limit)
    ff_heap_limit = ff_control->memory_limit;
  switch (ff_control->mode) {
  case FF_REPLACE:
    ff_countdown = ff_control->target_event;
    break;
  case FF_SEARCH:
    ff_search_prepare();
    ff_countdown = 1;
    break;
  case FF_PROFILE:
    ff_countdown = 1;
    break;
  default:
    ff_countdown = ff_control->budget;
  }
}

static void out_of_budget(void) {
  if (ff_control)
    ff_stop(FF_OUT_OF_BUDGET, 0);
}

// Gives the program one more event while every event is looked at.
static void next_event(void) {
  if (++ff_control->events >= ff_control->budget)
    ff_stop(FF_OUT_OF_BUDGET, 0);
  ff_countdown = 1;
}

static uint64_t replace(uint32_t site, uint64_t root) {
  if (ff_control->events > 0) // The replacement lies behind us.
    out_of_budget();
  ff_control->events = ff_control->target_event;
  if (site != ff_control->target_site)
    ff_stop(FF_LOST, 0);
  (void)root;
  ff_countdown = ff_control->replaced_budget;
  return ff_control->target_value;
}

__attribute__((preserve_most)) uint64_t ff_event(uint32_t site, uint64_t root,
                                                 ff_evaluate *evaluate) {
  if (!ff_control) {
    ff_countdown = UINT64_MAX;
    return root;
  }
  switch (ff_control->mode) {
  case FF_PROFILE:
    ff_profile(site, root);
    next_event();
    return root;
  case FF_REPLACE:
    return replace(site, root);
  case FF_SEARCH:
    return ff_search(site, root, evaluate);
  default:
    out_of_budget();
    return root;
  }
}

__attribute__((preserve_most)) void ff_tick(void) {
  if (!ff_control) {
    ff_countdown = UINT64_MAX;
    return;
  }
  switch (ff_control->mode) {
  case FF_PROFILE:
    next_event();
    return;
  case FF_REPLACE:
    if (ff_control->events == 0)
      ff_stop(FF_LOST, 0);
    out_of_budget();
    return;
  case FF_SEARCH:
    ff_search_tick();
    return;
  default:
    out_of_budget();
  }
}
