// A sign lost on the way in lets a branch skip the allocation that follows it.
// Sign -> Null unique feasibility
#include <stdio.h>
#include <stdlib.h>

struct track {
  int rate;
};

static unsigned little_endian(const unsigned char *p) {
  return p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24;
}

int main(void) {
  unsigned char head[16];
  static struct track tracks[8];
  struct track *track = NULL;
  int count = 0;
  if (fread(head, 1, sizeof head, stdin) != sizeof head)
    return 1;
  int current = little_endian(head); // fault: Sign integer-signedness
  if (current >= count)
    track = tracks;
  track->rate = 44100; // fault: Null null-dereference
  return track->rate;
}
