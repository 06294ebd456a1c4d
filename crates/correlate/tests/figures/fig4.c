// A name that is too long for its buffer is copied to another, and back.
// In -> Copy unique direct
// In -> CopyReads unique direct
// Copy -> Back unique direct
// Copy -> BackReads unique direct
#include <stdlib.h>
#include <string.h>

static void convert(char *original) {
  char newname[2048];
  strcpy(newname, original); // fault: Copy buffer-overflow  fault: CopyReads buffer-overread
  strcpy(original, newname); // fault: Back buffer-overflow  fault: BackReads buffer-overread
}

int main(void) {
  char filename[2048];
  const char *name = getenv("NAME");
  if (!name)
    return 1;
  strcpy(filename, name); // fault: In buffer-overflow
  convert(filename);
  return 0;
}
