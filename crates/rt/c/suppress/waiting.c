// Stand-ins for calls that take time or wait for the outside world: others run meanwhile. In
// a program with threads, sleeping takes no time but lets everybody else go first.

#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <threads.h>
#include <unistd.h>

static uint64_t nanoseconds(const struct timespec *time) {
  return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

unsigned ff_m_sleep(unsigned seconds) {
  if (ff_sync_is_skipped(1))
    return 0;
  if (!ff_has_threads)
    return sleep(seconds);
  ff_sleep(seconds * 1000000000ull);
  pthread_testcancel();
  return 0;
}

int ff_m_usleep(useconds_t microseconds) {
  if (ff_sync_is_skipped(1))
    return 0;
  if (!ff_has_threads)
    return usleep(microseconds);
  ff_sleep(microseconds * 1000ull);
  pthread_testcancel();
  return 0;
}

static int sleep_for(const struct timespec *time, struct timespec *left) {
  if (!ff_has_threads)
    return nanosleep(time, left);
  ff_sleep(nanoseconds(time));
  pthread_testcancel();
  return 0;
}

int ff_m_nanosleep(const struct timespec *time, struct timespec *left) {
  return ff_sync_is_skipped(2) ? 0 : sleep_for(time, left);
}

int ff_m_thrd_sleep(const struct timespec *time, struct timespec *left) {
  return ff_sync_is_skipped(2) ? 0 : sleep_for(time, left);
}

int ff_m_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  if (ff_sync_is_skipped(4))
    return 0;
  if (!ff_has_threads)
    return clock_nanosleep(clock, flags, time, left);
  ff_sleep(flags & TIMER_ABSTIME ? ff_nanoseconds_until(clock, time) : nanoseconds(time));
  return 0;
}

int ff_m_sched_yield(void) {
  if (!ff_sync_is_skipped(0))
    ff_yield();
  return 0;
}

int ff_m_pthread_yield(void) { return ff_m_sched_yield(); }
void ff_m_thrd_yield(void) { ff_m_sched_yield(); }

int ff_m_poll(struct pollfd *fds, nfds_t n, int milliseconds) {
  if (ff_sync_is_skipped(3))
    return 0;
  if (!ff_has_threads)
    return poll(fds, n, milliseconds);
  int ready;
  // The outside world is asked in short, so that nobody waits for us meanwhile.
  for (int waited = 0; (ready = poll(fds, n, waited > 0)) == 0 && (milliseconds < 0 || waited < milliseconds); ++waited)
    ff_sleep(1000000);
  return ready;
}

int ff_m_select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *time) {
  if (ff_sync_is_skipped(5))
    return 0;
  if (!ff_has_threads)
    return select(n, in, out, other, time);
  int64_t limit = time ? time->tv_sec * 1000ll + time->tv_usec / 1000 : INT64_MAX;
  for (int64_t waited = 0;; ++waited) {
    fd_set sets[3];
    fd_set *given[3] = {in, out, other};
    for (int i = 0; i < 3; ++i)
      if (given[i])
        sets[i] = *given[i];
    struct timeval moment = {0, waited > 0 ? 1000 : 0};
    int ready = select(n, in ? &sets[0] : NULL, out ? &sets[1] : NULL, other ? &sets[2] : NULL, &moment);
    if (ready != 0 || waited >= limit) {
      for (int i = 0; i < 3; ++i)
        if (given[i])
          *given[i] = sets[i];
      return ready;
    }
    ff_sleep(1000000);
  }
}

int ff_m_accept(int fd, struct sockaddr *address, socklen_t *size) {
  if (ff_sync_is_skipped(3))
    return -1;
  ff_wait_descriptor(fd, POLLIN);
  return accept(fd, address, size);
}
