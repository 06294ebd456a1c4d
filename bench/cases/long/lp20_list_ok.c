#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

struct node { struct node *next; int v; };
int main(void) {
  struct node *head = NULL;
  int v, n = 0;
  while (scanf("%d", &v) == 1) {
    struct node *k = malloc(sizeof *k);
    if (!k) break;
    k->v = v;
    k->next = head;
    head = k;
  }
  while (head) {
    struct node *next = head->next;
    free(head);
    head = next;
    n++;
  }
  printf("%d\n", n);
  return 0;
}
