#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define LINES 200
static char *history[LINES];
static int n_lines;
static void remember(const char *line) {
  char *copy = malloc(strlen(line) + 1);
  if (!copy) exit(1);
  strcpy(copy, line);
  if (n_lines >= LINES) {
    free(history[0]);
    memmove(history, history + 1, (LINES - 1) * sizeof *history);
    n_lines = LINES - 1;
  }
  history[n_lines++] = copy;
}
int main(void) {
  char line[80];
  int i;
  while (fgets(line, sizeof line, stdin)) remember(line);
  for (i = 0; i < n_lines && i < LINES; i++) {
    fputs(history[i], stdout);
    free(history[i]);
  }
  return 0;
}
