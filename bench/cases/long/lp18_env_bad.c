#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

static char path[300];
int main(int argc, char **argv) {
  const char *home = getenv("HOME");
  const char *file = argc > 1 ? argv[1] : "rc";
  if (!home) return 1;
  if (strlen(home) > 280) return 1;
  sprintf(path, "%s/.%s", home, file);
  puts(path);
  return 0;
}
