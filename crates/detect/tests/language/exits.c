/*@ spec
fault exits
title "an object is left in a state the function must not leave it in"
vars ptr p; any r;
observe
  at exit(p)   require State(p) != begun
  at lost(r)   require State(r) != taken
contribute
  at $begin(p)$        State(p) := begun
  at $commit(p)$       State(p) := done
  at $r = take()$      State(r) := taken
  at $give(r)$         State(r) := given
*/
struct db; struct token; void begin(struct db *); void commit(struct db *);
struct token *take(void); void give(struct token *); extern struct token *kept;

void exits_bad(struct db *db, int fails) {
  begin(db);
  if (fails)
    return;    //~ fault[exits]
  commit(db);
}              //~ ok[exits]

void lost_bad(int fails) {
  struct token *token = take();
  if (fails)
    return;    //~ fault[exits]
  give(token);
}

void lost_ok(void) {
  kept = take();
}              //~ ok[exits]
