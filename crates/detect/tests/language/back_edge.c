/*@ spec
fault rounds
title "a loop that starts again although nothing can end it"
observe
  at back-edge   require Exits()
*/
int rounds_bad(int n) {
  while (n > 0) {
    if (n == 7)
      continue; //~ fault[rounds]
    n--;
  }
  return n;
}

int rounds_ok(int n) {
  while (n > 0)
    n--;        //~ ok[rounds]
  return n;
}
