// A signed product that does not fit becomes an index before the start of the table.
// Wrap -> Index unique direct
#include <stdio.h>

static int table[64];

int main(void) {
  int n;
  if (scanf("%d", &n) != 1 || n < 0)
    return 1;
  int k = n * 4; // fault: Wrap integer-overflow
  if (k < 64)
    table[k] = 1; // fault: Index buffer-underflow
  return 0;
}
