/* Code outside the program: only the native build has it. */
static void *kept_[16];
static int n_kept_;
void out_keep(void *pointer) { kept_[n_kept_++ % 16] = pointer; }
void *out_fetch(int index) { return kept_[index % 16]; }
void out_link(int to, int from) { *(void **)kept_[to] = kept_[from]; }
void out_number(int to, int number) { *(int *)kept_[to] = number; }
void out_call(void (*function)(void *), int index) { function(kept_[index]); }
