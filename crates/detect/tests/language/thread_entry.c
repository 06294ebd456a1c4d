/*@ spec
fault threads
title "a thread is started with nothing to work on"
vars ptr p;
observe
  at thread-entry(p)   require Value(p) != 0
*/
#include <pthread.h>
static void *worker(void *argument) {
  return argument;
}
int main(void) {
  pthread_t thread;
  static int job;
  pthread_create(&thread, 0, worker, 0);    //~ fault[threads]
  pthread_create(&thread, 0, worker, &job); //~ ok[threads]
  worker(0);                                //~ ok[threads]
  return 0;
}
