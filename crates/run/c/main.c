// Starts the keeper: gets namespaces, says which level it could reach, and serves.
#include "keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// As firstfault was started with it; our own is none.
unsigned users_mask;

char *next_string(struct strings *strings) {
  char *string = strings->next;
  if (string >= strings->end)
    return NULL;
  strings->next += strlen(string) + 1;
  return string;
}

static int write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  ssize_t n = write(fd, text, strlen(text));
  int error = errno;
  close(fd);
  errno = error;
  return n < 0 ? -1 : 0;
}

// We stay who we are: files keep their owners, and nothing is allowed that was not.
static int map_users(uid_t user, gid_t group) {
  char text[64];
  write_file("/proc/self/setgroups", "deny");
  snprintf(text, sizeof text, "%u %u 1", user, user);
  if (write_file("/proc/self/uid_map", text))
    return failed("user ids cannot be mapped");
  snprintf(text, sizeof text, "%u %u 1", group, group);
  if (write_file("/proc/self/gid_map", text))
    return failed("group ids cannot be mapped");
  return 0;
}

// A program may talk to itself. Connections leave nothing behind that the next run would meet.
static void start_loopback(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  if (fd >= 0) {
    ioctl(fd, SIOCSIFFLAGS, &request);
    close(fd);
  }
  write_file("/proc/sys/net/ipv4/tcp_max_tw_buckets", "0");
}

static int enter_namespaces(struct strings places, const struct start *start) {
  uid_t user = getuid();
  gid_t group = getgid();
  int network = start->flags & FLAG_NETWORK ? 0 : CLONE_NEWNET;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWCGROUP | network))
    return failed("user namespaces are not allowed here");
  if (map_users(user, group))
    return -1;
  if (network)
    start_loopback();
  return make_tree(places, start->n_places);
}

static int read_all(void *to, size_t size) {
  for (char *at = to; size > 0;) {
    ssize_t n = read(SOCKET, at, size);
    if (n <= 0 && !(n < 0 && errno == EINTR))
      return -1;
    if (n > 0) {
      at += n;
      size -= (size_t)n;
    }
  }
  return 0;
}

// Where this is less than what was asked for, we are somewhere on the way, and firstfault starts
// another keeper that asks for no more.
static enum level reach(struct strings places, const struct start *start) {
  if (start->level == LEVEL_FULL && enter_namespaces(places, start) == 0 && try_run() == 0)
    return LEVEL_FULL;
  return start->level >= LEVEL_LANDLOCK && has_landlock() ? LEVEL_LANDLOCK : LEVEL_LIMITS;
}

int main(void) {
  struct start start;
  if (read_all(&start, sizeof start))
    return 1;
  char *body = malloc(start.size + 1);
  if (!body || read_all(body, start.size))
    return 1;
  body[start.size] = 0;
  // Group of our own: an interrupt from the terminal is for firstfault, which tells us.
  setpgid(0, 0);
  signal(SIGPIPE, SIG_IGN);
  users_mask = umask(0);
  close_range(3, ~0u, 0);
  struct strings places = {body, body + start.size};
  struct greeting greeting = {.magic = {'F', 'F', 'K', '1'}};
  greeting.level = reach(places, &start);
  if (greeting.level != start.level)
    snprintf(greeting.said, sizeof greeting.said, "%s (%s)", problem, strerror(errno));
  if (send(SOCKET, &greeting, sizeof greeting, MSG_NOSIGNAL) != sizeof greeting)
    return 1;
  free(body);
  serve(greeting.level, start.flags);
  return 0;
}
