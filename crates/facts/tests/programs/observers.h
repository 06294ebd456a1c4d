/* The observers as they run natively. They print what the program does; the analysis sees
   functions of the same names that do nothing. */
int printf(const char *, ...);
static struct { const char *name; const char *start; size_t size; char before[512]; } known_[4096];
static int n_known_;
static const char *watching_[64];
static int n_watching_;

/* This memory has a name from now on. */
static void know(const char *name, const void *start, size_t size) {
    known_[n_known_].name = name;
    known_[n_known_].start = start;
    known_[n_known_].size = size < 512 ? size : 512;
    n_known_++;
}
/* Its life ended. */
static void forget(const char *name, const void *start) {
    for (int i = 0; i < n_known_; i++)
        if (known_[i].start == start) known_[i].size = 0;
}
static void see(const char *label, const void *pointer) {
    if (!pointer) { printf("null %s\n", label); return; }
    for (int i = n_known_ - 1; i >= 0; i--) {
        long at = (const char *)pointer - known_[i].start;
        if (at >= 0 && (size_t)at < known_[i].size) {
            printf("points %s %s %ld\n", label, known_[i].name, at);
            return;
        }
    }
}
static void see_int(const char *label, long number) { printf("number %s %ld\n", label, number); }
/* What changes until `changed` is printed there. */
static void watch(const char *label) {
    for (int i = 0; i < n_known_; i++) memcpy(known_[i].before, known_[i].start, known_[i].size);
    watching_[n_watching_++] = label;
}
static void changed(const char *label) {
    n_watching_--;
    for (int i = 0; i < n_known_; i++)
        for (size_t at = 0; at < known_[i].size; at++)
            if (known_[i].before[at] != known_[i].start[at])
                printf("changed %s %s %ld\n", label, known_[i].name, (long)at);
}
static void entered(const char *function) {
    for (int i = 0; i < n_watching_; i++) printf("entered %s %s\n", watching_[i], function);
}
