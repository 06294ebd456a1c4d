// Stand-ins for the library functions that copy memory: they move the labels along, do
// nothing with corrupt arguments, and can be suppressed as a whole.

#include "suppress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Bytes of a string that are corrupt make its length unknown.
static int is_corrupt_string(const char *text) { return ff_is_corrupt(*ff_shadow(text)); }

static void taint(void *to, size_t size) { ff_label_write(to, ff_inside(to, size), FF_CORRUPT); }

// Copies, as one definition; the value of the call is `to` itself.
static int copied(void *to, const void *from, size_t size) {
  ff_touch(from, size, 0);
  ff_touch(to, size, 1);
  ff_at[3] = (uint64_t)to;
  ff_label event = ff_define();
  if (ff_is_corrupt(event)) {
    taint(to, size);
    return 0;
  }
  memmove(to, from, size);
  ff_copy_labels(to, from, size, event, event);
  return 1;
}

// What to do before anything is read: 1 where the call is not made at all.
static int is_skipped(void *to, unsigned n_args, int is_corrupt_source) {
  ff_ret = ff_args[0];
  if (!ff_any_corrupt(n_args) && !is_corrupt_source)
    return 0;
  if (!ff_is_corrupt(ff_args[0]))
    taint(to, 1);
  return 1;
}

void ff_copy(void *to, const void *from, size_t size) {
  if (ff_any_corrupt(3)) {
    if (!ff_is_corrupt(ff_args[0]) && !ff_is_corrupt(ff_args[2]))
      taint(to, size);
  } else if (size > 0) {
    copied(to, from, size);
  }
}

void ff_fill(void *to, int byte, size_t size) {
  if (ff_any_corrupt(3)) {
    if (!ff_is_corrupt(ff_args[0]) && !ff_is_corrupt(ff_args[2]))
      taint(to, size);
    return;
  }
  if (size == 0)
    return;
  ff_touch(to, size, 1);
  ff_at[3] = (uint64_t)to;
  ff_label event = ff_define();
  if (ff_is_corrupt(event)) {
    taint(to, size);
    return;
  }
  memset(to, byte, size);
  ff_copy_labels(to, NULL, size, event, event);
}

void *ff_m_memcpy(void *to, const void *from, size_t size) {
  ff_copy(to, from, size);
  ff_ret = ff_args[0];
  return to;
}

void *ff_m_memmove(void *to, const void *from, size_t size) { return ff_m_memcpy(to, from, size); }

void *ff_m_mempcpy(void *to, const void *from, size_t size) { return (char *)ff_m_memcpy(to, from, size) + size; }

void ff_m_bcopy(const void *from, void *to, size_t size) {
  ff_label label = ff_args[0];
  ff_args[0] = ff_args[1];
  ff_args[1] = label;
  ff_copy(to, from, size);
}

void *ff_m_memset(void *to, int byte, size_t size) {
  ff_fill(to, byte, size);
  ff_ret = ff_args[0];
  return to;
}

void ff_m_bzero(void *to, size_t size) {
  ff_args[2] = ff_args[1];
  ff_args[1] = 0;
  ff_fill(to, 0, size);
}

char *ff_m_strcpy(char *to, const char *from) {
  if (!is_skipped(to, 2, !ff_is_corrupt(ff_args[1]) && is_corrupt_string(from)))
    copied(to, from, strlen(from) + 1);
  return to;
}

char *ff_m_stpcpy(char *to, const char *from) {
  if (is_skipped(to, 2, !ff_is_corrupt(ff_args[1]) && is_corrupt_string(from)))
    return to;
  size_t length = strlen(from);
  copied(to, from, length + 1);
  return to + length;
}

char *ff_m_strncpy(char *to, const char *from, size_t size) {
  if (is_skipped(to, 3, !ff_is_corrupt(ff_args[1]) && is_corrupt_string(from)) || size == 0)
    return to;
  size_t length = strnlen(from, size);
  if (copied(to, from, length) && length < size) {
    memset(to + length, 0, size - length);
    ff_copy_labels(to + length, NULL, size - length, 0, *ff_shadow(to + length));
  }
  return to;
}

char *ff_m_strcat(char *to, const char *from) {
  if (!is_skipped(to, 2, ff_any_corrupt(2) || is_corrupt_string(from) || is_corrupt_string(to)))
    copied(to + strlen(to), from, strlen(from) + 1);
  return to;
}

char *ff_m_strncat(char *to, const char *from, size_t size) {
  if (is_skipped(to, 3, ff_any_corrupt(2) || is_corrupt_string(from) || is_corrupt_string(to)))
    return to;
  size_t length = strnlen(from, size);
  char *end = to + strlen(to);
  if (copied(end, from, length)) {
    end[length] = 0;
    *ff_shadow(end + length) = length ? *ff_shadow(end + length - 1) : 0;
  }
  return to;
}

// Printed text is defined by the call, whatever it is made from.
static int printed(char *to, size_t room, ff_label arguments, const char *format, va_list list) {
  va_list again;
  va_copy(again, list);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length >= 0 && room > 0)
    ff_touch(to, (size_t)length + 1 < room ? (size_t)length + 1 : room, 1);
  ff_at[3] = (uint64_t)to;
  ff_label event = ff_define() | arguments;
  ff_ret = event;
  if (length < 0)
    return length;
  size_t size = (size_t)length + 1 < room ? (size_t)length + 1 : room;
  if (ff_is_corrupt(event)) {
    taint(to, size);
    return length;
  }
  vsnprintf(to, size, format, list);
  ff_copy_labels(to, NULL, size, event, event);
  return length;
}

// Corrupt text or numbers among what is printed: nothing is.
ff_label ff_printed_corruption(unsigned first, const char *format, va_list list) {
  if (ff_any_corrupt(first))
    return FF_CORRUPT;
  va_list again;
  va_copy(again, list);
  ff_label found = 0;
  for (unsigned i = first; *format; ++format) {
    if (*format != '%')
      continue;
    format++;
    int is_long = 0;
    for (; *format && strchr("-+ #0123456789.*'hljztLq", *format); ++format) {
      is_long |= *format == 'l' || *format == 'j' || *format == 'z' || *format == 't' || *format == 'q';
      if (*format == '*') {
        (void)va_arg(again, int);
        i++;
      }
    }
    if (*format == '%')
      continue;
    if (*format == 0)
      break;
    if (i < FF_MAX_ARGS)
      found |= ff_args[i] & FF_CORRUPT;
    if (strchr("aAeEfFgG", *format)) {
      (void)va_arg(again, double);
    } else if (*format == 's') {
      const char *text = va_arg(again, const char *);
      if (text && !(i < FF_MAX_ARGS && ff_is_corrupt(ff_args[i])))
        found |= *ff_shadow(text) & FF_CORRUPT;
    } else if (*format == 'p' || *format == 'n' || is_long) {
      (void)va_arg(again, void *);
    } else {
      (void)va_arg(again, int);
    }
    i++;
  }
  va_end(again);
  return found;
}

static int print_into(char *to, size_t room, unsigned first, const char *format, va_list list) {
  ff_label corruption = ff_printed_corruption(first, format, list);
  if (ff_is_corrupt(corruption)) {
    ff_define();
    ff_ret = FF_CORRUPT;
    if (!ff_is_corrupt(ff_args[0]) && room > 0)
      taint(to, 1);
    return 0;
  }
  return printed(to, room, 0, format, list);
}

int ff_m_sprintf(char *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int length = print_into(to, SIZE_MAX / 2, 2, format, list);
  va_end(list);
  return length;
}

int ff_m_snprintf(char *to, size_t room, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int length = print_into(to, room, 3, format, list);
  va_end(list);
  return length;
}

// The arguments' labels are those of another call: only the pointers are looked at.
int ff_m_vsprintf(char *to, const char *format, va_list list) {
  for (unsigned i = 2; i < FF_MAX_ARGS; ++i)
    ff_args[i] = 0;
  return print_into(to, SIZE_MAX / 2, 2, format, list);
}

int ff_m_vsnprintf(char *to, size_t room, const char *format, va_list list) {
  for (unsigned i = 3; i < FF_MAX_ARGS; ++i)
    ff_args[i] = 0;
  return print_into(to, room, 3, format, list);
}

static char *duplicate(const char *from, size_t length) {
  char *memory = ff_heap_allocate(length + 1);
  ff_label event = ff_define();
  ff_ret = event;
  if (memory) {
    memcpy(memory, from, length);
    memory[length] = 0;
    ff_copy_labels(memory, from, length, event & ~FF_CORRUPT, event);
  }
  return memory;
}

char *ff_m_strdup(const char *from) {
  if (ff_any_corrupt(1) || is_corrupt_string(from)) {
    ff_define();
    ff_ret = FF_CORRUPT;
    return NULL;
  }
  return duplicate(from, strlen(from));
}

char *ff_m_strndup(const char *from, size_t size) {
  if (ff_any_corrupt(2) || is_corrupt_string(from)) {
    ff_define();
    ff_ret = FF_CORRUPT;
    return NULL;
  }
  return duplicate(from, strnlen(from, size));
}
