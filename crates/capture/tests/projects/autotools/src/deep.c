int deep(int x) { return x * 2; }
