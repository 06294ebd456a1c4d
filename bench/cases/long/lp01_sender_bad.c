#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define ROOM 320
static char sender[ROOM];
static void take(const char *from) {
  int n = 0;
  int angle = 0;
  for (; *from && *from != ','; from++) {
    if (*from == '<') angle++;
    if (*from == '>') angle--;
    if (angle > 1) break;
    sender[n++] = *from;
  }
  sender[n < ROOM ? n : ROOM - 1] = 0;
}
int main(void) {
  char line[600];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "From: ", 6) == 0) take(line + 6);
  }
  printf("%s\n", sender);
  return 0;
}
