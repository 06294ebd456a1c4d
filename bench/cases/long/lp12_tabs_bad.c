#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define COLUMNS 400
int main(void) {
  char in[COLUMNS], out[COLUMNS];
  while (fgets(in, sizeof in, stdin)) {
    int i, n = 0;
    for (i = 0; in[i] && in[i] != '\n'; i++) {
      if (in[i] == '\t') {
        do out[n++] = ' '; while (n % 8);
      } else if (n < COLUMNS - 1) {
        out[n++] = in[i];
      }
    }
    out[n] = 0;
    puts(out);
  }
  return 0;
}
