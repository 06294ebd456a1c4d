// One run after the other: a process that starts namespaces of its own and looks after the
// program, which is its child, until everything has ended.
#include "keeper.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct run {
  struct request request;
  struct strings strings;
  int streams[3];
  enum level level;
  int reply; // Where the process that looks after the run writes its reply.
  int stop;  // It ends the run when this is closed: also when the keeper was killed.
  uint64_t microseconds, kib;
};

static int fail_run(const struct run *run) {
  struct reply reply = {.problem = errno ? errno : EIO};
  snprintf(reply.said, sizeof reply.said, "%s", problem);
  return write(run->reply, &reply, sizeof reply) == sizeof reply ? 0 : 1;
}

static void limit(int resource, uint64_t value) {
  struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
  setrlimit(resource, &limit);
}

// Becomes the program. Where that fails, the error number goes into `failure`.
static void become_program(struct run *run, struct strings places, char **arguments,
                           char **variables, const char *folder, const char *program, int failure) {
  const struct request *request = &run->request;
  for (int i = 0; i < 3; i++)
    dup2(run->streams[i], i);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  umask(users_mask);
  setsid(); // No terminal to wait at: who opens /dev/tty is told so at once.
  personality(ADDR_NO_RANDOMIZE);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, request->file_size);
  if (request->memory)
    limit(RLIMIT_AS, request->memory);
  if (run->level == LEVEL_FULL)
    limit(RLIMIT_NPROC, request->n_processes);
  int done = chdir(folder);
  problem = "its folder cannot be entered";
  if (!done && run->level == LEVEL_FULL) {
    problem = "privileges cannot be dropped";
    done = drop_capabilities();
  }
  if (!done && run->level > LEVEL_LIMITS) {
    problem = "privileges cannot be dropped";
    done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!done && run->level == LEVEL_LANDLOCK)
      done = landlock(places, request->n_places);
    if (!done) {
      problem = "system calls cannot be filtered";
      done = filter_calls(run->level, (uint32_t)request->flags);
    }
  }
  if (!done) {
    problem = "it cannot be started";
    close_range(3, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */);
    execvpe(program, arguments, variables); // Gives a script without a first line to the shell.
  }
  struct reply reply = {.problem = errno ? errno : EIO};
  snprintf(reply.said, sizeof reply.said, "%s", problem);
  if (write(failure, &reply, sizeof reply) < 0)
    _exit(126);
  _exit(127);
}

// Everything but ourselves: outside of a namespace by looking for children, which orphans
// become because we are a subreaper.
static void kill_all(enum level level) {
  if (level == LEVEL_FULL) {
    kill(-1, SIGKILL);
    return;
  }
  DIR *processes = opendir("/proc");
  struct dirent *entry;
  while (processes && (entry = readdir(processes))) {
    char path[300], text[512];
    pid_t pid = atoi(entry->d_name), parent;
    snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
      continue;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *end = strrchr(text, ')');
    if (end && sscanf(end + 1, " %*c %d", &parent) == 1 && parent == getpid())
      kill(pid, SIGKILL);
  }
  if (processes)
    closedir(processes);
}

static void add_usage(struct run *run) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  run->microseconds = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  run->kib = (uint64_t)used.ru_maxrss;
}

static unsigned count_processes(void) {
  DIR *processes = opendir("/proc");
  unsigned n = 0;
  struct dirent *entry;
  while (processes && (entry = readdir(processes)))
    n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
  if (processes)
    closedir(processes);
  return n;
}

// Reaps until the program has ended or the run is to stop; its status, or that of a kill.
static int watch(struct run *run, pid_t program, int children) {
  struct pollfd watched[] = {{.fd = children, .events = POLLIN}, {.fd = run->stop}};
  for (;;) {
    // Kernels before 6.14 have no limit on processes for the administrator: then we look.
    int n = poll(watched, 2, run->level == LEVEL_FULL && getuid() == 0 ? 20 : -1);
    if (n == 0 && count_processes() > run->request.n_processes + 1)
      return SIGKILL;
    if (watched[1].revents)
      return SIGKILL;
    if (n <= 0)
      continue;
    struct signalfd_siginfo ignored;
    if (read(children, &ignored, sizeof ignored) < 0)
      continue;
    int status;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
      if (ended == program)
        return status;
  }
}

// Becomes the program's parent. The exit status says whether a reply was written.
static int look_after(struct run *run) {
  const struct request *request = &run->request;
  struct strings places = run->strings;
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct pollfd stop = {.fd = run->stop};
  if (poll(&stop, 1, 0) > 0)
    return 1; // The keeper is gone already.
  if (run->level == LEVEL_FULL) {
    if (complete_tree(&run->strings, request))
      return fail_run(run);
  } else {
    for (uint32_t i = 0; i < request->n_places; i++)
      next_string(&run->strings);
  }
  char **pointers = calloc(request->n_arguments + request->n_variables + 2, sizeof *pointers);
  char *folder = next_string(&run->strings), *program = next_string(&run->strings);
  char **variables = pointers + request->n_arguments + 1;
  for (uint32_t i = 0; pointers && i < request->n_arguments; i++)
    pointers[i] = next_string(&run->strings);
  for (uint32_t i = 0; pointers && i < request->n_variables; i++)
    variables[i] = next_string(&run->strings);
  int failure[2], children = signalfd(-1, &child, SFD_CLOEXEC);
  if (!pointers || !program || children < 0 || pipe2(failure, O_CLOEXEC)) {
    failed("the request is malformed");
    return fail_run(run);
  }
  pid_t pid = fork();
  if (pid < 0) {
    failed("no process can be started");
    return fail_run(run);
  }
  if (pid == 0)
    become_program(run, places, pointers, variables, folder, program, failure[1]);
  close(failure[1]);
  struct reply reply = {0};
  if (read(failure[0], &reply, sizeof reply) != sizeof reply)
    reply.status = watch(run, pid, children);
  do
    kill_all(run->level);
  while (waitpid(-1, NULL, 0) > 0);
  add_usage(run);
  reply.microseconds = run->microseconds;
  reply.kib = run->kib;
  return write(run->reply, &reply, sizeof reply) == sizeof reply ? 0 : 1;
}

static int receive(struct run *run) {
  char control[CMSG_SPACE(sizeof run->streams)] __attribute__((aligned(8)));
  struct iovec part = {&run->request, sizeof run->request};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t n;
  char first;
  while ((n = recv(SOCKET, &first, 1, MSG_PEEK)) == 1 && first == STOP)
    if (read(SOCKET, &first, 1) != 1)
      return -1;
  do
    n = recvmsg(SOCKET, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  while (n < 0 && errno == EINTR);
  struct cmsghdr *descriptors = CMSG_FIRSTHDR(&message);
  if (n != sizeof run->request || !descriptors || descriptors->cmsg_type != SCM_RIGHTS ||
      descriptors->cmsg_len != CMSG_LEN(sizeof run->streams))
    return -1;
  memcpy(run->streams, CMSG_DATA(descriptors), sizeof run->streams);
  char *body = malloc(run->request.size + 1);
  for (size_t have = 0; body && have < run->request.size; have += (size_t)n) {
    n = read(SOCKET, body + have, run->request.size - have);
    if (n <= 0)
      return -1;
  }
  if (!body)
    return -1;
  body[run->request.size] = 0;
  run->strings = (struct strings){body, body + run->request.size};
  return 0;
}

// Waits for the reply; a byte from firstfault, or its end, stops the run.
static struct reply supervise(pid_t pid, int from, int stop, int *is_over) {
  struct reply reply = {.problem = EIO, .said = "the run's first process was killed"};
  struct pollfd watched[] = {{.fd = from, .events = POLLIN}, {.fd = SOCKET, .events = POLLIN}};
  while (!watched[0].revents) {
    poll(watched, 2, -1);
    if (watched[1].revents) {
      char byte;
      *is_over = read(SOCKET, &byte, 1) <= 0;
      watched[1].fd = -1;
      close(stop);
      stop = -1;
    }
  }
  struct reply got;
  if (read(from, &got, sizeof got) == sizeof got)
    reply = got;
  if (stop >= 0)
    close(stop);
  kill(pid, SIGKILL);
  while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
    continue;
  return reply;
}

enum { NAMESPACES_OF_RUN = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC };

static pid_t start_process(int namespaces) {
  return (pid_t)syscall(SYS_clone, (unsigned long)(SIGCHLD | namespaces), 0, 0, 0, 0);
}

// Whether a run can be set up: in a container, mounting /proc may be refused.
int try_run(void) {
  static char said[120];
  struct reply reply = {.problem = EPERM};
  int answer[2];
  if (pipe2(answer, O_CLOEXEC))
    return failed("no pipe");
  pid_t pid = start_process(NAMESPACES_OF_RUN);
  if (pid == 0) {
    struct request request = {.kept = 1 << 20, .n_processes = 512};
    struct strings none = {NULL, NULL};
    int done = complete_tree(&none, &request);
    if (!done) {
      problem = "system calls cannot be filtered";
      done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || filter_calls(LEVEL_FULL, 0);
    }
    reply.problem = done ? errno : 0;
    snprintf(reply.said, sizeof reply.said, "%s", problem);
    _exit(write(answer[1], &reply, sizeof reply) != sizeof reply);
  }
  int error = errno;
  close(answer[1]);
  if (pid > 0) {
    if (read(answer[0], &reply, sizeof reply) != sizeof reply)
      reply.problem = EIO;
    waitpid(pid, NULL, __WALL);
    error = reply.problem;
  }
  close(answer[0]);
  snprintf(said, sizeof said, "%s", pid > 0 ? reply.said : "no namespaces for a run");
  errno = error;
  return error ? failed(said) : 0;
}

void serve(enum level level, uint32_t flags) {
  for (int is_over = 0; !is_over;) {
    struct run run = {.level = level};
    if (receive(&run))
      return;
    run.request.flags |= flags;
    int reply[2], stop[2];
    if (pipe2(reply, O_CLOEXEC) || pipe2(stop, O_CLOEXEC))
      return;
    pid_t pid = start_process(level == LEVEL_FULL ? NAMESPACES_OF_RUN : 0);
    if (pid == 0) {
      close(reply[0]);
      close(stop[1]);
      run.reply = reply[1];
      run.stop = stop[0];
      _exit(look_after(&run));
    }
    int error = errno;
    close(reply[1]);
    close(stop[0]);
    struct reply answer = {.problem = error, .said = "no namespaces for a run"};
    if (pid > 0)
      answer = supervise(pid, reply[0], stop[1], &is_over);
    else
      close(stop[1]);
    close(reply[0]);
    for (int i = 0; i < 3; i++)
      close(run.streams[i]);
    free(run.strings.next);
    if (send(SOCKET, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
      return;
  }
}
