// A process per replacement, for programs that snapshots cannot serve. The child goes on
// with the alternate value; the parent judges what it left and puts files back.

#include "search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_DESCRIPTORS 64
// What a test's own folder may hold and still be put back after each replacement.
#define MAX_FILES 256
#define MOST_BYTES (16u << 20)
#define LARGE_PAGE ((uintptr_t)2 << 20)
#define MANY_PAGES 1024
// Memory that is made of large pages.
#define MOST_LARGE_BYTES ((uintptr_t)256 << 20)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static pid_t child;
static unsigned ticks;
static off_t offsets[MAX_DESCRIPTORS];

// The working folder as it was, to be put back. Folders in it are left alone.
static struct kept {
  char name[256];
  char *contents;
  off_t size;
  struct timespec changed;
} * kept;
static unsigned n_kept;
static char *storage;
static size_t stored;

#define TEXT_SIZE (64u << 10)
static char *text;

static void ticked(int signal) {
  (void)signal;
  if (child > 0 && ++ticks > 10u * ff_control->seconds) {
    kill(child, SIGKILL);
    ff_control->hangs++;
    ticks = 0;
  }
}

static void *reserve(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    ff_stop(FF_TOO_LARGE, 0);
  return memory;
}

void ff_fork_prepare(void) {
  kept = reserve(MAX_FILES * sizeof *kept);
  storage = reserve(MOST_BYTES);
  text = reserve(TEXT_SIZE);
  struct sigaction action = {.sa_handler = ticked, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 100000}, {0, 100000}};
  setitimer(ITIMER_REAL, &every, NULL);
}

// Whether the file is as it was when it was kept.
static int is_unchanged(const struct kept *file, const struct stat *status) {
  return status->st_size == file->size && status->st_mtim.tv_sec == file->changed.tv_sec &&
         status->st_mtim.tv_nsec == file->changed.tv_nsec;
}

static struct kept *find(const char *name) {
  for (unsigned i = 0; i < n_kept; ++i)
    if (strcmp(kept[i].name, name) == 0)
      return &kept[i];
  return NULL;
}

static void keep(const char *name, const struct stat *status) {
  if (n_kept == MAX_FILES || stored + status->st_size > MOST_BYTES || strlen(name) >= sizeof kept->name)
    ff_stop(FF_TOO_LARGE, 0);
  struct kept *file = &kept[n_kept++];
  strcpy(file->name, name);
  file->contents = storage + stored;
  file->size = status->st_size;
  file->changed = status->st_mtim;
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || pread(fd, file->contents, file->size, 0) != file->size)
    file->size = 0;
  if (fd >= 0)
    close(fd);
  stored += file->size;
}

// Calls `visit` for each regular file of the working folder.
static void each_file(void (*visit)(const char *, const struct stat *)) {
  DIR *folder = opendir(".");
  if (!folder)
    return;
  struct stat status;
  for (struct dirent *entry; (entry = readdir(folder));)
    if (lstat(entry->d_name, &status) == 0 && S_ISREG(status.st_mode))
      visit(entry->d_name, &status);
  closedir(folder);
}

static int has_changed;
static void compare(const char *name, const struct stat *status) {
  struct kept *file = find(name);
  has_changed |= !file || !is_unchanged(file, status);
}

static void keep_folder(void) {
  has_changed = 0;
  each_file(compare);
  if (!has_changed)
    return;
  n_kept = 0;
  stored = 0;
  each_file(keep);
}

static void remove_new(const char *name, const struct stat *status) {
  (void)status;
  if (!find(name))
    unlink(name);
}

static void put_back_folder(void) {
  each_file(remove_new);
  for (unsigned i = 0; i < n_kept; ++i) {
    struct stat status;
    if (lstat(kept[i].name, &status) == 0 && is_unchanged(&kept[i], &status))
      continue;
    // Not a new file: open descriptors of the parent must keep pointing at it.
    int fd = open(kept[i].name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
      continue;
    if (pwrite(fd, kept[i].contents, kept[i].size, 0) == kept[i].size &&
        ftruncate(fd, kept[i].size) == 0 && fstat(fd, &status) == 0)
      kept[i].changed = status.st_mtim;
    close(fd);
  }
}

static void save_offsets(void) {
  ff_offsets_save();
  for (int fd = 3; fd < MAX_DESCRIPTORS; ++fd)
    offsets[fd] = lseek(fd, 0, SEEK_CUR);
}

static void restore_offsets(void) {
  ff_offsets_restore();
  for (int fd = 3; fd < MAX_DESCRIPTORS; ++fd)
    if (offsets[fd] >= 0)
      lseek(fd, offsets[fd], SEEK_SET);
}

// One line of /proc/self/maps.
static uintptr_t make_large(char *line) {
  char *rest;
  uintptr_t start = strtoul(line, &rest, 16);
  uintptr_t end = *rest == '-' ? strtoul(rest + 1, &rest, 16) : 0;
  start = (start + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
  end &= ~(LARGE_PAGE - 1);
  if (strncmp(rest, " rw-p", 5) != 0 || strstr(rest, "[stack]") || start >= end)
    return 0;
  madvise((void *)start, end - start, MADV_HUGEPAGE);
  madvise((void *)start, end - start, MADV_COLLAPSE);
  return end - start;
}

static void read_text(const char *path) {
  size_t size = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  for (ssize_t got; fd >= 0 && size < TEXT_SIZE - 1 &&
                    (got = read(fd, text + size, TEXT_SIZE - 1 - size)) > 0;)
    size += got;
  if (fd >= 0)
    close(fd);
  text[size] = 0;
}

// Pages of the program that are in memory.
static unsigned long n_resident(void) {
  read_text("/proc/self/statm");
  char *rest;
  strtoul(text, &rest, 10); // All of its address space.
  return strtoul(rest, NULL, 10);
}

// A fork copies an entry for every page in use: few large ones are copied several times faster.
// Where the system has none, nothing happens; for a small program they do not pay.
static void use_large_pages(void) {
  if (n_resident() < MANY_PAGES)
    return;
  read_text("/proc/self/maps");
  uintptr_t total = 0;
  for (char *line = text, *end; total < MOST_LARGE_BYTES && (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    total += make_large(line);
  }
}

// Keeps what the replaced runs of one instance change outside their memory.
void ff_fork_instance(void) {
  static uint64_t n_instances;
  int error = errno;
  ++n_instances;
  // The program may have asked for more memory since.
  if ((n_instances & (n_instances - 1)) == 0)
    use_large_pages();
  save_offsets();
  keep_folder();
  errno = error;
}

static int wait_for_child(void) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return SIGKILL;
  return status;
}

int ff_fork_child(void) {
  pid_t parent = getpid();
  int error = errno;
  ticks = 0;
  child = fork();
  if (child < 0)
    ff_stop(FF_TOO_LARGE, 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      ff_fork_end();
    signal(SIGALRM, SIG_DFL);
    return 1;
  }
  int status = wait_for_child();
  child = 0;
  ff_judge(WIFEXITED(status), WEXITSTATUS(status));
  restore_offsets();
  put_back_folder();
  errno = error;
  return 0;
}

_Noreturn void ff_fork_end(void) {
  kill(getpid(), SIGKILL);
  for (;;)
    pause();
}
