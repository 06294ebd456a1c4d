#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define WIDTH 256
static char out[WIDTH + 1];
static int used;
static void flush_line(void) {
  out[used] = 0;
  puts(out);
  used = 0;
}
static void word(const char *w, int n) {
  int i;
  if (n > WIDTH) n = WIDTH;
  if (used + n > WIDTH) flush_line();
  for (i = 0; i < n; i++) out[used++] = w[i];
  if (used < WIDTH) out[used++] = ' ';
}
int main(void) {
  static char text[4096];
  size_t n = fread(text, 1, sizeof text - 1, stdin);
  char *at = text;
  text[n] = 0;
  while (*at) {
    int k = 0;
    while (isspace((unsigned char)*at)) at++;
    while (at[k] && !isspace((unsigned char)at[k])) k++;
    if (k) word(at, k);
    at += k;
  }
  flush_line();
  return 0;
}
