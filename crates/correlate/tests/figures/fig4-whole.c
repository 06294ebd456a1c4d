// A name that is too long for its buffer is copied to another, letter by letter or at once, and
// back. Its end is set one too far, which goes wrong without the long name as well.
// only: buffer-overflow
// In -> Lower unique feasibility
// In -> Letter unique feasibility
// In -> End direct
// In -> Copy unique direct
// In -> Back unique direct
// Copy -> Strip unique direct
// Copy -> Back direct
// Strip -> Back direct
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int clean;

static int has_uppers(const char *name) {
  return isupper(name[0]);
}

static void convert(char *original) {
  char newname[2048];
  char *backslash = NULL;
  size_t i;
  if (has_uppers(original)) {
    for (i = 0; i < strlen(original); i++) {
      if (isupper(original[i])) {
        newname[i] = tolower(original[i]); // fault: Lower buffer-overflow
        continue;
      }
      newname[i] = original[i]; // fault: Letter buffer-overflow
    }
    newname[i + 1] = '\0'; // fault: End buffer-overflow
  } else {
    strcpy(newname, original); // fault: Copy buffer-overflow
  }
  if (clean) {
    backslash = strchr(newname, '\\');
    if (backslash != NULL)
      strcpy(newname, &backslash[1]); // fault: Strip buffer-overflow
  }
  strcpy(original, newname); // fault: Back buffer-overflow
}

int main(int argc, char **argv) {
  char filename[2048];
  const char *name = getenv("NAME");
  if (!name)
    return 1;
  clean = argc > 1;
  strcpy(filename, name); // fault: In buffer-overflow
  convert(filename);
  return 0;
}
