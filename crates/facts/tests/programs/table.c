/* A machine driven by tables of functions. */
struct op { const char *name; int (*run)(int *, int); int *counter; };
static int adds, subs;
static int add(int *s, int n) { entered("add"); *s += n; return 1; } static int sub(int *s, int n) { entered("sub"); *s -= n; return 2; }
static int none(int *s, int n) { entered("none"); return 0; }
static struct op ops[] = { { "add", add, &adds }, { "sub", sub, &subs } };
int main(void) { int state = 0; know("state", &state, 4); know("adds", &adds, 4); know("subs", &subs, 4); know("ops", ops, sizeof ops);
    for (int i = 0; i < 2; i++) { struct op *o = &ops[i]; watch("run"); int r = o->run(&state, 5); changed("run");
        see("op", o); see("counter", o->counter); see_int("r", r); (*o->counter)++; }
    ops[1].run = none; watch("changed"); ops[1].run(&state, 1); changed("changed"); see_int("state", state); return 0; }
