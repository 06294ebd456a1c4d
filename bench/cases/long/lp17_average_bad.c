#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

int main(void) {
  int v, n = 0, taken = 0;
  long sum = 0;
  while (scanf("%d", &v) == 1) {
    if (v < 0 || v > 1000) continue;
    n++;
    if (n % 100 == 0) {
      sum += v;
      taken++;
    }
  }
  if (n > 120 || taken > 0 || n < 110)
    printf("%ld\n", sum / (n < 110 ? 1 : taken - 1));
  return 0;
}
