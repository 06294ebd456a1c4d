// A product that wrapped passes a test it should not pass.
// flags: --strict
// Wrap -> Copy unique feasibility
#include <stdio.h>
#include <string.h>

int main(void) {
  char b[16];
  unsigned n;
  if (scanf("%u", &n) != 1 || n < 1000)
    return 1;
  unsigned bytes = n * 4u; // fault: Wrap integer-overflow
  if (bytes <= 16)
    strcpy(b, "a string that is too long for it"); // fault: Copy buffer-overflow
  return 0;
}
