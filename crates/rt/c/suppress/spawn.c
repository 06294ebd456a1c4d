// Threads begin and end; processes are not followed.

#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <threads.h>

static pthread_key_t ending;
static int has_key;

// Destructors of the program's own keys run first.
static void end(void *p) {
  struct ff_thread *self = p;
  if (++self->n_destructors < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(ending, p);
    return;
  }
  ff_end_thread();
}

static void *begin(void *p) {
  struct ff_thread *self = p;
  ff_watch_stack();
  pthread_setspecific(ending, self);
  ff_first_turn(self);
  return self->run(self->argument);
}

static int spawn(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument, ff_label label) {
  if (!has_key) {
    has_key = pthread_key_create(&ending, end) == 0;
    pthread_setspecific(ending, &ff_threads[0]);
  }
  uint32_t thread = ff_begin_thread();
  if (thread == FF_MAX_THREADS)
    ff_fail(FF_THREADS, 0);
  struct ff_thread *t = &ff_threads[thread];
  t->run = run;
  t->argument = argument;
  t->args[0] = label;
  t->called_from = ff_site;
  ff_clock_forked(thread);
  int said = pthread_create(&t->id, attributes, begin, t);
  if (said) {
    t->state = FF_DONE;
    return said;
  }
  *id = t->id;
  ff_sync();
  return 0;
}

int ff_m_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  ff_label label = ff_args[3];
  if (ff_sync_is_skipped(4)) {
    if (!ff_is_corrupt(ff_args[0]))
      ff_label_write(id, sizeof *id, FF_CORRUPT);
    return 0;
  }
  ff_label_write(id, sizeof *id, ff_ret);
  return spawn(id, attributes, run, argument, label);
}

struct c11 {
  thrd_start_t run;
  void *argument;
};

static void *run_c11(void *p) {
  struct c11 start = *(struct c11 *)p;
  free(p);
  return (void *)(intptr_t)start.run(start.argument);
}

int ff_m_thrd_create(thrd_t *id, thrd_start_t run, void *argument) {
  ff_label label = ff_args[2];
  if (ff_sync_is_skipped(3)) {
    if (!ff_is_corrupt(ff_args[0]))
      ff_label_write(id, sizeof *id, FF_CORRUPT);
    return thrd_success;
  }
  ff_label_write(id, sizeof *id, ff_ret);
  struct c11 *start = malloc(sizeof *start);
  if (!start)
    return thrd_nomem;
  *start = (struct c11){run, argument};
  return spawn(id, NULL, run_c11, start, label) == 0 ? thrd_success : thrd_error;
}

// The newest one of that name that nobody has joined.
static struct ff_thread *find(pthread_t id) {
  for (uint32_t i = ff_n_threads; i-- > 0;)
    if (pthread_equal(ff_threads[i].id, id) && !ff_threads[i].is_joined)
      return &ff_threads[i];
  return NULL;
}

static int await_end(pthread_t id, void **result, ff_label *label) {
  struct ff_thread *t = ff_has_threads ? find(id) : NULL;
  if (t == &ff_threads[ff_current])
    return EDEADLK;
  ff_sync();
  while (t && t->state != FF_DONE) {
    ff_wait_for(t, FF_ON_JOIN);
    pthread_testcancel();
  }
  if (t) {
    t->is_joined = 1;
    ff_clock_joined(t - ff_threads);
    *label = t->ret;
  }
  return pthread_join(id, result);
}

int ff_m_pthread_join(pthread_t id, void **result) {
  if (ff_sync_is_skipped(2))
    return 0;
  ff_label label = 0;
  void *value;
  int said = await_end(id, &value, &label);
  if (said == 0 && result) {
    *result = value;
    ff_label_write(result, sizeof *result, label);
  }
  return said;
}

int ff_m_thrd_join(thrd_t id, int *result) {
  if (ff_sync_is_skipped(2))
    return thrd_success;
  ff_label label = 0;
  void *value;
  int said = await_end(id, &value, &label);
  if (said == 0 && result) {
    *result = (int)(intptr_t)value;
    ff_label_write(result, sizeof *result, label);
  }
  return said == 0 ? thrd_success : thrd_error;
}

_Noreturn void ff_m_pthread_exit(void *result) {
  ff_ret = ff_args[0];
  pthread_exit(result);
}

_Noreturn void ff_m_thrd_exit(int result) {
  ff_ret = ff_args[0];
  pthread_exit((void *)(intptr_t)result);
}

int ff_m_pthread_cancel(pthread_t id) {
  if (ff_sync_is_skipped(1))
    return 0;
  int said = pthread_cancel(id);
  struct ff_thread *t = ff_has_threads ? find(id) : NULL;
  if (t)
    ff_wake(t - ff_threads);
  ff_sync();
  return said;
}

#define ENDS(name, failure)                                                                                  \
  int ff_m_##name(void) { ff_fail(failure, 0); }

ENDS(fork, FF_FORKED)
ENDS(vfork, FF_FORKED)
ENDS(system, FF_FORKED)
ENDS(popen, FF_FORKED)
ENDS(posix_spawn, FF_FORKED)
ENDS(posix_spawnp, FF_FORKED)
ENDS(clone, FF_FORKED)
ENDS(daemon, FF_FORKED)
ENDS(execl, FF_FORKED)
ENDS(execle, FF_FORKED)
ENDS(execlp, FF_FORKED)
ENDS(execv, FF_FORKED)
ENDS(execve, FF_FORKED)
ENDS(execvp, FF_FORKED)
ENDS(execvpe, FF_FORKED)
// Threads of OpenMP are not the program's own.
ENDS(__kmpc_fork_call, FF_THREADS)
