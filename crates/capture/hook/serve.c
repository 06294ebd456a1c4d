/* Loaded into clang with LD_PRELOAD: one started clang compiles many units.
 *
 * Nearly all of what starting clang costs is the loader relocating LLVM's libraries. This
 * object stands between the loader and clang's main: it waits for requests on standard input,
 * which is a socket, and answers each by forking a child that runs main with the arguments,
 * environment, directory and descriptors of the request. A child is clang as it would be
 * freshly started, and whatever happens to it happens to that request alone.
 *
 * The other side is base::child::server, which also says what the messages look like.
 * No library is linked; all symbols come from the libc that the program brings. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Set by whoever wants a server: device and inode of the program that shall be one. */
#define VARIABLE "FIRSTFAULT_SERVE"
#define GREETING "FFS1"
#define CHANNEL 0
#define N_DESCRIPTORS 3
#define MAX_BODY (64u << 20)

typedef int (*main_function)(int, char **, char **);

struct request {
    uint32_t body_size, n_arguments, n_variables;
};

struct reply {
    int32_t status;
    uint32_t unused;
    uint64_t cpu_microseconds;
    uint64_t peak_kib;
};

static main_function real_main;

static int read_all(void *buffer, size_t size)
{
    for (char *at = buffer; size > 0;) {
        ssize_t n = read(CHANNEL, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        at += n;
        size -= (size_t)n;
    }
    return 1;
}

/* The fixed part of a request and the descriptors that come with it. */
static int receive(struct request *request, int descriptors[N_DESCRIPTORS])
{
    union {
        char bytes[CMSG_SPACE(N_DESCRIPTORS * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = { request, sizeof *request };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };
    ssize_t n;
    do
        n = recvmsg(CHANNEL, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *header = n == sizeof *request ? CMSG_FIRSTHDR(&message) : NULL;
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(N_DESCRIPTORS * sizeof(int)))
        return 0;
    memcpy(descriptors, CMSG_DATA(header), N_DESCRIPTORS * sizeof(int));
    return request->body_size <= MAX_BODY && request->n_arguments > 0;
}

/* Takes `n` strings off the body. The list ends with a null pointer. */
static char **strings(char **at, const char *end, uint32_t n)
{
    char **list = calloc((size_t)n + 1, sizeof *list);
    for (uint32_t i = 0; list && i < n; i++) {
        size_t left = (size_t)(end - *at), length = strnlen(*at, left);
        if (length == left)
            return NULL;
        list[i] = *at;
        *at += length + 1;
    }
    return list;
}

/* In the child: becomes what the request asks for. Returns main's result, for exit. */
static int work(pid_t server, const struct request *request, char *body, const int *descriptors)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server)
        _exit(127);
    setpgid(0, 0);
    for (int i = 0; i < N_DESCRIPTORS; i++)
        if (dup2(descriptors[i], i) < 0 || close(descriptors[i]))
            _exit(127);
    const char *end = body + request->body_size;
    char **directory = strings(&body, end, 1);
    char **arguments = strings(&body, end, request->n_arguments);
    char **variables = strings(&body, end, request->n_variables);
    if (!directory || !arguments || !variables)
        _exit(127);
    if (chdir(directory[0])) {
        perror(directory[0]);
        _exit(127);
    }
    environ = variables;
    return real_main((int)request->n_arguments, arguments, variables);
}

/* Waits until the child ends, or ends it with all it started when the client hangs up. */
static struct reply watch(pid_t child)
{
    int ended = (int)syscall(SYS_pidfd_open, child, 0);
    struct pollfd events[] = { { ended, POLLIN, 0 }, { CHANNEL, POLLIN | POLLRDHUP, 0 } };
    while (ended >= 0 && poll(events, 2, -1) < 0 && errno == EINTR)
        ;
    if (!events[0].revents)
        kill(-child, SIGKILL);
    /* Not reaped before its group is dead, so that the group's number is still its own. */
    siginfo_t info;
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    kill(-child, SIGKILL);
    struct rusage used = { 0 };
    int status = -1;
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
        ;
    if (ended >= 0)
        close(ended);
    const struct timeval *user = &used.ru_utime, *system = &used.ru_stime;
    return (struct reply){
        .status = status,
        .cpu_microseconds = (uint64_t)(user->tv_sec + system->tv_sec) * 1000000u +
                            (uint64_t)(user->tv_usec + system->tv_usec),
        .peak_kib = (uint64_t)used.ru_maxrss,
    };
}

/* Answers requests until the client is gone. Only a child returns. */
static int serve(void)
{
    pid_t server = getpid();
    struct request request;
    int descriptors[N_DESCRIPTORS];
    while (receive(&request, descriptors)) {
        char *body = malloc((size_t)request.body_size + 1);
        if (!body || !read_all(body, request.body_size))
            break;
        pid_t child = fork();
        if (child == 0)
            return work(server, &request, body, descriptors);
        if (child < 0)
            break;
        setpgid(child, child);
        free(body);
        for (int i = 0; i < N_DESCRIPTORS; i++)
            close(descriptors[i]);
        struct reply reply = watch(child);
        if (send(CHANNEL, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply)
            break;
    }
    _exit(0);
}

/* Whether this is the very program that was meant, not an interpreter or a wrapper's other. */
static int is_meant(const char *identity)
{
    struct stat self;
    char own[64];
    if (stat("/proc/self/exe", &self))
        return 0;
    snprintf(own, sizeof own, "%llu:%llu", (unsigned long long)self.st_dev,
             (unsigned long long)self.st_ino);
    return !strcmp(own, identity);
}

static int main_or_serve(int n_arguments, char **arguments, char **variables)
{
    const char *identity = getenv(VARIABLE);
    if (!identity || !is_meant(identity) ||
        send(CHANNEL, GREETING, strlen(GREETING), MSG_NOSIGNAL) != (ssize_t)strlen(GREETING))
        return real_main(n_arguments, arguments, variables);
    return serve();
}

/* What the program's start code calls, in place of libc's. */
EXPORTED int __libc_start_main(main_function program_main, int n_arguments, char **arguments,
                               void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                               void *stack_end)
{
    int (*next)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void),
                void *);
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    if (!next)
        _exit(127);
    real_main = program_main;
    return next(main_or_serve, n_arguments, arguments, init, fini, loader_fini, stack_end);
}
