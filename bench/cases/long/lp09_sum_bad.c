#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

int main(void) {
  int total = 0, c;
  while ((c = getchar()) != EOF) {
    if (isdigit(c)) {
      total = total * 3 + (c - '0');
    } else if (c == '\n') {
      printf("%d\n", total);
      total = 0;
    }
  }
  return 0;
}
