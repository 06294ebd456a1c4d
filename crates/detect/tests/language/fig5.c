// Figure 5: arithmetic that does not fit, with lengths of strings and tests on the way.
#include <string.h>
#include <stdio.h>

int sums_bad(void) {
  int n = 0;
  scanf("%d", &n);
  int more = n + 1;        //~ fault[fig5-integer-overflow]
  int less = n - 2;        //~ fault[fig5-integer-overflow]
  int much = n * 3;        //~ fault[fig5-integer-overflow]
  return more ^ less ^ much;
}

int sums_ok(void) {
  int n = 0;
  scanf("%d", &n);
  int less = 0;
  if (n >= 0)
    less = n - 2;          //~ ok[fig5-integer-overflow]
  return less;
}

int length_ok(void) {
  unsigned char total;
  int length = strlen("1234567890");
  int sum = length + 2147483637; //~ ok[fig5-integer-overflow]
  return sum;
}

int length_bad(void) {
  int length = strlen("12345678901");
  int sum = length + 2147483637; //~ fault[fig5-integer-overflow]
  return sum;
}
