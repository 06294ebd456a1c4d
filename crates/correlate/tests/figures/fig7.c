// A negative number skips the branch that gives the pointer its value.
// Sign -> Null unique feasibility
#include <stdio.h>

int main(void) {
  char buffer[8];
  char *p = NULL;
  unsigned u;
  if (scanf("%u", &u) != 1)
    return 1;
  int i = u; // fault: Sign integer-signedness
  if (i >= 0)
    p = buffer;
  p[0] = 1; // fault: Null null-dereference
  return p[0];
}
