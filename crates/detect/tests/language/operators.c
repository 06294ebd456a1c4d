/*@ spec
fault computes
title "arithmetic, min and max, ranges, set operators, grouping, constants"
vars int d, e; buffer a;
observe
  at $sum(d, e)$      require Value(d) + Value(e) = 7
  at $less(d, e)$     require Value(d) - Value(e) = 7
  at $times(d, e)$    require Value(d) * Value(e) = 12
  at $over(d, e)$     require Value(d) / Value(e) = 2
  at $rest(d, e)$     require Value(d) % Value(e) = 2
  at $minus(d)$       require -Value(d) = 4
  at $order(d, e)$    require 2 * [Value(d) + Value(e)] = 14
  at $least(d, e)$    require min(Value(d), Value(e)) = 3
  at $most(d, e)$     require max(Value(d), Value(e)) = 4
  at $inside(d)$      require Value(d) in [0, 9] intersect [5, 20]
  at $either(d)$      require Value(d) in {1, 2} union [8, 9]
  at $truth(a)$       require Init(*a) = true
  at $not(a)$         require !IsConstStr(a)
*/
void sum(int, int); void less(int, int); void times(int, int); void over(int, int);
void rest(int, int); void minus(int); void order(int, int); void least(int, int);
void most(int, int); void inside(int); void either(int); void truth(int *); void not(const char *);

void computes_bad(void) {
  int unset;
  sum(3, 5);   //~ fault[computes]
  less(9, 3);  //~ fault[computes]
  times(3, 5); //~ fault[computes]
  over(9, 3);  //~ fault[computes]
  rest(9, 3);  //~ fault[computes]
  minus(4);    //~ fault[computes]
  order(3, 3); //~ fault[computes]
  least(4, 4); //~ fault[computes]
  most(3, 3);  //~ fault[computes]
  inside(4);   //~ fault[computes]
  either(3);   //~ fault[computes]
  truth(&unset); //~ fault[computes]
  not("text"); //~ fault[computes]
}

void computes_ok(char *text) {
  int set = 1;
  sum(3, 4);   //~ ok[computes]
  less(9, 2);  //~ ok[computes]
  times(3, 4); //~ ok[computes]
  over(8, 3);  //~ ok[computes]
  rest(8, 3);  //~ ok[computes]
  minus(-4);   //~ ok[computes]
  order(3, 4); //~ ok[computes]
  least(3, 4); //~ ok[computes]
  most(3, 4);  //~ ok[computes]
  inside(5);   //~ ok[computes]
  either(8);   //~ ok[computes]
  truth(&set); //~ ok[computes]
  not(text);   //~ ok[computes]
}
