#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define SLOTS 128
struct ring { double sum; int n; int at; int value[SLOTS]; };
static void add(struct ring *r, int v) {
  if (r->at > SLOTS) r->at = 0;
  r->value[r->at++] = v;
  r->n++;
}
int main(void) {
  struct ring *r = calloc(1, sizeof *r);
  int v;
  if (!r) return 1;
  while (scanf("%d", &v) == 1) add(r, v);
  printf("%d values\n", r->n);
  free(r);
  return 0;
}
