// Two overflows side by side: neither depends on what the other left behind.
#include <stdlib.h>
#include <string.h>

int main(void) {
  char a[64], b[32];
  const char *input = getenv("INPUT");
  if (!input)
    return 1;
  strcpy(a, input); // fault: First buffer-overflow
  strcpy(b, input); // fault: Second buffer-overflow
  return 0;
}
