/*@ spec
fault kinds
title "each kind of variable takes only what it names"
vars buffer a; int d; float f; ptr p; any e;
observe
  at $take_buffer(a)$   require Size(a) >= 8
  at $take_int(d)$      require Value(d) != 3
  at $take_float(f)$    require Value(f) != 0
  at $take_ptr(p)$      require Value(p) != 0
  at $take_any(e)$      require Value(e) != 3
  # An int variable does not stand for a pointer, nor the other way round.
  at $take_both(d)$     require Value(d) != 0
*/
void take_buffer(char *); void take_int(int); void take_float(double);
void take_ptr(void *); void take_any(int); void take_both(char *);

void kinds_bad(void) {
  char small[4];
  take_buffer(small); //~ fault[kinds]
  take_int(3);        //~ fault[kinds]
  take_float(0.0);    //~ fault[kinds]
  take_ptr(0);        //~ fault[kinds]
  take_any(3);        //~ fault[kinds]
}

void kinds_ok(void) {
  char large[8];
  take_buffer(large); //~ ok[kinds]
  take_int(4);        //~ ok[kinds]
  take_float(1.0);    //~ ok[kinds]
  take_ptr(large);    //~ ok[kinds]
  take_any(4);        //~ ok[kinds]
  take_both(0);       //~ ok[kinds]
}
