/*@ spec
fault narrowed
title "points: a signature, a condition, a signature with a condition, several of them"
vars ptr p; int d; any e;
observe
  at $one(d)$ or $two(d)$             require Value(d) > 0
  at $guarded(d, p)$ && Value(p) != 0 require Value(d) > 0
  at MatchOperand(p[d]) != empty      require Value(d) < 3
contribute
  at $d = ask(e)$ && Value(e) = 1     Value(d) := 5
  at $d = ask(e)$ && Value(e) = 2     Value(d) := -5
*/
void one(int); void two(int); void guarded(int, void *); int ask(int);

void narrowed_bad(int *table) {
  one(0);                  //~ fault[narrowed]
  two(0);                  //~ fault[narrowed]
  guarded(0, &table);      //~ fault[narrowed]
  one(ask(2));             //~ fault[narrowed]
  two(1 + table[4] * 3);   //~ fault[narrowed]
}

void narrowed_ok(int *table) {
  one(1);                  //~ ok[narrowed]
  two(1);                  //~ ok[narrowed]
  guarded(0, 0);           //~ ok[narrowed]
  one(ask(1));             //~ ok[narrowed]
  one(ask(3));             //~ ok[narrowed]
  two(table[2] > 1);       //~ ok[narrowed]
}
