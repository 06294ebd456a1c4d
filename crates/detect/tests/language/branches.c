/*@ spec
fault branches
title "what holds on an edge of a branch changes states"
vars ptr p; int x;
observe
  at $use_key(p)$     require State(p) = verified
  at $use_big(x)$     require Value(x) > 7
contribute
  at $if (verify(p) == 0)$   State(p) := verified
  at $if (x >= limit())$     ^ Value(x) > 7
*/
struct key; int verify(struct key *); void use_key(struct key *); int limit(void); void use_big(int);

void branches_bad(struct key *key, int n) {
  if (verify(key) != 0)
    use_key(key);  //~ fault[branches]
  if (n < 3)
    use_big(n);    //~ fault[branches]
}

void branches_ok(struct key *key, int n) {
  if (verify(key) != 0)
    return;
  use_key(key);    //~ ok[branches]
  if (n >= limit())
    use_big(n);    //~ ok[branches]
}
