/* The exec hook: preloaded into every dynamically linked program of a build, it sends
 * compilers, linkers and archivers through ff-cc, which runs them unchanged and takes
 * notes.
 *
 * It must never get in a build's way. It runs between fork (or vfork) and exec, so it
 * allocates nothing and keeps to the stack, except for argument lists too large for it.
 * It links no library, so that it can be loaded beside any libc: whatever it calls is
 * already in the process.
 *
 * FIRSTFAULT_CAPTURE names the capture folder; ff-cc lies in it. FIRSTFAULT_REAL tells
 * ff-cc which program was meant. */

#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;
#pragma weak dlsym
#pragma weak dladdr

#define CAPTURE "FIRSTFAULT_CAPTURE="
#define REAL "FIRSTFAULT_REAL="
#define PRELOAD "LD_PRELOAD="
/* Argument vectors up to this size live on the stack. */
#define STACK_BYTES (64 * 1024)

typedef int execve_type(const char *, char *const[], char *const[]);
typedef int fexecve_type(int, char *const[], char *const[]);
typedef int spawn_type(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const[], char *const[]);

static execve_type *real_execve, *real_execvpe;
static fexecve_type *real_fexecve;
static spawn_type *real_posix_spawn, *real_posix_spawnp;

/* Set once when the library is loaded; empty strings make it transparent. */
static char capture_variable[PATH_MAX];
static char wrapper[PATH_MAX];
static char hook_path[PATH_MAX];

__attribute__((constructor)) static void start(void) {
  if (!dlsym) return;
  real_execve = (execve_type *)dlsym(RTLD_NEXT, "execve");
  real_execvpe = (execve_type *)dlsym(RTLD_NEXT, "execvpe");
  real_fexecve = (fexecve_type *)dlsym(RTLD_NEXT, "fexecve");
  real_posix_spawn = (spawn_type *)dlsym(RTLD_NEXT, "posix_spawn");
  real_posix_spawnp = (spawn_type *)dlsym(RTLD_NEXT, "posix_spawnp");
  const char *folder = getenv("FIRSTFAULT_CAPTURE");
  Dl_info own;
  if (!real_execve || !folder || strlen(folder) > PATH_MAX - 64 || !dladdr ||
      !dladdr((void *)start, &own) || strlen(own.dli_fname) >= PATH_MAX)
    return;
  strcpy(hook_path, own.dli_fname);
  strcat(strcpy(capture_variable, CAPTURE), folder);
  strcat(strcpy(wrapper, folder), "/ff-cc");
}

static int ends_with(const char *text, size_t length, const char *end) {
  size_t n = strlen(end);
  return length >= n && memcmp(text + length - n, end, n) == 0;
}

/* Whether ff-cc wants to see this program. It knows names more exactly and runs at
 * once what it does not care about. */
static int is_tool(const char *path) {
  static const char *const names[] = {"cc",    "gcc",    "g++",   "c++",   "clang",  "clang++",
                                      "c89",   "c99",    "tcc",   "ccache", "sccache", "distcc",
                                      "ar",    "as",     "ld",    "ld.bfd", "ld.gold", "ld.lld",
                                      "ld.mold", "mold", "lld",   "strip",  "objcopy"};
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  size_t length = strlen(name);
  /* gcc-12, clang-19.1 */
  size_t version = length;
  while (version > 0 && strchr("0123456789.", name[version - 1])) version--;
  if (version > 0 && version < length && name[version - 1] == '-') length = version - 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t n = strlen(names[i]);
    if (ends_with(name, length, names[i]) && (length == n || name[length - n - 1] == '-')) return 1;
  }
  return 0;
}

/* A script is let through: the compiler it calls will be seen, with all its flags. */
static int is_binary(const char *path) {
  char start[2] = {0, 0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 1; /* executable but not readable */
  ssize_t n = read(fd, start, 2);
  close(fd);
  return n == 2 && memcmp(start, "#!", 2) != 0;
}

static int is_runnable(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* The file an execvp of `file` would run, found as the C library does. */
static const char *search(const char *file, char buffer[PATH_MAX]) {
  if (strchr(file, '/')) return file;
  const char *path = getenv("PATH");
  if (!path) path = "/bin:/usr/bin";
  size_t n_file = strlen(file);
  while (n_file > 0) {
    const char *end = strchr(path, ':');
    size_t n = end ? (size_t)(end - path) : strlen(path);
    if (n + n_file + 2 <= PATH_MAX) {
      memcpy(buffer, path, n);
      if (n > 0) buffer[n++] = '/';
      memcpy(buffer + n, file, n_file + 1);
      if (is_runnable(buffer)) return buffer;
    }
    if (!end) break;
    path = end + 1;
  }
  return NULL;
}

/* The program to send through ff-cc, or NULL to leave the call alone. */
static const char *wanted(const char *file, int use_path, char buffer[PATH_MAX]) {
  if (!wrapper[0] || !file || !is_tool(file)) return NULL;
  const char *path = use_path ? search(file, buffer) : file;
  if (!path || !is_runnable(path) || !is_binary(path)) return NULL;
  return path;
}

static const char *find_variable(char *const env[], const char *prefix) {
  size_t n = strlen(prefix);
  for (; env && *env; env++)
    if (strncmp(*env, prefix, n) == 0) return *env;
  return NULL;
}

/* Room for a changed environment: vectors and strings. */
struct room {
  char **env;
  char *strings;
  void *mapped;
  size_t size;
};

static size_t room_size(char *const env[], const char *real, size_t *n_entries) {
  *n_entries = 0;
  while (env && env[*n_entries]) ++*n_entries;
  const char *preload = find_variable(env, PRELOAD);
  return (*n_entries + 4) * sizeof(char *) + sizeof PRELOAD + (preload ? strlen(preload) : 0) +
         strlen(hook_path) + sizeof REAL + (real ? strlen(real) : 0) + 16;
}

/* Memory for the room; a macro, since what alloca gives ends with the function. */
#define MAKE_ROOM(room, bytes)                                                            \
  do {                                                                                    \
    (room).size = (bytes);                                                                \
    (room).mapped = NULL;                                                                 \
    if ((room).size <= STACK_BYTES) {                                                     \
      (room).env = alloca((room).size);                                                   \
    } else {                                                                              \
      (room).mapped = mmap(NULL, (room).size, PROT_READ | PROT_WRITE,                     \
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);                           \
      (room).env = (room).mapped == MAP_FAILED ? NULL : (room).mapped;                    \
    }                                                                                     \
  } while (0)

static void free_room(struct room *room) {
  int error = errno;
  if (room->mapped && room->mapped != MAP_FAILED) munmap(room->mapped, room->size);
  errno = error;
}

/* Copies LD_PRELOAD without our entry to `to`. Returns whether anything is left. */
static int without_hook(const char *preload, char *to) {
  size_t n_hook = strlen(hook_path);
  char *end = stpcpy(to, PRELOAD);
  char *values = end;
  const char *from = preload + sizeof PRELOAD - 1;
  while (*from) {
    size_t n = strcspn(from, ": ");
    if (n > 0 && (n != n_hook || memcmp(from, hook_path, n) != 0)) {
      if (end != values) *end++ = ':';
      memcpy(end, from, n);
      end += n;
    }
    from += n;
    from += strspn(from, ": ");
  }
  *end = '\0';
  return end != values;
}

/* The environment for ff-cc: the user's own, and which program was meant. */
static void env_for_wrapper(struct room *room, size_t n, char *const env[], const char *real) {
  char **out = room->env;
  char *strings = (char *)(room->env + n + 4);
  for (; env && *env; env++) {
    if (strncmp(*env, PRELOAD, sizeof PRELOAD - 1) == 0) {
      if (without_hook(*env, strings)) {
        *out++ = strings;
        strings += strlen(strings) + 1;
      }
    } else if (strncmp(*env, CAPTURE, sizeof CAPTURE - 1) != 0 &&
               strncmp(*env, REAL, sizeof REAL - 1) != 0) {
      *out++ = *env;
    }
  }
  *out++ = capture_variable;
  *out++ = strings;
  *out = NULL;
  strcpy(stpcpy(strings, REAL), real);
}

static int is_complete(char *const env[]) {
  const char *preload = find_variable(env, PRELOAD);
  return preload && strstr(preload, hook_path) && find_variable(env, CAPTURE);
}

/* The environment for anything else: programs that clean it must not lose us. */
static void env_for_others(struct room *room, size_t n, char *const env[]) {
  char **out = room->env;
  char *strings = (char *)(room->env + n + 4);
  const char *preload = find_variable(env, PRELOAD);
  for (; env && *env; env++)
    if (*env != preload && strncmp(*env, CAPTURE, sizeof CAPTURE - 1) != 0) *out++ = *env;
  *out++ = capture_variable;
  *out++ = strings;
  *out = NULL;
  char *end = stpcpy(stpcpy(strings, PRELOAD), hook_path);
  if (preload && !strstr(preload, hook_path) && preload[sizeof PRELOAD - 1])
    strcpy(stpcpy(end, ":"), preload + sizeof PRELOAD - 1);
}

/* Fills `room` with the environment to use; leaves `*use` alone where none is needed. */
#define ADAPT_ENVIRONMENT(room, env, real, use)                                           \
  do {                                                                                    \
    (room).mapped = NULL;                                                                 \
    (use) = (env);                                                                        \
    if (wrapper[0] && ((real) || !is_complete(env))) {                                    \
      size_t n_entries_;                                                                  \
      size_t bytes_ = room_size((env), (real), &n_entries_);                              \
      MAKE_ROOM(room, bytes_);                                                            \
      if ((room).env) {                                                                   \
        if (real)                                                                         \
          env_for_wrapper(&(room), n_entries_, (env), (real));                            \
        else                                                                              \
          env_for_others(&(room), n_entries_, (env));                                     \
        (use) = (room).env;                                                               \
      }                                                                                   \
    }                                                                                     \
  } while (0)

static int run(const char *file, int use_path, char *const argv[], char *const env[]) {
  char buffer[PATH_MAX];
  struct room room;
  char *const *use;
  const char *real = wanted(file, use_path, buffer);
  if (real) {
    ADAPT_ENVIRONMENT(room, env, real, use);
    if (use != env) real_execve(wrapper, argv, use);
    free_room(&room);
    /* ff-cc is gone: go on without it. */
  }
  const char *none = NULL;
  ADAPT_ENVIRONMENT(room, env, none, use);
  execve_type *call = use_path ? real_execvpe : real_execve;
  int result = -1;
  if (call)
    result = call(file, argv, use);
  else
    errno = ENOSYS;
  free_room(&room);
  return result;
}

static int spawn(spawn_type *call, int use_path, pid_t *pid, const char *file,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const argv[], char *const env[]) {
  char buffer[PATH_MAX];
  struct room room;
  char *const *use;
  const char *real = wanted(file, use_path, buffer);
  if (real) {
    ADAPT_ENVIRONMENT(room, env, real, use);
    int result = use == env || !real_posix_spawn
                     ? -1
                     : real_posix_spawn(pid, wrapper, actions, attributes, argv, use);
    free_room(&room);
    if (result == 0) return 0;
  }
  const char *none = NULL;
  ADAPT_ENVIRONMENT(room, env, none, use);
  int result = call ? call(pid, file, actions, attributes, argv, use) : ENOSYS;
  free_room(&room);
  return result;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int execve(const char *path, char *const argv[], char *const env[]) {
  return run(path, 0, argv, env);
}

EXPORT int execv(const char *path, char *const argv[]) { return run(path, 0, argv, environ); }

EXPORT int execvpe(const char *file, char *const argv[], char *const env[]) {
  return run(file, 1, argv, env);
}

EXPORT int execvp(const char *file, char *const argv[]) { return run(file, 1, argv, environ); }

EXPORT int fexecve(int fd, char *const argv[], char *const env[]) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n > 0) {
    path[n] = '\0';
    char buffer[PATH_MAX];
    if (wanted(path, 0, buffer)) return run(path, 0, argv, env);
  }
  struct room room;
  char *const *use;
  const char *none = NULL;
  ADAPT_ENVIRONMENT(room, env, none, use);
  int result = -1;
  if (real_fexecve)
    result = real_fexecve(fd, argv, use);
  else
    errno = ENOSYS;
  free_room(&room);
  return result;
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[],
                       char *const env[]) {
  return spawn(real_posix_spawn, 0, pid, path, actions, attributes, argv, env);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[],
                        char *const env[]) {
  return spawn(real_posix_spawnp, 1, pid, file, actions, attributes, argv, env);
}

/* Collects variable arguments into `argv`; `last` is the list after its first word. */
#define COLLECT(argv, first, list, after)                                                 \
  va_list list;                                                                           \
  size_t count_ = 1;                                                                      \
  va_start(list, first);                                                                  \
  while (va_arg(list, char *)) count_++;                                                  \
  va_end(list);                                                                           \
  char **argv = alloca((count_ + 1) * sizeof(char *));                                    \
  va_start(list, first);                                                                  \
  argv[0] = (char *)first;                                                                \
  for (size_t i_ = 1; i_ <= count_; i_++) argv[i_] = va_arg(list, char *);                \
  after;                                                                                  \
  va_end(list)

EXPORT int execl(const char *path, const char *first, ...) {
  COLLECT(argv, first, list, (void)0);
  return run(path, 0, argv, environ);
}

EXPORT int execlp(const char *file, const char *first, ...) {
  COLLECT(argv, first, list, (void)0);
  return run(file, 1, argv, environ);
}

EXPORT int execle(const char *path, const char *first, ...) {
  char *const *env;
  COLLECT(argv, first, list, env = va_arg(list, char *const *));
  return run(path, 0, argv, env);
}
