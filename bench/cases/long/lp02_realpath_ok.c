#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

#define MAXPATH 256
static int join(char *out, const char *root, const char *name) {
  size_t n = strlen(root);
  if (n + strlen(name) + 1 >= MAXPATH) return -1;
  strcpy(out, root);
  out[n] = '/';
  strcpy(out + n + 1, name);
  return 0;
}
int main(int argc, char **argv) {
  char path[MAXPATH];
  if (argc < 3) return 2;
  if (join(path, argv[1], argv[2]) < 0) {
    fprintf(stderr, "too long\n");
    return 1;
  }
  puts(path);
  return 0;
}
