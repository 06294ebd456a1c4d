// The file system of a run: a new root made of what is there, of which nothing can be changed
// but what goes away again and the run's own folder.
//
// The kernel does not let us look below mounts of others, so one overlay over "/" is not to
// be had. The part that is the same for all runs, an overlay or a bind for each tree, is put
// together once below /new; a run's copy of our mounts then gets what is its own.
#include "keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The machine's tree, the run's root, an empty folder, and what a run writes.
#define OLD "/old"
#define NEW "/new"
#define EMPTY "/empty"
#define UPPER "/upper"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
struct attributes { // struct mount_attr, which old headers do not have
  uint64_t set, clear, propagation, userns;
};
enum { ATTRIBUTE_READ_ONLY = 1, ATTRIBUTE_NO_SUID = 2 };

const char *problem = "";

int failed(const char *what) {
  problem = what;
  return -1;
}

static int inside(char *to, const char *root, const char *path) {
  int n = snprintf(to, PATH_MAX, "%s%s", root, path);
  if (n < PATH_MAX)
    return 0;
  errno = ENAMETOOLONG;
  return -1;
}

static int make_folders(char *path, size_t from) {
  for (char *at = path + from; *at; at++) {
    if (*at != '/' || at == path)
      continue;
    *at = 0;
    int done = mkdir(path, 0755);
    *at = '/';
    if (done && errno != EEXIST && errno != EROFS)
      return -1;
  }
  if (mkdir(path, 0755) && errno != EEXIST) {
    struct stat st;
    // On a read-only tree it may be there all the same.
    if (errno != EROFS || stat(path, &st) || !S_ISDIR(st.st_mode))
      return -1;
  }
  return 0;
}

// Something of the same kind to mount on.
static int make_target(char *path, size_t from, int is_folder) {
  struct stat st;
  if (!stat(path, &st))
    return 0;
  if (is_folder)
    return make_folders(path, from);
  char *slash = strrchr(path, '/');
  *slash = 0;
  int done = make_folders(path, from);
  *slash = '/';
  if (done)
    return -1;
  int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return -1;
  close(fd);
  return 0;
}

static int set_read_only(const char *path) {
  struct attributes attributes = {.set = ATTRIBUTE_READ_ONLY | ATTRIBUTE_NO_SUID};
  return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes,
                      sizeof attributes);
}

static int bind(const char *path, int is_read_only) {
  char from[PATH_MAX], to[PATH_MAX];
  struct stat st;
  if (inside(from, OLD, path) || inside(to, NEW, path) || stat(from, &st) ||
      make_target(to, strlen(NEW), S_ISDIR(st.st_mode)) || mount(from, to, NULL, MS_BIND | MS_REC, NULL))
    return -1;
  return is_read_only ? set_read_only(to) : 0;
}

// An overlay of the tree, with `upper` below UPPER for what is written, or without.
static int overlay(const char *path, const char *upper, const char *work) {
  char from[PATH_MAX], to[PATH_MAX], options[512];
  struct stat st;
  if (inside(from, OLD, path) || inside(to, NEW, path) || stat(from, &st))
    return -1;
  if (!S_ISDIR(st.st_mode)) {
    errno = ENOTDIR;
    return -1;
  }
  if (make_target(to, strlen(NEW), 1))
    return -1;
  // By the working folder: a path in the options would need quoting.
  if (chdir(from))
    return -1;
  if (upper) {
    if (mkdir(upper, st.st_mode & 07777) || mkdir(work, 0700) || chmod(upper, st.st_mode & 07777))
      return -1;
    snprintf(options, sizeof options, "lowerdir=.,upperdir=%s,workdir=%s,userxattr", upper, work);
  } else {
    snprintf(options, sizeof options, "lowerdir=.:%s,userxattr", EMPTY);
  }
  int done = mount("overlay", to, "overlay", MS_NOSUID | MS_NODEV, options);
  int error = errno;
  if (chdir("/"))
    return -1;
  errno = error;
  return done;
}

static int make_link(const char *path, const char *says) {
  char to[PATH_MAX];
  return inside(to, NEW, path) || (symlink(says, to) && errno != EEXIST) ? -1 : 0;
}

static int make_device(const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/dev/%s", name);
  return bind(path, 0);
}

// Devices that hold no state, and terminals of its own.
static int make_devices(void) {
  static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};
  if (mkdir(NEW "/dev", 0755) && errno != EEXIST)
    return -1;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    make_device(devices[i]);
  make_link("/dev/fd", "/proc/self/fd");
  make_link("/dev/stdin", "/proc/self/fd/0");
  make_link("/dev/stdout", "/proc/self/fd/1");
  make_link("/dev/stderr", "/proc/self/fd/2");
  make_link("/dev/ptmx", "pts/ptmx");
  mkdir(NEW "/dev/pts", 0755);
  mount("devpts", NEW "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
        "newinstance,ptmxmode=0666,mode=620");
  return mkdir(NEW "/dev/shm", 01777) && errno != EEXIST ? -1 : 0;
}

static int make_place(char *place, struct strings *strings) {
  char to[PATH_MAX];
  char *path = place + 1;
  switch (*place) {
  case PLACE_FOLDER:
    return inside(to, NEW, path) ? -1 : make_folders(to, strlen(NEW));
  case PLACE_LINK: {
    char *says = next_string(strings);
    return says ? make_link(path, says) : -1;
  }
  case PLACE_READ:
    return overlay(path, NULL, NULL) ? bind(path, 1) : 0;
  case PLACE_BIND:
    return bind(path, 1);
  default:
    errno = EINVAL;
    return -1;
  }
}

// Where to stand while the old root moves away.
static int move_root(void) {
  static const char *const places[] = {"/tmp", "/mnt", "/var", "/usr"};
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
    return failed("mounts cannot be made private");
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (mount("tmpfs", places[i], "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755"))
      continue;
    if (chdir(places[i]) || mkdir("old", 0755) || mkdir("new", 0755) || mkdir("empty", 0755) ||
        mkdir("upper", 0700) || syscall(SYS_pivot_root, ".", "old") || chdir("/"))
      return failed("the root cannot be moved");
    return 0;
  }
  return failed("file systems cannot be mounted");
}

int make_tree(struct strings places, uint32_t n_places) {
  if (move_root())
    return -1;
  if (mount("tmpfs", NEW, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755"))
    return failed("file systems cannot be mounted");
  for (uint32_t i = 0; i < n_places; i++) {
    char *place = next_string(&places);
    if (!place)
      break;
    // What cannot be shown is missing: the program says so when it looks for it.
    make_place(place, &places);
  }
  if (make_devices())
    return failed("there is no /dev");
  mkdir(NEW "/proc", 0555);
  if (set_read_only(NEW))
    return failed("mounts cannot be made read-only");
  return 0;
}

static void write_number(const char *path, unsigned number) {
  char text[16];
  int n = snprintf(text, sizeof text, "%u", number);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  if (write(fd, text, (size_t)n) < 0)
    errno = 0;
  close(fd);
}

// Where a folder for temporary files cannot be overlaid, it is empty.
static void replace_temporary(const char *path, char *upper) {
  char to[PATH_MAX];
  struct stat st;
  strcat(upper, "t");
  if (!inside(to, NEW, path) && !stat(to, &st) && st.st_mode & S_ISVTX && !mkdir(upper, 01777))
    mount(upper, to, NULL, MS_BIND, NULL);
}

// In the namespaces of a run: adds what is its own, and leaves the rest behind.
int complete_tree(struct strings *places, const struct request *request) {
  // Process numbers below 300 are given out once. Kernels before 6.14 have no such limit.
  write_number(OLD "/proc/sys/kernel/pid_max", 300 + request->n_processes);
  // What takes the machine's memory goes first.
  write_number(OLD "/proc/self/oom_score_adj", 1000);
  char options[64], upper[64], work[64], to[PATH_MAX];
  snprintf(options, sizeof options, "size=%llu,nr_inodes=65536,mode=755", (unsigned long long)request->kept);
  if (mount("tmpfs", UPPER, "tmpfs", MS_NOSUID | MS_NODEV, options))
    return failed("no place for what is written");
  for (uint32_t i = 0; i < request->n_places; i++) {
    char *place = next_string(places);
    if (!place)
      return failed("a list of places is too short");
    char *path = place + 1;
    snprintf(upper, sizeof upper, UPPER "/u%u", i);
    snprintf(work, sizeof work, UPPER "/w%u", i);
    switch (*place) {
    case PLACE_VANISH:
      if (overlay(path, upper, work))
        replace_temporary(path, upper);
      break;
    case PLACE_EMPTY:
      if (inside(to, NEW, path) || mkdir(upper, 01777) ||
          mount(upper, to, NULL, MS_BIND, NULL))
        return failed("no place for temporary files");
      break;
    case PLACE_BIND:
    case PLACE_WRITE:
      if (bind(path, *place == PLACE_BIND)) {
        return failed("a folder of the run cannot be reached");
      }
      break;
    default:
      errno = EINVAL;
      return failed("a place of an unknown kind");
    }
  }
  // Read-only as a whole: we may be the user who owns /proc/sys.
  if (mount("proc", NEW "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL))
    return failed("/proc cannot be mounted");
  if (chdir(NEW) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
    return failed("the root cannot be changed");
  return 0;
}
