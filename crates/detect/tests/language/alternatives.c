/*@ spec
fault alternatives
title "what the environment chooses, and what nobody knows"
vars int d;
observe
  at $want(d)$   require Value(d) < 10
contribute
  at $d = may_fail()$    may Value(d) := 99 else Value(d) := 1
  at $d = either()$      Value(d) := 1 || Value(d) := 2
  at $d = chosen()$      Value(d) := input [0, 50]
  at $d = unknown()$     Value(d) := [0, 50]
  at $d = near()$        Value(d) := input [0, 9]
*/
void want(int); int may_fail(void); int either(void); int chosen(void); int unknown(void);
int near(void);

void alternatives_bad(void) {
  want(may_fail()); //~ fault[alternatives]
  want(chosen());   //~ fault[alternatives]
}

void alternatives_ok(void) {
  want(either());   //~ ok[alternatives]
  want(unknown());  //~ ok[alternatives]
  want(near());     //~ ok[alternatives]
  int failed = may_fail();
  if (failed == 99)
    return;
  want(failed);     //~ ok[alternatives]
}
