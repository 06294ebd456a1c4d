// The size of an allocation wraps: the loop that fills it runs past its end. Beside it, a
// string outgrows two buffers.
// Wrap -> Fill unique direct
// First -> Second direct
// First -> Reading unique direct
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  unsigned i;
  char a[128], b[64];
  const char *input = getenv("INPUT");
  if (!input || scanf("%u", &i) != 1)
    return 1;
  unsigned x = i * 8; // fault: Wrap integer-overflow
  char *p = malloc(x);
  if (!p)
    return 1;
  for (unsigned k = 0; k < i; k++)
    p[k] = 0; // fault: Fill buffer-overflow
  free(p);
  strcpy(a, input); // fault: First buffer-overflow
  strcpy(b, a);     // fault: Second buffer-overflow  fault: Reading buffer-overread
  return 0;
}
