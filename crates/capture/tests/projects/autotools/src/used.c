int deep(int);
int used(int x) { return deep(x) + 1; }
