/*@ spec
fault returns
title "what a function returns, and what a switch decides by"
vars int x;
observe
  at $return x$     require Value(x) < 100
  at $switch (x)$   require Value(x) >= 0
*/
int returns_bad(int n) {
  int answer = 1;
  if (n > 3)
    answer = 100;
  return answer;  //~ fault[returns]
}

int returns_ok(int n) {
  int answer = n > 3 ? 99 : 1;
  return answer;  //~ ok[returns]
}

int switches_bad(int n) {
  int kind = 1;
  if (n > 3)
    kind = -1;
  switch (kind) { //~ fault[returns]
  case 0: return 1;
  case 1: return 2;
  }
  return 3;
}

int switches_ok(int n) {
  int kind = n > 3 ? 0 : 1;
  switch (kind) { //~ ok[returns]
  case 0: return 1;
  case 1: return 2;
  }
  return 3;
}
