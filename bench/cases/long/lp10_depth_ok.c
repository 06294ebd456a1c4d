#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define DEPTH 256
static int stack[DEPTH];
int main(void) {
  int top = 0, line = 1, c;
  while ((c = getchar()) != EOF) {
    if (c == '\n') line++;
    if (c == '{') {
      if (top == DEPTH) return 1;
      stack[top++] = line;
    } else if (c == '}') {
      if (top == 0) return 1;
      top--;
    }
  }
  if (top > 0 && top <= DEPTH) printf("open since line %d\n", stack[top - 1]);
  return 0;
}
