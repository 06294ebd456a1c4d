#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define ROW 512
int main(void) {
  unsigned char row[ROW];
  int at = 0, count, value;
  memset(row, 0, sizeof row);
  while ((count = getchar()) != EOF && (value = getchar()) != EOF) {
    if (count == 0) break;
    if (at + count > ROW) return 1;
    while (count-- > 0) row[at++] = value;
  }
  fwrite(row, 1, ROW, stdout);
  return 0;
}
