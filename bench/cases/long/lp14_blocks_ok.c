#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define SLOTS 64
static int *block[SLOTS];
static int n_blocks;
static int add(int v) {
  if (n_blocks == SLOTS) return -1;
  if (n_blocks < SLOTS) {
    block[n_blocks] = malloc(sizeof(int));
    if (!block[n_blocks]) exit(1);
    *block[n_blocks] = v;
  }
  n_blocks++;
  return 0;
}
int main(void) {
  int v, i, sum = 0;
  while (scanf("%d", &v) == 1)
    if (add(v) < 0) break;
  for (i = 0; i < n_blocks; i++) {
    sum = (sum + *block[i] % 9973) % 9973;
    free(block[i]);
  }
  printf("%d\n", sum);
  return 0;
}
