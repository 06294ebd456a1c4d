#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

int main(void) {
  int total[12];
  int month, amount, i, rows = 0;
  for (i = 0; i < 12; i++) total[i] = 0;
  while (scanf("%d %d", &month, &amount) == 2) {
    if (month < 1 || month > 12 || amount < 0 || amount > 100) continue;
    if (rows++ < 120) {
      if (month <= 9) total[month - 1] = (total[month - 1] + amount) % 1000;
    } else if (total[month - 1] < 500) {
      total[month - 1]++;
    }
  }
  printf("%d\n", total[0]);
  return 0;
}
