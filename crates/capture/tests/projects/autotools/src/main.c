#include <stdio.h>
#include "config.h"
#include "generated.h"

int used(int);
int old();

int main(void) {
  printf("%d %d\n", used(GENERATED), old(1, 2));
  return 0;
}
