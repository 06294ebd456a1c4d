// From a number to a buffer to a number: the size wraps, the buffer is too small, and the
// length of what is in it does not fit the narrow counter.
// Wrap -> Copy unique direct
// Copy -> Reads unique direct
// Reads -> Narrow unique direct
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char from[512];
  unsigned n;
  if (!fgets(from, sizeof from, stdin) || scanf("%u", &n) != 1 || strlen(from) >= n)
    return 1;
  unsigned size = n + 16u; // fault: Wrap integer-overflow
  if (size > 100)
    return 1;
  char *p = malloc(size);
  if (!p)
    return 1;
  strcpy(p, from);                // fault: Copy buffer-overflow
  signed char length = strlen(p); // fault: Narrow integer-truncation  fault: Reads buffer-overread
  free(p);
  return length;
}
