// Two groups in one file that have nothing to do with each other.
// One -> OneAgain unique direct
// One -> OneReads unique direct
// Two -> TwoAgain unique direct
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void strings(void) {
  char a[16], b[16];
  const char *input = getenv("INPUT");
  if (!input)
    return;
  strcpy(a, input); // fault: One buffer-overflow
  strcpy(b, a);     // fault: OneAgain buffer-overflow  fault: OneReads buffer-overread
}

static void numbers(void) {
  int table[8];
  unsigned u;
  if (scanf("%u", &u) != 1)
    return;
  int i = u; // fault: Two integer-signedness
  if (i < 8)
    table[i] = 1; // fault: TwoAgain buffer-underflow
}

int main(void) {
  strings();
  numbers();
  return 0;
}
