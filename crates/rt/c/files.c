// Descriptors in snapshot runs: files a replaced run opened are closed, files it closed
// are opened again, and all stand where they stood. Files opened for writing are beyond
// a snapshot.

#include "search.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_FILES 64

// In ordinary memory: a restore brings back the list of open files by itself.
static uint8_t is_open[MAX_FILES];

// In memory of its own, which no snapshot covers.
struct ff_saved_file {
  uint8_t is_open;
  int duplicate;
  off_t offset;
};
#define saved ff_guarded.is.files

int ff_files_prepare(void) {
  void *memory = mmap(NULL, MAX_FILES * sizeof *saved, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  saved = memory == MAP_FAILED ? NULL : memory;
  return saved != NULL;
}

static int needs_fork(void) {
  return ff_control && ff_control->mode == FF_SEARCH && !(ff_control->flags & FF_FORK);
}

static void opened(int fd) {
  if (fd < 0)
    return;
  if (fd < MAX_FILES)
    is_open[fd] = 1;
  else if (needs_fork())
    ff_stop(FF_UNSAFE, 0);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
  if (needs_fork() && mode && strpbrk(mode, "wa+"))
    ff_stop(FF_UNSAFE, 0);
  FILE *file = __real_fopen(path, mode);
  if (file)
    opened(fileno(file));
  return file;
}

int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file) {
  int fd = file ? fileno(file) : -1;
  if (fd >= 0 && fd < MAX_FILES)
    is_open[fd] = 0;
  return __real_fclose(file);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (needs_fork() && (flags & (O_WRONLY | O_RDWR | O_CREAT)))
    ff_stop(FF_UNSAFE, 0);
  int fd = __real_open(path, flags, mode);
  opened(fd);
  return fd;
}

int __real_close(int fd);
int __wrap_close(int fd) {
  if (fd >= 0 && fd < MAX_FILES)
    is_open[fd] = 0;
  return __real_close(fd);
}

void ff_files_save(void) {
  ff_offsets_save();
  for (int fd = 3; fd < MAX_FILES; ++fd) {
    if (saved[fd].is_open)
      __real_close(saved[fd].duplicate);
    saved[fd].is_open = is_open[fd];
    if (is_open[fd]) {
      saved[fd].duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 2 * MAX_FILES);
      saved[fd].offset = lseek(fd, 0, SEEK_CUR);
    }
  }
}

// Runs before the memory is put back: `is_open` is what the replaced run left.
void ff_files_restore(void) {
  ff_offsets_restore();
  for (int fd = 3; fd < MAX_FILES; ++fd) {
    if (is_open[fd] && !saved[fd].is_open)
      __real_close(fd);
    if (!saved[fd].is_open)
      continue;
    dup2(saved[fd].duplicate, fd);
    if (saved[fd].offset >= 0)
      lseek(fd, saved[fd].offset, SEEK_SET);
  }
}
