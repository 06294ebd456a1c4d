#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define PAGES 300
static unsigned char seen[PAGES];
int main(void) {
  int page = 150, c;
  while ((c = getchar()) != EOF) {
    if (c == 'n' && page < PAGES - 1) page++;
    if (c == 'p' && page > -2) page--;
    seen[page] = 1;
  }
  printf("%d\n", seen[0]);
  return 0;
}
