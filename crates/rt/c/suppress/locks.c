// Stand-ins for what threads synchronise by. Locks and semaphores are tried; a thread that
// does not get one waits until somebody gives it back.

#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <semaphore.h>
#include <threads.h>

#define N_OBJECTS 8192

static struct ff_sync_state objects[N_OBJECTS];

struct ff_sync_state *ff_sync_of(const void *object) {
  uint32_t hash = (uint32_t)((uint64_t)object >> 3) * 2654435761u >> 16;
  for (uint32_t i = 0; i < N_OBJECTS; ++i) {
    struct ff_sync_state *entry = &objects[(hash + i) % N_OBJECTS];
    if (entry->object == object || !entry->object) {
      entry->object = object;
      return entry;
    }
  }
  ff_fail(FF_THREADS, 0);
}

int ff_sync_is_skipped(unsigned count) {
  ff_label event = ff_define();
  ff_ret = event | (ff_any_corrupt(count) ? FF_CORRUPT : 0);
  return ff_is_corrupt(ff_ret);
}

uint64_t ff_nanoseconds_until(int clock, const struct timespec *time) {
  struct timespec now;
  clock_gettime(clock, &now);
  int64_t left = (time->tv_sec - now.tv_sec) * 1000000000ll + (time->tv_nsec - now.tv_nsec);
  // Whole milliseconds, so that the same run gets the same.
  return left < 1000000 ? 0 : (uint64_t)left / 1000000 * 1000000;
}

void ff_describe_waits(void) {
  for (uint32_t i = 0; ff_crash && i < ff_n_threads && ff_crash->n_waits < FF_MAX_WAITS; ++i) {
    const struct ff_thread *t = &ff_threads[i];
    if (t->state != FF_BLOCKED)
      continue;
    const struct ff_sync_state *object = ff_sync_of(t->waits_for);
    int is_lock = t->wait_kind == FF_ON_MUTEX || t->wait_kind == FF_ON_RWLOCK;
    ff_crash->waits[ff_crash->n_waits++] = (struct ff_wait){
        i, t->wait_site, t->wait_kind, is_lock ? object->holder : 0, is_lock ? object->holder_site : 0, 0};
  }
}

static void got(const void *object) {
  struct ff_sync_state *state = ff_sync_of(object);
  state->holder = ff_current + 1;
  state->holder_site = ff_site;
  ff_acquire(object);
}

static void given(const void *object) {
  struct ff_sync_state *state = ff_sync_of(object);
  if (state->holder == ff_current + 1)
    state->holder = 0;
}

typedef int attempt(void *object);

static int try_mutex(void *m) { return pthread_mutex_trylock(m); }
static int try_spin(void *m) { return pthread_spin_trylock(m); }
static int try_read(void *l) {
  int said = pthread_rwlock_tryrdlock(l);
  return said == EAGAIN ? EBUSY : said;
}
static int try_write(void *l) { return pthread_rwlock_trywrlock(l); }
static int try_mtx(void *m) {
  int said = mtx_trylock(m);
  return said == thrd_busy ? EBUSY : said;
}
static int try_semaphore(void *s) { return sem_trywait(s) == 0 ? 0 : errno == EAGAIN ? EBUSY : errno; }

// Waits at most that long; ETIMEDOUT if that was not enough.
static int acquire(attempt *attempt, void *object, enum ff_wait_kind kind, const uint64_t *limit) {
  int said;
  while ((said = attempt(object)) == EBUSY) {
    if (!ff_has_threads && limit)
      return ETIMEDOUT;
    if (!ff_has_threads) { // Nobody will give it back.
      ff_threads[0].state = FF_BLOCKED;
      ff_threads[0].waits_for = object;
      ff_threads[0].wait_kind = kind;
      ff_threads[0].wait_site = ff_site;
      ff_describe_waits();
      ff_fail(FF_DEADLOCK, 0);
    }
    if (!limit)
      ff_wait_for(object, kind);
    else if (ff_wait_until(object, kind, *limit))
      return attempt(object) == 0 ? 0 : ETIMEDOUT;
    if (kind == FF_ON_SEMAPHORE)
      pthread_testcancel();
  }
  if (said == 0 || said == EOWNERDEAD)
    got(object);
  return said;
}

static int lock(attempt *attempt, void *object, enum ff_wait_kind kind, const uint64_t *limit) {
  ff_sync();
  return acquire(attempt, object, kind, limit);
}

int ff_m_pthread_mutex_lock(pthread_mutex_t *m) {
  if (ff_sync_is_skipped(1))
    return 0;
  int is_checked = (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK;
  if (is_checked && ff_sync_of(m)->holder == ff_current + 1)
    return EDEADLK;
  return lock(try_mutex, m, FF_ON_MUTEX, NULL);
}

int ff_m_pthread_mutex_trylock(pthread_mutex_t *m) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_sync();
  int said = pthread_mutex_trylock(m);
  if (said == 0)
    got(m);
  return said;
}

int ff_m_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *time) {
  if (ff_sync_is_skipped(2))
    return 0;
  uint64_t limit = ff_nanoseconds_until(CLOCK_REALTIME, time);
  return lock(try_mutex, m, FF_ON_MUTEX, &limit);
}

static void unlocked(const void *object) {
  ff_wake_all(object);
  ff_sync();
}

int ff_m_pthread_mutex_unlock(pthread_mutex_t *m) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_release(m);
  given(m);
  int said = pthread_mutex_unlock(m);
  unlocked(m);
  return said;
}

int ff_m_pthread_spin_lock(pthread_spinlock_t *s) {
  return ff_sync_is_skipped(1) ? 0 : lock(try_spin, (void *)s, FF_ON_MUTEX, NULL);
}

int ff_m_pthread_spin_unlock(pthread_spinlock_t *s) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_release((void *)s);
  given((void *)s);
  int said = pthread_spin_unlock(s);
  unlocked((void *)s);
  return said;
}

int ff_m_pthread_rwlock_rdlock(pthread_rwlock_t *l) {
  return ff_sync_is_skipped(1) ? 0 : lock(try_read, l, FF_ON_RWLOCK, NULL);
}

int ff_m_pthread_rwlock_wrlock(pthread_rwlock_t *l) {
  return ff_sync_is_skipped(1) ? 0 : lock(try_write, l, FF_ON_RWLOCK, NULL);
}

int ff_m_pthread_rwlock_tryrdlock(pthread_rwlock_t *l) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_sync();
  int said = pthread_rwlock_tryrdlock(l);
  if (said == 0)
    got(l);
  return said;
}

int ff_m_pthread_rwlock_trywrlock(pthread_rwlock_t *l) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_sync();
  int said = pthread_rwlock_trywrlock(l);
  if (said == 0)
    got(l);
  return said;
}

int ff_m_pthread_rwlock_unlock(pthread_rwlock_t *l) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_release(l);
  given(l);
  int said = pthread_rwlock_unlock(l);
  unlocked(l);
  return said;
}

int ff_m_sem_wait(sem_t *s) {
  if (ff_sync_is_skipped(1))
    return 0;
  int said = lock(try_semaphore, s, FF_ON_SEMAPHORE, NULL);
  errno = said ? said : errno;
  return said ? -1 : 0;
}

int ff_m_sem_timedwait(sem_t *s, const struct timespec *time) {
  if (ff_sync_is_skipped(2))
    return 0;
  uint64_t limit = ff_nanoseconds_until(CLOCK_REALTIME, time);
  int said = lock(try_semaphore, s, FF_ON_SEMAPHORE, &limit);
  errno = said ? said : errno;
  return said ? -1 : 0;
}

int ff_m_sem_trywait(sem_t *s) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_sync();
  int said = sem_trywait(s);
  if (said == 0)
    got(s);
  return said;
}

int ff_m_sem_post(sem_t *s) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_release(s);
  int said = sem_post(s);
  unlocked(s);
  return said;
}

// Condition variables: the runtime's own, since waiting must hand the baton on.
static int wait_on(void *condition, void *mutex, int is_c11, const uint64_t *limit) {
  ff_release(mutex);
  given(mutex);
  int said = is_c11 ? (mtx_unlock(mutex) == thrd_success ? 0 : EPERM) : pthread_mutex_unlock(mutex);
  if (said)
    return said;
  ff_wake_all(mutex);
  if (ff_has_threads)
    ff_sync_quietly();
  int is_late = 0;
  if (!ff_has_threads && limit) {
    is_late = 1;
  } else if (!ff_has_threads) {
    ff_fail(FF_DEADLOCK, 0);
  } else if (limit) {
    is_late = ff_wait_until(condition, FF_ON_CONDITION, *limit);
  } else {
    ff_wait_for(condition, FF_ON_CONDITION);
  }
  if (!is_late)
    ff_acquire(condition);
  said = acquire(is_c11 ? try_mtx : try_mutex, mutex, FF_ON_MUTEX, NULL);
  pthread_testcancel();
  return said ? said : is_late ? ETIMEDOUT : 0;
}

static int wake(void *condition, void (*who)(const void *)) {
  ff_release(condition);
  who(condition);
  ff_sync();
  return 0;
}

int ff_m_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
  return ff_sync_is_skipped(2) ? 0 : wait_on(c, m, 0, NULL);
}

int ff_m_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *time) {
  if (ff_sync_is_skipped(3))
    return 0;
  uint64_t limit = ff_nanoseconds_until(CLOCK_REALTIME, time);
  return wait_on(c, m, 0, &limit);
}

int ff_m_pthread_cond_signal(pthread_cond_t *c) { return ff_sync_is_skipped(1) ? 0 : wake(c, ff_wake_one); }
int ff_m_pthread_cond_broadcast(pthread_cond_t *c) { return ff_sync_is_skipped(1) ? 0 : wake(c, ff_wake_all); }

int ff_m_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes, unsigned count) {
  if (ff_sync_is_skipped(3))
    return 0;
  int said = pthread_barrier_init(b, attributes, count);
  struct ff_sync_state *state = ff_sync_of(b);
  state->count = count;
  state->arrived = 0;
  return said;
}

int ff_m_pthread_barrier_wait(pthread_barrier_t *b) {
  if (ff_sync_is_skipped(1))
    return 0;
  ff_sync();
  struct ff_sync_state *state = ff_sync_of(b);
  ff_release(b);
  uint32_t generation = state->generation;
  if (++state->arrived >= state->count) {
    state->arrived = 0;
    state->generation++;
    ff_acquire(b);
    unlocked(b);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  while (state->generation == generation) {
    if (!ff_has_threads)
      ff_fail(FF_DEADLOCK, 0);
    ff_wait_for(b, FF_ON_BARRIER);
  }
  ff_acquire(b);
  return 0;
}

int ff_m_pthread_once(pthread_once_t *control, void (*run)(void)) {
  if (ff_sync_is_skipped(2))
    return 0;
  ff_sync();
  struct ff_sync_state *state = ff_sync_of(control);
  if (state->once == 0) {
    state->once = 1;
    run();
    state->once = 2;
    ff_release(control);
    unlocked(control);
    return 0;
  }
  while (state->once == 1)
    ff_wait_for(control, FF_ON_ONCE);
  ff_acquire(control);
  return 0;
}

void ff_m_call_once(once_flag *flag, void (*run)(void)) { ff_m_pthread_once((pthread_once_t *)flag, run); }

int ff_m_mtx_lock(mtx_t *m) {
  if (ff_sync_is_skipped(1))
    return thrd_success;
  return lock(try_mtx, m, FF_ON_MUTEX, NULL) == 0 ? thrd_success : thrd_error;
}

int ff_m_mtx_timedlock(mtx_t *m, const struct timespec *time) {
  if (ff_sync_is_skipped(2))
    return thrd_success;
  uint64_t limit = ff_nanoseconds_until(CLOCK_REALTIME, time);
  int said = lock(try_mtx, m, FF_ON_MUTEX, &limit);
  return said == 0 ? thrd_success : said == ETIMEDOUT ? thrd_timedout : thrd_error;
}

int ff_m_mtx_trylock(mtx_t *m) {
  if (ff_sync_is_skipped(1))
    return thrd_success;
  ff_sync();
  int said = mtx_trylock(m);
  if (said == thrd_success)
    got(m);
  return said;
}

int ff_m_mtx_unlock(mtx_t *m) {
  if (ff_sync_is_skipped(1))
    return thrd_success;
  ff_release(m);
  given(m);
  int said = mtx_unlock(m);
  unlocked(m);
  return said;
}

int ff_m_cnd_wait(cnd_t *c, mtx_t *m) {
  return ff_sync_is_skipped(2) || wait_on(c, m, 1, NULL) == 0 ? thrd_success : thrd_error;
}

int ff_m_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *time) {
  if (ff_sync_is_skipped(3))
    return thrd_success;
  uint64_t limit = ff_nanoseconds_until(CLOCK_REALTIME, time);
  int said = wait_on(c, m, 1, &limit);
  return said == 0 ? thrd_success : said == ETIMEDOUT ? thrd_timedout : thrd_error;
}

int ff_m_cnd_signal(cnd_t *c) { return ff_sync_is_skipped(1) ? thrd_success : wake(c, ff_wake_one); }
int ff_m_cnd_broadcast(cnd_t *c) { return ff_sync_is_skipped(1) ? thrd_success : wake(c, ff_wake_all); }
