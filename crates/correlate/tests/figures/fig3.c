// A connection that is not served is never closed. Once there are no more of them to be had,
// the server waits for one for ever.
// Leak -> Hangs unique direct
#include <sys/socket.h>
#include <unistd.h>

static int serve(int listener) {
  int done = 0;
  while (!done) { // fault: Leak leak
    int client = accept(listener, 0, 0);
    if (client < 0)
      continue; // fault: Hangs infinite-loop
    char request[8];
    if (read(client, request, 8) == 8) {
      done = 1;
      close(client);
    }
  }
  return 0;
}

int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0)
    return 1;
  int served = serve(listener);
  close(listener);
  return served;
}
