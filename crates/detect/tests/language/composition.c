/*@ spec
fault composed
title "an attribute of what another attribute names: operations, operands, what is pointed to"
vars int d; ptr p;
observe
  at $scale(d)$      require Op(d) != mul || Op(Src(d, 2)) = constant
  at $through(p)$    require Value(*p) < 10
  at $size(d)$       require Value(Src(d, 1)) < 100
*/
void scale(int); void through(int *); void size(int);

void composed_bad(int a, int b) {
  int cell = 12;
  scale(a * b);    //~ fault[composed]
  through(&cell);  //~ fault[composed]
  int n = 300;
  if (a > 100)
    n = 200;
  size(n + 1);     //~ fault[composed]
}

void composed_ok(int a, int b) {
  int cell = 9;
  scale(a * 3);    //~ ok[composed]
  scale(a + b);    //~ ok[composed]
  through(&cell);  //~ ok[composed]
  int n = a > 100 ? 20 : 30;
  size(n + 1);     //~ ok[composed]
}
