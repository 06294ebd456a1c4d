// One fault at the start of a chain through six functions.
// A -> B unique direct
// A -> ReadsA unique direct
// B -> C unique direct
// B -> ReadsB unique direct
// C -> D unique direct
// C -> ReadsC unique direct
// D -> E unique direct
// D -> ReadsD unique direct
// E -> F unique direct
// E -> ReadsE unique direct
#include <stdlib.h>
#include <string.h>

static char a[32], b[32], c[32], d[32], e[32], f[32];

static void sixth(void) {
  strcpy(f, e); // fault: F buffer-overflow  fault: ReadsE buffer-overread
}

static void fifth(void) {
  strcpy(e, d); // fault: E buffer-overflow  fault: ReadsD buffer-overread
  sixth();
}

static void fourth(void) {
  strcpy(d, c); // fault: D buffer-overflow  fault: ReadsC buffer-overread
  fifth();
}

static void third(void) {
  strcpy(c, b); // fault: C buffer-overflow  fault: ReadsB buffer-overread
  fourth();
}

static void second(void) {
  strcpy(b, a); // fault: B buffer-overflow  fault: ReadsA buffer-overread
  third();
}

int main(void) {
  const char *input = getenv("INPUT");
  if (!input)
    return 1;
  strcpy(a, input); // fault: A buffer-overflow
  second();
  return 0;
}
