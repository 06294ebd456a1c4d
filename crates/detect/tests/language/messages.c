/*@ spec
fault wording
title "metadata: what is printed, and what is corrupted"
severity note
cwe 682
vars buffer a;
observe
  at $first(a)$    require Size(a) >= 4
  at $second(a)$   require Size(a) >= 4
    message "own words about {a}: {4 - Size(a)} missing"
  strict at $third(a)$ require Size(a) >= 4
error-state Len(a) >= Size(a)
message "{a} has {Size(a)}"
*/
void first(char *); void second(char *); void third(char *);
void wording_bad(void) {
  char small[3];
  first(small);  //~ fault[wording]: "small has 3"
  second(small); //~ fault[wording]: "own words about small: 1 missing"
  third(small);  //~ ok[wording]
}
