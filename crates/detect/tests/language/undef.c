/*@ spec
fault undefined
title "undef: a string without its end, a state nobody set"
vars buffer a; int d; any e; ptr p;
observe
  at $print(a)$     require Len(a) != undef
  at $start(p)$     require State(p) = undef
contribute
  at $a[d] = e$ && Value(e) = '\0'
       when Len(a) > Value(d) || Len(a) = undef then Len(a) := Value(d)
  at $touch(p)$     State(p) := touched
  at $reset(p)$     State(p) := undef
*/
void print(const char *); void start(int *); void touch(int *); void reset(int *);

void undefined_bad(void) {
  char full[2];
  int cell;
  full[0] = 'a';
  full[1] = 'b';
  print(full);   //~ fault[undefined]
  touch(&cell);
  start(&cell);  //~ fault[undefined]
}

void undefined_ok(void) {
  char text[2];
  int cell, other;
  text[0] = 'a';
  text[1] = 0;
  print(text);   //~ ok[undefined]
  start(&cell);  //~ ok[undefined]
  touch(&other);
  reset(&other);
  start(&other); //~ ok[undefined]
}
