/*@ spec
fault signatures
title "every form of statement a signature can name"
vars int x, y, d; ptr p;
observe
  at $x = y + 77$           require Value(y) < 0
  at $y * 77$               require Value(y) < 0
  at $p[d] = 77$            require Value(d) < 0
  at $p->level = 77$        require false
  at $*p = 78$              require false
  at $x = p->depth$         require false
  at $x = (short) y$        require Value(y) < 0
  at $d += 79$              require Value(d) < 0
  at $_(y, 80)$             require Value(y) < 0
  at $x = fetch()$          require false
*/
struct box { int level, depth; };
void any_call(int, int); int fetch(void); short narrow; int sink;

void signatures_bad(struct box *box, int *cells) {
  int n = 5;
  sink = n + 77;      //~ fault[signatures]
  sink = n * 77;      //~ fault[signatures]
  cells[2] = 77;      //~ fault[signatures]
  box->level = 77;    //~ fault[signatures]
  *cells = 78;        //~ fault[signatures]
  sink = box->depth;  //~ fault[signatures]
  narrow = (short)n;  //~ fault[signatures]
  n += 79;            //~ fault[signatures]
  any_call(n, 80);    //~ fault[signatures]
  sink = fetch();     //~ fault[signatures]
}

void signatures_ok(struct box *box, int *cells) {
  int n = 5;
  sink = n + 78;      //~ ok[signatures]
  sink = n - 77;      //~ ok[signatures]
  cells[2] = 76;      //~ ok[signatures]
  box->depth = 77;    //~ ok[signatures]
  sink = box->level;  //~ ok[signatures]
  n += 78;            //~ ok[signatures]
  any_call(n, 81);    //~ ok[signatures]
}
