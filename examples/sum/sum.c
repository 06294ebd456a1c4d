int sum(int *a, int n) {
  int i, s = 0;
  for (i = 0; i <= n; ++i) {
    s = s + a[i];
  }
  return s;
}

int main(void) {
  int a[3] = {1, 2, 3};
  sum(a, 3);
  return 0;
}
