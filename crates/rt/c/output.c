// What the program has printed so far, held against what the test expects.

#include "search.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Where the standard streams stand. Both kinds of search share them with the replaced
// runs, which leave them somewhere else.
void ff_offsets_save(void) {
  for (int fd = 0; fd < 3; ++fd) {
    struct stat status;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    ff_state->offsets[fd] = offset;
    ff_state->sizes[fd] = fd > 0 && offset >= 0 && fstat(fd, &status) == 0 ? status.st_size : -1;
  }
}

void ff_offsets_restore(void) {
  for (int fd = 0; fd < 3; ++fd) {
    if (ff_state->sizes[fd] >= 0 && ftruncate(fd, ff_state->sizes[fd]) < 0)
      continue;
    if (ff_state->offsets[fd] >= 0)
      lseek(fd, ff_state->offsets[fd], SEEK_SET);
  }
}

static int file_holds(int fd, uint64_t from, uint64_t to, const char *expected) {
  char buffer[4096];
  while (from < to) {
    size_t size = to - from < sizeof buffer ? to - from : sizeof buffer;
    ssize_t got = pread(fd, buffer, size, from);
    if (got <= 0 || memcmp(buffer, expected + from, got) != 0)
      return 0;
    from += got;
  }
  return 1;
}

// Whether what is printed, or waits in the stream's buffer, already differs: then
// nothing that happens later can make the output right.
int ff_output_is_hopeless(void) {
  const char *expected = ff_table(ff_control->stdout_at);
  uint64_t size = ff_control->stdout_size;
  if (size == UINT64_MAX)
    return 0;
  off_t written = lseek(1, 0, SEEK_CUR);
  if (written < 0)
    return 0;
  uint64_t pending = stdout->_IO_write_ptr - stdout->_IO_write_base;
  if ((uint64_t)written + pending > size)
    return 1;
  if (!file_holds(1, ff_state->verified, written, expected))
    return 1;
  if (!ff_state->is_replaced)
    ff_state->verified = written;
  return memcmp(stdout->_IO_write_base, expected + written, pending) != 0;
}

static int stream_matches(int fd, uint64_t at, uint64_t size) {
  struct stat status;
  if (size == UINT64_MAX)
    return 1;
  if (fstat(fd, &status) < 0 || (uint64_t)status.st_size != size)
    return 0;
  return file_holds(fd, 0, size, ff_table(at));
}

static int files_match(void) {
  const char *at = ff_table(ff_control->files_at);
  for (uint64_t i = 0; i < ff_control->n_files; ++i) {
    const struct ff_expected_file *file = (const void *)at;
    const char *name = at + sizeof *file; // ends in 0
    const char *contents = name + file->name_size;
    struct stat status;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int same = fd >= 0 && fstat(fd, &status) == 0 && (uint64_t)status.st_size == file->size &&
               file_holds(fd, 0, file->size, contents);
    if (fd >= 0)
      close(fd);
    if (!same)
      return 0;
    at = contents + ((file->size + 7) & ~7ull);
  }
  return 1;
}

int ff_passes(int exited, int code) {
  if (!exited || (ff_control->expected_exit >= 0 && code != ff_control->expected_exit))
    return 0;
  return stream_matches(1, ff_control->stdout_at, ff_control->stdout_size) &&
         stream_matches(2, ff_control->stderr_at, ff_control->stderr_size) && files_match();
}
