// Stand-ins for the library functions that print: nothing corrupt is printed, and the call
// is known that prints the first byte that is not as expected.

#include "suppress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static uint64_t n_printed; // to the standard output

// Not called at all.
static int is_skipped(ff_label corruption) {
  ff_touch(NULL, 0, 0);
  ff_label event = ff_define();
  ff_ret = event | (corruption & FF_CORRUPT);
  return ff_is_corrupt(ff_ret);
}

static int is_wanted(int is_standard, long n) {
  return is_standard && n > 0 && ff_crash && ff_crash->output_differs_at >= n_printed &&
         ff_crash->output_differs_at < n_printed + (uint64_t)n;
}

// Labels of what a call prints, the likeliest first.
static void printed(int is_standard, long n, ff_label first, ff_label second) {
  if (is_wanted(is_standard, n)) {
    ff_blame(first, FF_CONTENT, 0);
    ff_blame(second, FF_CONTENT, 0);
    ff_blame(ff_predicate, FF_PREDICATE, 0);
    ff_fail(FF_OUTPUT, 0);
  }
  if (is_standard && n > 0)
    n_printed += n;
}

// Less was printed than expected: nobody printed the byte.
void ff_output_ended(void) {
  if (ff_crash->output_differs_at == UINT64_MAX || ff_crash->output_differs_at < n_printed)
    return;
  ff_blame(ff_predicate, FF_PREDICATE, 0);
  ff_fail(FF_OUTPUT, 0);
}

// The conversion that prints byte `wanted` of what a format gives: the front of the format
// is made longer until it reaches there.
static void blame_conversion(unsigned first, const char *format, va_list list, uint64_t wanted) {
  char front[1024];
  size_t length = strlen(format);
  unsigned argument = first;
  for (size_t i = 0; i < length && i < sizeof front - 1; ++i) {
    if (format[i] != '%')
      continue;
    if (format[i + 1] == '%') {
      ++i;
      continue;
    }
    size_t end = i + 1 + strspn(format + i + 1, "-+ #0123456789.*'hljztLq") + 1;
    for (size_t k = i; k < end && k < length; ++k)
      argument += format[k] == '*';
    if (end > length || end >= sizeof front)
      return;
    va_list again;
    va_copy(again, list);
    memcpy(front, format, end);
    front[end] = 0;
    int upto = vsnprintf(NULL, 0, front, again);
    va_end(again);
    if (upto > 0 && (uint64_t)upto > wanted) {
      if (argument < FF_MAX_ARGS && format[end - 1] == 's' && ff_values[argument])
        ff_blame(ff_label_read((void *)ff_values[argument], strlen((char *)ff_values[argument]) + 1), FF_CONTENT, 0);
      if (argument < FF_MAX_ARGS)
        ff_blame(ff_args[argument], FF_ARGUMENT + argument, 0);
      return;
    }
    argument++;
    i = end - 1;
  }
}

static int print(FILE *file, unsigned first, const char *format, va_list list) {
  if (is_skipped(ff_printed_corruption(first, format, list)))
    return 0;
  va_list again;
  va_copy(again, list);
  int n = vfprintf(file, format, list);
  if (is_wanted(file == stdout, n)) {
    blame_conversion(first, format, again, ff_crash->output_differs_at - n_printed);
    printed(1, n, 0, 0);
  }
  va_end(again);
  printed(file == stdout, n, 0, 0);
  return n;
}

int ff_m_printf(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = print(stdout, 1, format, list);
  va_end(list);
  return n;
}

int ff_m_fprintf(FILE *file, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = print(file, 2, format, list);
  va_end(list);
  return n;
}

static void forget_labels(unsigned from) {
  for (unsigned i = from; i < FF_MAX_ARGS; ++i)
    ff_args[i] = 0, ff_values[i] = 0;
}

int ff_m_vprintf(const char *format, va_list list) {
  forget_labels(1);
  return print(stdout, 1, format, list);
}

int ff_m_vfprintf(FILE *file, const char *format, va_list list) {
  forget_labels(2);
  return print(file, 2, format, list);
}

static ff_label text_corruption(const char *text) {
  return ff_is_corrupt(ff_args[0]) ? FF_CORRUPT : *ff_shadow(text) & FF_CORRUPT;
}

int ff_m_puts(const char *text) {
  if (is_skipped(text_corruption(text)))
    return 0;
  int said = puts(text);
  printed(1, strlen(text) + 1, ff_label_read(text, strlen(text) + 1), ff_args[0]);
  return said;
}

int ff_m_fputs(const char *text, FILE *file) {
  if (is_skipped(text_corruption(text) | ff_args[1]))
    return 0;
  int said = fputs(text, file);
  printed(file == stdout, strlen(text), ff_label_read(text, strlen(text) + 1), ff_args[0]);
  return said;
}

int ff_m_fputc(int byte, FILE *file) {
  if (is_skipped((ff_args[0] | ff_args[1]) & FF_CORRUPT))
    return byte;
  int said = fputc(byte, file);
  printed(file == stdout, 1, ff_args[0], 0);
  return said;
}

int ff_m_putc(int byte, FILE *file) { return ff_m_fputc(byte, file); }

int ff_m_putchar(int byte) {
  ff_args[1] = 0;
  return ff_m_fputc(byte, stdout);
}

size_t ff_m_fwrite(const void *from, size_t size, size_t count, FILE *file) {
  if (is_skipped((ff_args[0] | ff_args[1] | ff_args[2] | ff_args[3]) & FF_CORRUPT))
    return 0;
  size_t n = fwrite(from, size, count, file);
  printed(file == stdout, n * size, ff_label_read(from, n * size), ff_args[2]);
  return n;
}

ssize_t ff_m_write(int fd, const void *from, size_t size) {
  if (is_skipped((ff_args[0] | ff_args[1] | ff_args[2]) & FF_CORRUPT))
    return size;
  ssize_t n = write(fd, from, size);
  printed(fd == 1, n, n > 0 ? ff_label_read(from, n) : 0, ff_args[2]);
  return n;
}
