// Processes and threads that are not followed end the run, which says so.

#include "suppress.h"

#define ENDS(name, failure)                                                                                  \
  int ff_m_##name(void) { ff_fail(failure, 0); }

ENDS(fork, FF_FORKED)
ENDS(vfork, FF_FORKED)
ENDS(system, FF_FORKED)
ENDS(popen, FF_FORKED)
ENDS(posix_spawn, FF_FORKED)
ENDS(posix_spawnp, FF_FORKED)
ENDS(pthread_create, FF_THREADS)
ENDS(thrd_create, FF_THREADS)
