#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define RETRIES 100
struct job { int tries; char name[32]; };
static struct job *make(const char *name) {
  struct job *j = malloc(sizeof *j);
  if (!j) exit(1);
  j->tries = 0;
  snprintf(j->name, sizeof j->name, "%s", name);
  return j;
}
int main(void) {
  struct job *j = make("upload");
  int c;
  while ((c = getchar()) != EOF) {
    if (c == '!') {
      j->tries++;
      if (j->tries == RETRIES) {
        free(j);
        fprintf(stderr, "%s failed\n", j->name);
        return 1;
      }
    } else if (c == '.') {
      j->tries = 0;
    }
  }
  free(j);
  return 0;
}
