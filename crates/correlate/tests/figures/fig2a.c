// What is too long for the first buffer is too long for the second.
// First -> Second unique direct
// First -> Reading unique direct
#include <stdlib.h>
#include <string.h>

int main(void) {
  char a[16], b[16];
  const char *input = getenv("INPUT");
  if (!input)
    return 1;
  strcpy(a, input); // fault: First buffer-overflow
  strcpy(b, a);     // fault: Second buffer-overflow  fault: Reading buffer-overread
  return 0;
}
