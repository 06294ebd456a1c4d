// Figure 3 as it stands in the paper: it forgets the byte of the terminating zero, and so
// does this.
#include <string.h>
char target[8];

void copy_bad(void) {
  strcpy(target, "123456789");      //~ fault[fig3-buffer-overflow]
}

void copy_ok(void) {
  strcpy(target, "1234567");        //~ ok[fig3-buffer-overflow]
}

void join_bad(char *text) {
  char joined[32], small[8];
  strcpy(joined, "12345");
  strcat(joined, "67890");
  strcpy(small, joined);            //~ fault[fig3-buffer-overflow]
}

void shorten_ok(void) {
  char joined[32], small[8];
  strcpy(joined, "1234567890");
  joined[4] = '\0';
  strcpy(small, joined);            //~ ok[fig3-buffer-overflow]
}

void bytes_bad(const char *from) {
  memcpy(target, "1234567890ab", 12); //~ fault[fig3-buffer-overflow]
  target[8] = 1;                      //~ fault[fig3-buffer-overflow]
}

void bytes_ok(const char *from) {
  memcpy(target, "1234567890ab", 8);  //~ ok[fig3-buffer-overflow]
  memcpy(target, "123", 12);          //~ ok[fig3-buffer-overflow]
  target[7] = 1;                      //~ ok[fig3-buffer-overflow]
}
