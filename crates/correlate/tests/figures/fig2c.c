// The second buffer is smaller: it overflows without the first, too.
// First -> Second direct
// First -> Reading unique direct
#include <stdlib.h>
#include <string.h>

int main(void) {
  char a[128], b[64];
  const char *input = getenv("INPUT");
  if (!input)
    return 1;
  strcpy(a, input); // fault: First buffer-overflow
  strcpy(b, a);     // fault: Second buffer-overflow  fault: Reading buffer-overread
  return 0;
}
