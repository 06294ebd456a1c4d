#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

struct peer { char host[256]; char port[16]; };
static int split(struct peer *p, const char *arg) {
  const char *colon = strrchr(arg, ':');
  size_t n;
  if (!colon) return -1;
  n = colon - arg;
  if (n >= sizeof p->host) return -1;
  memcpy(p->host, arg, n);
  p->host[n] = 0;
  if (strlen(colon + 1) >= sizeof p->port) return -1;
  strcpy(p->port, colon + 1);
  return 0;
}
int main(int argc, char **argv) {
  struct peer p;
  if (argc != 2 || split(&p, argv[1]) < 0) return 1;
  printf("%s %s\n", p.host, p.port);
  return 0;
}
