/* A list on the heap, reversed in place. */
struct n { int v; struct n *next; };
static struct n *push(struct n *head, int v) { struct n *n = malloc(sizeof *n);
    n->v = v; n->next = head; return n; }
static struct n *reverse(struct n *head) { struct n *back = NULL;
    while (head) { struct n *next = head->next; head->next = back; back = head; head = next; } return back; }
int main(void) { struct n *l = NULL; for (int i = 0; i < 4; i++) { l = push(l, i); know("node", l, sizeof *l); }
    watch("reverse"); l = reverse(l); changed("reverse"); see("head", l); see("second", l->next);
    for (struct n *n = l; n; n = n->next) { see("each", n); see("after", n->next); see_int("v", n->v); } return 0; }
