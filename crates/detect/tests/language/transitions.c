/*@ spec
fault transitions
title "assignment, conditions that start to hold, conditional and joined transitions"
vars int d; ptr p, q;
observe
  at $want(d)$        require Value(d) = 7
  at $open(p)$        require State(p) = ready
  at $below(d)$       require Value(d) < 100
contribute
  at $d = seven()$           Value(d) := 7
  at $d = small()$           ^ Value(d) < 100
  at $d = large()$           assume Value(d) >= 100
  at $mark(p, d)$            when Value(d) > 0 then State(p) := ready else State(p) := spent
  at $d = pick(p, q)$        [Value(d) := 7 && State(p) := ready], State(q) := ready
*/
struct thing { int x; };
void want(int); void open(struct thing *); void below(int);
int seven(void); int small(void); int large(void); int other(void);
void mark(struct thing *, int); int pick(struct thing *, struct thing *);

void transitions_bad(void) {
  struct thing a, b;
  want(seven() + 1); //~ fault[transitions]
  below(large());    //~ fault[transitions]
  mark(&a, 0);
  open(&a);          //~ fault[transitions]
  open(&b);          //~ fault[transitions]
}

void transitions_ok(void) {
  struct thing a, b, c;
  want(seven());     //~ ok[transitions]
  below(small());    //~ ok[transitions]
  mark(&a, 1);
  open(&a);          //~ ok[transitions]
  want(pick(&b, &c)); //~ ok[transitions]
  open(&b);          //~ ok[transitions]
  open(&c);          //~ ok[transitions]
}
