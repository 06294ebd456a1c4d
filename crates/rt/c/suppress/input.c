// Stand-ins for the library functions that read into the program's memory. One that is
// suppressed still reads, so that what comes after finds its own input, but stores nothing.

#define _GNU_SOURCE
#include "suppress.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

// Not called at all: the result is corrupt.
static int is_skipped(unsigned count) {
  if (!ff_any_corrupt(count))
    return 0;
  ff_define();
  ff_ret = FF_CORRUPT;
  return 1;
}

// Stores what was read, unless the event is suppressed.
static void deliver(void *to, const void *from, size_t size, ff_label event) {
  if (ff_is_corrupt(event)) {
    ff_label_write(to, ff_inside(to, size), FF_CORRUPT);
    return;
  }
  memcpy(to, from, size);
  ff_copy_labels(to, NULL, size, event, event);
}

static ff_label begin(void *to, size_t size) {
  if (to && size)
    ff_touch(to, size, 1);
  ff_at[3] = (uint64_t)to;
  ff_label event = ff_define();
  ff_ret = event;
  return event;
}

// Reading goes through a buffer of the library, which cannot overflow with the program's.
static char *scratch(size_t size) {
  char *memory = malloc(size ? size : 1);
  if (!memory)
    ff_fail(FF_MEMORY, 0);
  return memory;
}

char *ff_m_fgets(char *to, int size, FILE *file) {
  if (is_skipped(3))
    return NULL;
  ff_label event = begin(to, 1);
  if (size <= 0)
    return NULL;
  char *line = scratch(size);
  char *got = fgets(line, size, file);
  if (got)
    deliver(to, line, strlen(line) + 1, event);
  free(line);
  return got ? to : NULL;
}

char *ff_m_gets(char *to) {
  if (is_skipped(1))
    return NULL;
  ff_label event = begin(to, 1);
  char *line = NULL;
  size_t room = 0;
  ssize_t length = getline(&line, &room, stdin);
  if (length > 0) {
    if (line[length - 1] == '\n')
      line[--length] = 0;
    deliver(to, line, length + 1, event);
  }
  free(line);
  return length < 0 ? NULL : to;
}

size_t ff_m_fread(void *to, size_t size, size_t count, FILE *file) {
  size_t whole;
  if (is_skipped(4) || __builtin_mul_overflow(size, count, &whole))
    return 0;
  ff_label event = begin(to, whole);
  // Nobody reads more than there is; a buffer as large as an absurd size is not needed.
  size_t room = whole < (16u << 20) ? whole : 16u << 20, done = 0;
  char *part = scratch(room);
  while (done < whole) {
    size_t wanted = whole - done < room ? whole - done : room;
    size_t got = fread(part, 1, wanted, file);
    deliver((char *)to + done, part, got, event);
    done += got;
    if (got < wanted)
      break;
  }
  free(part);
  return size ? done / size : 0;
}

ssize_t ff_m_read(int fd, void *to, size_t size) {
  if (is_skipped(3))
    return -1;
  ff_wait_descriptor(fd, POLLIN);
  ff_label event = begin(to, size);
  size_t room = size < (16u << 20) ? size : 16u << 20;
  char *part = scratch(room);
  ssize_t got = read(fd, part, room);
  if (got > 0)
    deliver(to, part, got, event);
  free(part);
  return got;
}

ssize_t ff_m_recv(int fd, void *to, size_t size, int flags) {
  if (is_skipped(4))
    return -1;
  ff_wait_descriptor(fd, POLLIN);
  ff_label event = begin(to, size);
  size_t room = size < (16u << 20) ? size : 16u << 20;
  char *part = scratch(room);
  ssize_t got = recv(fd, part, room, flags);
  if (got > 0)
    deliver(to, part, got, event);
  free(part);
  return got;
}

static ssize_t line_up_to(char **to, size_t *room, int end, FILE *file) {
  char *line = NULL;
  size_t size = 0;
  ssize_t length = getdelim(&line, &size, end, file);
  ff_label event = begin(to, sizeof *to);
  if (length >= 0) {
    if (!*to || *room < (size_t)length + 1) {
      *to = ff_heap_allocate(length + 1);
      *room = length + 1;
      ff_label_write(to, sizeof *to, event);
      ff_label_write(room, sizeof *room, event);
    }
    if (*to)
      deliver(*to, line, length + 1, event);
  }
  free(line);
  return length;
}

ssize_t ff_m_getline(char **to, size_t *room, FILE *file) {
  return is_skipped(3) ? -1 : line_up_to(to, room, '\n', file);
}

ssize_t ff_m_getdelim(char **to, size_t *room, int end, FILE *file) {
  return is_skipped(4) ? -1 : line_up_to(to, room, end, file);
}

#define MOST_FIELDS 16
#define FIELD_BYTES 65536

struct field {
  void *to, *read;
  char kind; // the conversion
  size_t size; // 0 for text
  size_t width;
};

// The fields a format assigns.
static unsigned parse(const char *format, va_list list, struct field *fields) {
  unsigned n = 0;
  for (; *format; ++format) {
    if (*format != '%' || *++format == '%')
      continue;
    int is_dropped = 0, longs = 0, shorts = 0;
    size_t width = 0;
    for (; *format && strchr("*0123456789hljztLqm", *format); ++format) {
      is_dropped |= *format == '*';
      longs += *format == 'l' || *format == 'j' || *format == 'z' || *format == 't' || *format == 'q';
      shorts += *format == 'h';
      if (*format >= '0' && *format <= '9')
        width = width * 10 + (*format - '0');
    }
    if (*format == 0)
      break;
    char kind = *format;
    if (kind == '[') {
      format++;
      if (*format == '^')
        format++;
      if (*format == ']')
        format++;
      while (*format && *format != ']')
        format++;
      if (*format == 0)
        break;
    }
    if (is_dropped || n == MOST_FIELDS)
      continue;
    struct field *field = &fields[n++];
    field->to = va_arg(list, void *);
    field->kind = kind;
    field->width = width;
    if (kind == 's' || kind == '[')
      field->size = 0;
    else if (kind == 'c')
      field->size = width ? width : 1;
    else if (strchr("aAeEfFgG", kind))
      field->size = longs ? 8 : 4;
    else
      field->size = kind == 'p' || longs ? 8 : shorts > 1 ? 1 : shorts ? 2 : 4;
  }
  return n;
}

typedef int scanner(void *source, const char *format, void **to);

static int scan_file(void *file, const char *format, void **p) {
  return fscanf(file, format, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11],
                p[12], p[13], p[14], p[15]);
}

static int scan_text(void *text, const char *format, void **p) {
  return sscanf(text, format, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11],
                p[12], p[13], p[14], p[15]);
}

static int scan(scanner *scanner, void *source, const char *format, va_list list) {
  struct field fields[MOST_FIELDS];
  void *places[MOST_FIELDS] = {0};
  unsigned n = parse(format, list, fields);
  char *room = scratch((size_t)MOST_FIELDS * FIELD_BYTES);
  for (unsigned i = 0; i < n; ++i)
    places[i] = fields[i].read = room + i * FIELD_BYTES;
  ff_label event = begin(n ? fields[0].to : NULL, n && fields[0].size ? fields[0].size : 1);
  int got = scanner(source, format, places);
  for (unsigned i = 0; i < n && (int)i < got; ++i) {
    ff_at[3] = (uint64_t)fields[i].to;
    deliver(fields[i].to, fields[i].read, fields[i].size ? fields[i].size : strlen(fields[i].read) + 1, event);
  }
  free(room);
  return got;
}

#define SCANF(name)                                                                                          \
  int ff_m_##name(const char *format, ...) {                                                                 \
    if (is_skipped(1))                                                                                       \
      return 0;                                                                                              \
    va_list list;                                                                                            \
    va_start(list, format);                                                                                  \
    int got = scan(scan_file, stdin, format, list);                                                          \
    va_end(list);                                                                                            \
    return got;                                                                                              \
  }
#define SOURCED(name, scanner)                                                                               \
  int ff_m_##name(void *source, const char *format, ...) {                                                   \
    if (is_skipped(2) || ff_is_corrupt(*ff_shadow(source))) {                                                \
      ff_ret = FF_CORRUPT;                                                                                   \
      return 0;                                                                                              \
    }                                                                                                        \
    va_list list;                                                                                            \
    va_start(list, format);                                                                                  \
    int got = scan(scanner, source, format, list);                                                           \
    va_end(list);                                                                                            \
    return got;                                                                                              \
  }
SCANF(scanf)
SCANF(__isoc99_scanf)
SCANF(__isoc23_scanf)
SOURCED(fscanf, scan_file)
SOURCED(__isoc99_fscanf, scan_file)
SOURCED(__isoc23_fscanf, scan_file)
SOURCED(sscanf, scan_text)
SOURCED(__isoc99_sscanf, scan_text)
SOURCED(__isoc23_sscanf, scan_text)
