#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

static char *escape(const char *text) {
  size_t n = strlen(text);
  char *out = malloc(n + 64);
  char *to = out;
  if (!out) return NULL;
  while (*text) {
    if (*text == '\'') *to++ = '\\';
    *to++ = *text++;
  }
  *to = 0;
  return out;
}
int main(void) {
  char line[1024];
  while (fgets(line, sizeof line, stdin)) {
    char *e = escape(line);
    if (!e) return 1;
    fputs(e, stdout);
    free(e);
  }
  return 0;
}
