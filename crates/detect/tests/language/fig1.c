//@ flags: --assume-alloc-succeeds
// Figure 1: a signed number becomes a size, the buffer of that size overflows, and a null
// pointer that is followed only where it was allocated.
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

struct item { int kind; };

int main(int argc, char **argv) {
  struct item *item = NULL;
  int is_item = argc > 2, count = 0;
  if (argc < 2 || scanf("%d", &count) != 1)
    return 1;
  if (count >= 0)              //~ step(sign)
    count = 128;
  if (is_item)
    item = malloc(sizeof *item);
  count = count * 8;           //~ fault[integer-overflow]
  char *text = malloc(count);  //~ fault(sign)[integer-signedness]
  if (count == 1024)
    strcpy(text, argv[1]);     //~ fault[buffer-overflow]
  if (is_item)
    item->kind = 1;            //~ ok[null-dereference]
  free(text);
  free(item);
  return 0;
}
