// Snapshots inside one process: the writable memory is copied away and back, and the
// registers are taken up again where they were.
//
// Linked only into static programs that call nothing a snapshot cannot undo. Everything
// the runtime must remember across a restore lies in mappings of its own, which the
// list of regions leaves out.

#include "search.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

// More than this is slower to copy than a process is to fork.
#define MOST_BYTES (4u << 20)
#define MAX_REGIONS 16
#define STACK_SIZE (256u << 10)
// What earlier calls left below the stack pointer is kept too, so that a replaced run
// reads the same garbage from uninitialised variables as a run from the start.
#define BELOW_STACK (16u << 10)

struct region {
  char *start;
  size_t size;
};

struct ff_snapshot {
  struct region regions[MAX_REGIONS];
  unsigned n_regions;
  char *stack_top;
  char *copy;
  char *private_stack;
  char *heap_start;
  // Of the snapshot taken last.
  char *stack_low;
  char *heap_end;
  uint64_t ticks, serial_at_tick;
};
#define snapshot ff_guarded.is.snapshot

static void *reserve(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static char *parse_hex(char *text, uintptr_t *value) {
  for (*value = 0;; ++text) {
    if (*text >= '0' && *text <= '9')
      *value = *value * 16 + (*text - '0');
    else if (*text >= 'a' && *text <= 'f')
      *value = *value * 16 + (*text - 'a' + 10);
    else
      return text;
  }
}

static int is_ours(uintptr_t start) {
  uintptr_t heap = (uintptr_t)snapshot->heap_start;
  return (start >= heap && start < heap + FF_HEAP_RESERVED) || start == (uintptr_t)snapshot;
}

// One line of /proc/self/maps: private writable memory of the program is a region.
static int add_region(char *line) {
  uintptr_t start, end;
  char *rest = parse_hex(parse_hex(line, &start) + 1, &end);
  if (strncmp(rest, " rw-p", 5) != 0 || is_ours(start))
    return 1;
  if (strstr(rest, "[stack]")) {
    snapshot->stack_top = (char *)end;
    return 1;
  }
  // Anonymous mappings away from the program are the tables this runtime reserved.
  if (!strstr(rest, "/") && !strstr(rest, "[heap]") && start > 0x7f0000000000)
    return 1;
  if (snapshot->n_regions == MAX_REGIONS)
    return 0;
  snapshot->regions[snapshot->n_regions++] = (struct region){(char *)start, end - start};
  return 1;
}

static int read_maps(void) {
  size_t capacity = 64 << 10, size = 0;
  char *text = reserve(capacity);
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0 || !text)
    return 0;
  for (ssize_t got; (got = read(fd, text + size, capacity - 1 - size)) > 0;)
    size += got;
  close(fd);
  int complete = 1;
  for (char *line = text; complete && *line;) {
    char *end = strchr(line, '\n');
    if (!end)
      break;
    *end = 0;
    complete = add_region(line);
    line = end + 1;
  }
  munmap(text, capacity);
  return complete && snapshot->stack_top != NULL;
}

static void died(int signal) {
  if (ff_state->is_replaced) {
    ff_control->crashes++;
    ff_replaced_ended(0, signal);
  }
  // The failing run itself crashes here: everything before is searched.
  ff_stop(FF_SEARCHED, 0);
}

// A replaced run that makes no progress is stuck where no events are counted.
static void ticked(int signal) {
  (void)signal;
  if (snapshot->serial_at_tick != ff_state->serial) {
    snapshot->serial_at_tick = ff_state->serial;
    snapshot->ticks = 0;
  } else if (++snapshot->ticks > 10ull * ff_control->seconds && ff_state->is_replaced) {
    snapshot->ticks = 0;
    ff_control->hangs++;
    ff_replaced_ended(0, 0);
  }
}

static void catch(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER | flags};
  sigaction(signal, &action, NULL);
}

static int watch_signals(void) {
  stack_t stack = {.ss_sp = reserve(STACK_SIZE), .ss_size = STACK_SIZE};
  if (!stack.ss_sp || sigaltstack(&stack, NULL) < 0)
    return 0;
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGXFSZ, SIGPIPE};
  for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; ++i)
    catch(fatal[i], died, 0);
  catch(SIGALRM, ticked, SA_RESTART);
  struct itimerval every = {{0, 100000}, {0, 100000}};
  return setitimer(ITIMER_REAL, &every, NULL) == 0;
}

int ff_snapshot_prepare(void) {
  snapshot = reserve(sizeof *snapshot);
  if (!snapshot || !ff_files_prepare() || !watch_signals())
    return 0;
  snapshot->copy = reserve(MOST_BYTES + (1u << 20));
  snapshot->private_stack = reserve(STACK_SIZE);
  snapshot->heap_start = ff_heap_start();
  // From here on a replaced run that writes at random dies of it and is put back.
  return snapshot->copy && snapshot->private_stack && snapshot->heap_start &&
         mprotect(&ff_guarded, sizeof ff_guarded, PROT_READ) == 0 && read_maps();
}

static char *save(char *to, const char *from, size_t size) {
  if (to + size > snapshot->copy + MOST_BYTES)
    ff_stop(FF_TOO_LARGE, 0);
  memcpy(to, from, size);
  return to + size;
}

void ff_snapshot_take(void) {
  struct ff_snapshot *s = snapshot;
  char *to = s->copy;
  for (unsigned i = 0; i < s->n_regions; ++i)
    to = save(to, s->regions[i].start, s->regions[i].size);
  s->heap_end = ff_heap_end();
  to = save(to, s->heap_start, s->heap_end - s->heap_start);
  s->stack_low = (char *)ff_state->context->rsp - BELOW_STACK;
  save(to, s->stack_low, s->stack_top - s->stack_low);
}

__attribute__((used)) static void put_back(void) {
  struct ff_snapshot *s = snapshot;
  char *from = s->copy;
  // Read before the heap brings back its own records.
  char *dirty = ff_heap_end();
  for (unsigned i = 0; i < s->n_regions; ++i) {
    memcpy(s->regions[i].start, from, s->regions[i].size);
    from += s->regions[i].size;
  }
  memcpy(s->heap_start, from, s->heap_end - s->heap_start);
  from += s->heap_end - s->heap_start;
  if (dirty > s->heap_end && dirty <= s->heap_start + FF_HEAP_RESERVED) // A run from the start would find zeros here.
    memset(s->heap_end, 0, dirty - s->heap_end);
  memcpy(s->stack_low, from, s->stack_top - s->stack_low);
}

// Registers, callee-saved ones only: the compiler keeps nothing else across the call.
__asm__(".text\n.globl ff_context_save\n.type ff_context_save,@function\n"
        "ff_context_save:\n"
        "  movq %rbx,(%rdi)\n  movq %rbp,8(%rdi)\n  movq %r12,16(%rdi)\n  movq %r13,24(%rdi)\n"
        "  movq %r14,32(%rdi)\n  movq %r15,40(%rdi)\n"
        "  leaq 8(%rsp),%rax\n  movq %rax,48(%rdi)\n  movq (%rsp),%rax\n  movq %rax,56(%rdi)\n"
        "  stmxcsr 64(%rdi)\n  fnstcw 68(%rdi)\n"
        "  xorl %eax,%eax\n  ret\n"
        // rdi: the context, rsi: top of the private stack. The copying happens there,
        // since it overwrites the program's own stack.
        ".globl ff_context_resume\n.type ff_context_resume,@function\n"
        "ff_context_resume:\n"
        "  movq %rsi,%rsp\n  movq %rdi,%rbx\n  call put_back\n  movq %rbx,%rdi\n"
        "  ldmxcsr 64(%rdi)\n  fninit\n  fldcw 68(%rdi)\n"
        "  movq (%rdi),%rbx\n  movq 8(%rdi),%rbp\n  movq 16(%rdi),%r12\n  movq 24(%rdi),%r13\n"
        "  movq 32(%rdi),%r14\n  movq 40(%rdi),%r15\n  movq 48(%rdi),%rsp\n"
        "  movl $1,%eax\n  jmp *56(%rdi)\n");

_Noreturn void ff_context_resume(struct ff_context *context, void *stack);

_Noreturn void ff_snapshot_restore(void) {
  ff_files_restore();
  uintptr_t top = (uintptr_t)(snapshot->private_stack + STACK_SIZE) & ~(uintptr_t)15;
  ff_context_resume(ff_state->context, (void *)top);
}

// Every way to end a process in order goes through here.
_Noreturn void _exit(int code) {
  if (ff_control && ff_control->mode == FF_SEARCH && ff_state) {
    if (!ff_state->is_replaced)
      ff_stop(FF_SEARCHED, code);
    if (!(ff_control->flags & FF_FORK))
      ff_replaced_ended(1, code & 0xff);
  } else if (ff_control) {
    ff_control->exit_code = code;
    ff_control->status = FF_EXITED;
  }
  for (;;)
    syscall(SYS_exit_group, code);
}

_Noreturn void _Exit(int code) { _exit(code); }
