#include <stdio.h>
#include "shape.h"

int main(void) {
  printf("%s %d\n", TITLE, area(2, 3));
  return 0;
}
