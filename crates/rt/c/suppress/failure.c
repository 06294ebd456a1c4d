// Start and end of a run, and what is known where it fails.

#define _GNU_SOURCE
#include "suppress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROL_VARIABLE "FIRSTFAULT_CONTROL="

struct ff_crash_file *ff_crash;

void ff_output_ended(void);

// Where the event behind a culprit was, before the log is gone.
static void trace(unsigned index) {
#if FF_TRACKING
  uint32_t count = ff_crash->culprits[index].label & ~FF_CORRUPT;
  if (count == 0 || count + FF_LOG_ENTRIES <= ff_count)
    return;
  struct ff_definition *definition = &ff_crash->definitions[index];
  uint64_t entry = FF_LOG[count & (FF_LOG_ENTRIES - 1)];
  definition->store = ff_event_of(count);
  definition->store_site = (uint32_t)entry & ~FF_HANDED_ON;
  // Back to where the value came from.
  while (entry & FF_HANDED_ON) {
    uint32_t origin = entry >> 32 & ~FF_CORRUPT;
    if (origin == 0 || origin >= count || origin + FF_LOG_ENTRIES <= ff_count)
      break;
    count = origin;
    entry = FF_LOG[count & (FF_LOG_ENTRIES - 1)];
  }
  definition->event = ff_event_of(count);
  definition->site = (uint32_t)entry & ~FF_HANDED_ON;
  definition->order = count;
#else
  (void)index;
#endif
}

void ff_blame(ff_label label, uint32_t role, uint64_t value) {
  if (!ff_crash || ff_crash->n_culprits == FF_MAX_CULPRITS)
    return;
  unsigned index = ff_crash->n_culprits++;
  ff_crash->culprits[index] = (struct ff_culprit){label, role, value};
  trace(index);
}

// The system says whether it can read there, and nothing happens if not.
static int is_readable(uint64_t address) {
  return access((const char *)address, F_OK) == 0 || errno != EFAULT;
}

// Pointers that lead nowhere first, then numbers, then the other pointers.
void ff_blame_arguments(unsigned count) {
  int order[FF_MAX_ARGS];
  if (count > FF_MAX_ARGS)
    count = FF_MAX_ARGS;
  for (unsigned i = 0; i < count; ++i)
    order[i] = ff_kinds[i] ? (is_readable(ff_values[i]) ? 2 : 0) : 1;
  for (int rank = 0; rank < 3; ++rank)
    for (unsigned i = 0; i < count; ++i)
      if (order[i] == rank)
        ff_blame(ff_args[i], FF_ARGUMENT + i, ff_values[i]);
}

// Of an access: an index into something that is there is to blame for where it leads.
static void blame_access(void) {
  const char *start, *end;
  ff_label base = ff_at[0] >> 32, index = (ff_label)ff_at[1];
  int is_base_good = ff_object((void *)ff_at[2], &start, &end);
  if (is_base_good || base == 0)
    ff_blame(index, FF_INDEX, 0);
  ff_blame(base, FF_BASE, ff_at[2]);
  if (!is_base_good && base != 0)
    ff_blame(index, FF_INDEX, 0);
}

_Noreturn void ff_fail(uint32_t failure, int signal) {
  if (ff_crash) {
    ff_crash->failure = failure;
    ff_crash->signal = signal;
    ff_crash->site = (uint32_t)ff_at[0];
    ff_crash->events = ff_count;
    ff_note_touched();
    ff_threads_note();
    if (ff_crash->fault_address)
      ff_describe(ff_crash->object, sizeof ff_crash->object, (void *)ff_crash->fault_address);
    uint32_t depth = ff_depth < 4096 ? ff_depth : 4096;
    while (ff_crash->depth < FF_MAX_STACK && ff_crash->depth < depth) {
      ff_crash->stack[ff_crash->depth] = (uint32_t)ff_calls[2 * (depth - 1 - ff_crash->depth)];
      ff_crash->depth++;
    }
  }
  kill(getpid(), SIGKILL);
  for (;;)
    pause();
}

// A corrupt value decided about everything that was left.
_Noreturn void ff_end(void) {
  if (ff_crash)
    ff_crash->finished = 1;
  _exit(0);
}

// The function returns, and the word in place of its return address is another one.
void ff_leave(uint64_t *word, uint64_t expected, uint32_t site) {
  (void)expected;
  ff_at[0] = site;
  // Of several writers the first that got there.
  ff_label label = 0;
  for (unsigned i = 0; i < sizeof *word; ++i) {
    ff_label byte = *ff_shadow((char *)word + i);
    if (byte && !ff_is_corrupt(byte) && (label == 0 || byte < label))
      label = byte;
  }
  if (ff_crash) {
    ff_crash->fault_address = (uint64_t)word;
    ff_blame(label, FF_CONTENT, *word);
  }
  ff_fail(FF_RETURN, 0);
}

static int is_stack_exhausted(const siginfo_t *info, const void *context) {
  const ucontext_t *registers = context;
  uint64_t sp = registers->uc_mcontext.gregs[REG_RSP], at = (uint64_t)info->si_addr;
  return info->si_signo == SIGSEGV && at + 65536 > sp && at < sp + 65536;
}

static void caught(int number, siginfo_t *info, void *context) {
  unsigned n_arguments = ff_at[1] >> 32;
  if (!ff_crash)
    _exit(128 + number);
  if (number == SIGABRT) {
    ff_blame(ff_predicate, FF_PREDICATE, 0);
    ff_fail(FF_ABORT, number);
  }
  if (is_stack_exhausted(info, context))
    ff_fail(FF_STACK, number);
  ff_crash->fault_address = ff_at[3] ? ff_at[3] : (uint64_t)info->si_addr;
  if (n_arguments)
    ff_blame_arguments(n_arguments);
  else
    blame_access();
  ff_fail(FF_SIGNAL, number);
}

// A stack for the handler: each thread needs one of its own.
int ff_watch_stack(void) {
  stack_t stack = {.ss_size = 256 << 10};
  stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return stack.ss_sp != MAP_FAILED && sigaltstack(&stack, NULL) == 0;
}

static void watch_signals(void) {
  if (!ff_watch_stack())
    return;
  struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; ++i)
    sigaction(fatal[i], &action, NULL);
}

static int reserve(uint64_t at, uint64_t size) {
  return mmap((void *)at, size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == (void *)at;
}

static int reserve_shadow(void) {
#if FF_TRACKING
  // All of it: an address modulo 2^44, four bytes for each.
  return reserve(0x100000000000, 1ull << 46) &&
         reserve((uint64_t)FF_LOG, FF_LOG_ENTRIES * sizeof(uint64_t));
#else
  return reserve(0x200000000000, 0x100000000000) && reserve(0x5f0000000000, 0x010000001000);
#endif
}

static void attach(const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0)
    return;
  struct ff_crash_file *file = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (file != MAP_FAILED && file->magic == FF_CRASH_MAGIC && file->file_size == (uint64_t)status.st_size &&
      __atomic_fetch_add(&file->attached, 1, __ATOMIC_RELAXED) == 0)
    ff_crash = file;
}

static void leave_no_trace(char **environment, char *entry) {
  for (; *environment; ++environment)
    if (*environment == entry)
      for (; *environment; ++environment)
        *environment = environment[1];
}

__attribute__((constructor(101))) static void start(int argc, char **argv, char **environment) {
  (void)argc, (void)argv;
  static const char needed[] = "firstfault: no room for the memory of labels\n";
  if (!reserve_shadow() || !ff_heap_prepare() || !reserve(0x070000000000, 64ull << 20)) {
    if (write(2, needed, sizeof needed - 1) < 0)
      _exit(126);
    _exit(127);
  }
  size_t prefix = strlen(CONTROL_VARIABLE);
  for (char **e = environment; *e; ++e)
    if (strncmp(*e, CONTROL_VARIABLE, prefix) == 0) {
      attach(*e + prefix);
      leave_no_trace(environment, *e);
      break;
    }
  ff_objects_prepare();
  ff_labels_prepare();
  watch_signals();
}

__attribute__((destructor(101))) static void finish(void) {
  if (!ff_crash)
    return;
  ff_output_ended();
  if (ff_crash->check_heap_at_exit)
    ff_heap_check_all();
  ff_crash->events = ff_count;
  ff_note_touched();
  ff_threads_note();
  ff_crash->finished = 1;
}
