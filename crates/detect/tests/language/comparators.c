/*@ spec
fault compares
title "every comparator, membership, and the operators that join conditions"
vars Vint d, e;
observe
  at $eq(d)$       require Value(d) = 1
  or
  at $ne(d)$       require Value(d) != 1
  or
  at $lt(d)$       require Value(d) < 1
  or
  at $le(d)$       require Value(d) <= 1
  or
  at $gt(d)$       require Value(d) > 1
  or
  at $ge(d)$       require Value(d) >= 1
  or
  at $within(d)$   require Value(d) in [1, 5]
  or
  at $outside(d)$  require Value(d) not in {1, 5}
  or
  at $both(d, e)$  require Value(d) > 0 && Value(e) > 0
  or
  at $any(d, e)$   require Value(d) > 0 || Value(e) > 0
  or
  at $none(d, e)$  require ![Value(d) > 0 || Value(e) > 0]
*/
void eq(int); void ne(int); void lt(int); void le(int); void gt(int); void ge(int);
void within(int); void outside(int); void both(int, int); void any(int, int); void none(int, int);

void compares_bad(void) {
  eq(0);      //~ fault[compares]
  ne(1);      //~ fault[compares]
  lt(1);      //~ fault[compares]
  le(2);      //~ fault[compares]
  gt(1);      //~ fault[compares]
  ge(0);      //~ fault[compares]
  within(6);  //~ fault[compares]
  outside(5); //~ fault[compares]
  both(1, 0); //~ fault[compares]
  any(0, 0);  //~ fault[compares]
  none(0, 1); //~ fault[compares]
}

void compares_ok(void) {
  eq(1);      //~ ok[compares]
  ne(0);      //~ ok[compares]
  lt(0);      //~ ok[compares]
  le(1);      //~ ok[compares]
  gt(2);      //~ ok[compares]
  ge(1);      //~ ok[compares]
  within(5);  //~ ok[compares]
  outside(3); //~ ok[compares]
  both(1, 1); //~ ok[compares]
  any(0, 1);  //~ ok[compares]
  none(0, 0); //~ ok[compares]
}
