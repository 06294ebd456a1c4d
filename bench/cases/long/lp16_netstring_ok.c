#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define MAXSTRING 256
int main(void) {
  char data[MAXSTRING];
  int c, n = 0, i;
  while ((c = getchar()) != EOF && isdigit(c)) {
    n = n * 10 + (c - '0');
    if (n > MAXSTRING) return 1;
  }
  if (c != ':') return 1;
  for (i = 0; i < n; i++) {
    if ((c = getchar()) == EOF) return 1;
    data[i] = c;
  }
  fwrite(data, 1, n, stdout);
  return 0;
}
