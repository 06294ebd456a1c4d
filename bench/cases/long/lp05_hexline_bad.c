#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

struct record { int length; unsigned char data[256]; };
static int digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
static int parse(struct record *r, const char *line) {
  int n = 0;
  if (line[0] != ':' || digit(line[1]) < 0 || digit(line[2]) < 0) return -1;
  r->length = digit(line[1]) * 16 + digit(line[2]);
  line += 3;
  while (n < 256 && digit(line[0]) >= 0 && digit(line[1]) >= 0) {
    r->data[n++] = digit(line[0]) * 16 + digit(line[1]);
    line += 2;
  }
  return n;
}
int main(void) {
  char line[700];
  unsigned sum = 0;
  while (fgets(line, sizeof line, stdin)) {
    struct record *r = malloc(sizeof *r);
    unsigned char *copy;
    int i, n;
    if (!r) return 1;
    n = parse(r, line);
    if (n < 0) { free(r); continue; }
    copy = malloc(n + 1);
    if (!copy) { free(r); return 1; }
    memcpy(copy, r->data, n);
    copy[n] = 0;
    for (i = 0; i < r->length; i++) sum += copy[i];
    free(copy);
    free(r);
  }
  printf("%u\n", sum);
  return 0;
}
