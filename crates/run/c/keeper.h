// The keeper starts programs under test in a sandbox: see crates/run/src/sandbox.
//
// It is a small program of its own because what starts a program has to be small (a fork
// copies page tables), single-threaded (namespaces of users) and to outlive a killed
// firstfault just long enough to end what runs. One keeper has one run at a time.
#pragma once
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

// Standard input of the keeper: a stream socket to firstfault.
enum { SOCKET = 0 };

enum level {
  LEVEL_LIMITS = 0,   // Limits alone.
  LEVEL_LANDLOCK = 1, // No writes but in the run's folder, no sockets.
  LEVEL_FULL = 2,     // Namespaces.
};

enum flag {
  FLAG_NETWORK = 1, // The network of the machine.
  FLAG_PTRACE = 2,  // Processes of the run may trace each other: leak checkers do.
};

// The layouts below are written and read by sandbox/message.rs.

// How a keeper starts: then `n_places` strings, each ended by a zero byte, `size` bytes.
struct start {
  uint32_t level;
  uint32_t flags;
  uint32_t n_places;
  uint32_t size;
};

// What it answers.
struct greeting {
  char magic[4];
  uint32_t level;
  char said[120]; // Why the level is not the one that was asked for.
};

// Ends the run there is; comes late where that has just ended.
enum { STOP = 'k' };

// One run, with three descriptors: then places, folder, program, arguments, environment.
struct request {
  char magic[4]; // FFR1: it does not start with STOP.
  uint32_t size;
  uint32_t n_places;
  uint32_t n_arguments;
  uint32_t n_variables;
  uint32_t n_processes;
  uint64_t file_size; // Bytes of any file.
  uint64_t memory;    // Bytes of address space.
  uint64_t kept;      // Bytes of all files outside its own folder together.
  uint64_t flags;
};

struct reply {
  int32_t status;  // As wait() gives it.
  int32_t problem; // 0, or the error number of what could not be set up.
  uint64_t microseconds;
  uint64_t kib;
  char said[120]; // What could not be set up.
};

// What stands in front of a path in a list of places.
enum place {
  PLACE_FOLDER = 'd',   // An empty folder.
  PLACE_LINK = 'l',     // A symbolic link; the next string is what it says.
  PLACE_READ = 'o',     // The tree without sockets, if that is possible, read-only.
  PLACE_BIND = 'b',     // The tree as it is, read-only.
  PLACE_VANISH = 'v',   // The tree; what is written goes away with the run.
  PLACE_WRITE = 'w',    // The tree as it is.
  PLACE_EMPTY = 'e',    // Nothing, writable; goes away with the run.
};

// Strings one after another.
struct strings {
  char *next;
  char *end;
};

// In main.c.
extern unsigned users_mask;
char *next_string(struct strings *strings);

// In tree.c. They return 0, or -1 with errno set and `problem` said.
extern const char *problem;
int failed(const char *what);
int make_tree(struct strings places, uint32_t n_places);
int complete_tree(struct strings *places, const struct request *request);

// In confine.c.
int drop_capabilities(void);
int filter_calls(enum level level, uint32_t flags);
int has_landlock(void);
int landlock(struct strings places, uint32_t n_places);

// In run.c.
int try_run(void);
void serve(enum level level, uint32_t flags);
