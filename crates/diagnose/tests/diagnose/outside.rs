//! What the world outside gives.

use crate::common::diagnose;

#[test]
fn clocks_do_not_run_backwards() {
    let text = "\
#include <assert.h>
#include <time.h>
static int seconds[60];
int main(void) {
  clock_t first = clock(), second = clock();
  time_t before = time(NULL), after = time(NULL);
  assert(second - first >= 0 && after - before >= 0);
  return seconds[after % 60];
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    assert!(diagnosis.violation.is_none(), "{:?}", diagnosis.violation);
    assert_eq!(diagnosis.incomplete, None);
}

#[test]
fn parts_of_a_second_do_not_run_backwards() {
    let text = "\
#include <assert.h>
#include <sys/time.h>
int main(void) {
  struct timeval first, second;
  gettimeofday(&first, 0);
  gettimeofday(&second, 0);
  assert(second.tv_sec > first.tv_sec || second.tv_usec >= first.tv_usec);
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    assert!(diagnosis.violation.is_none(), "{:?}", diagnosis.violation);
    assert_eq!(diagnosis.incomplete, None);
}

#[test]
fn what_a_clock_showed_is_told() {
    let text = "\
#include <time.h>
static int days[2];
int main(void) {
  time_t first = time(NULL), second;
  if (first < 3000000000)
    return 0;
  second = time(NULL);
  return days[2 + (second > first)];
}
";
    let found = diagnose(text, None, Vec::new()).violation.expect("time goes on");
    let told = &found.input.others[0];
    let moments = told.strip_prefix("time gives ").expect(told);
    let moments: Vec<i64> = moments.split(", ").map(|moment| moment.parse().unwrap()).collect();
    assert!(moments[0] >= 3_000_000_000 && moments[1] >= moments[0], "{told}");
}

#[test]
fn random_numbers_are_told_as_the_program_sees_them() {
    let text = "\
#include <stdlib.h>
static int t[5];
int main(void) {
  return t[rand() % 6];
}
";
    let found = diagnose(text, None, Vec::new()).violation.expect("a remainder of 5");
    let told = found.input.others[0].strip_prefix("rand gives ").expect("what rand gives");
    let told: i64 = told.parse().expect("one number");
    assert!(told >= 0 && told % 6 == 5, "{told}");
}
