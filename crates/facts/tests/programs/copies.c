/* Copies between memory of different shapes, and such that start in the middle of an element. */
struct pair { int *x; int *y; }; struct flat { int *a, *b, *c, *d; }; struct rows { int *row[2]; int n; };
static int one, two, three, four; static struct pair pairs[3], others[3]; static struct flat flat; static int *list[4]; static struct rows rows; static char bytes[64];
int main(void) { know("one", &one, 4); know("two", &two, 4); know("three", &three, 4); know("four", &four, 4);
    pairs[0].y = &one; pairs[1].x = &two; pairs[1].y = &three; memcpy(&others[0].y, &pairs[0].y, 2 * sizeof(int *)); see("y", others[0].y); see("x", others[1].x);
    list[0] = &one; list[1] = &two; list[3] = &four; memcpy(&flat, list, sizeof flat); see("b", flat.b); see("d", flat.d);
    memcpy(bytes, &flat, sizeof flat); struct flat again; memcpy(&again, bytes, sizeof again); see("again", again.d);
    memcpy(&rows, list, sizeof rows.row); see("row", rows.row[1]); memcpy(list + 2, rows.row, sizeof rows.row); see("list", list[3]);
    struct pair *heap = malloc(2 * sizeof *heap); memcpy(&heap[0].y, &pairs[0].y, 2 * sizeof(int *)); see("heap", heap[1].x); memcpy(&flat.c, heap, sizeof *heap); see("c", flat.d);
    struct flat *grown = realloc(list[0] ? malloc(8) : 0, sizeof *grown); memcpy(grown, list, sizeof *grown); see("grown", grown->b); return 0; }
