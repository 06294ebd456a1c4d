// What a program may try: `hostile ATTACK OUTSIDE PORT`. It exits with 0 where everything it
// tried was refused, 1 where something was not; what it changed outside the test looks at.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *outside;
static int port;

static const char *at(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", outside, name);
  return path;
}

// A call that succeeds is a fault of the sandbox.
static int bad;
#define REFUSED(call)                                                                              \
  do {                                                                                             \
    if ((long)(call) >= 0) {                                                                       \
      printf("not refused: %s\n", #call);                                                          \
      bad = 1;                                                                                     \
    }                                                                                              \
  } while (0)

static void put(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd >= 0 && write(fd, "hostile", 7) == 7)
    close(fd);
}

// Files: what is done may seem to work, but only in here.
static void unlinks(void) { unlink(at("file")); }
static void renames(void) { rename(at("file"), "/tmp/taken"); rename(at("folder"), "/tmp/folder"); }
static void chmods(void) { chmod(at("file"), 0777); chown(at("file"), 1, 1); }
static void truncates(void) { truncate(at("file"), 0); }
static void appends(void) {
  int fd = open(at("file"), O_WRONLY | O_APPEND);
  if (fd >= 0 && write(fd, "more", 4) == 4)
    close(fd);
}
static void creates(void) { put(at("new")); mkdir(at("new-folder"), 0777); }
static void removes_all(void) {
  char command[5000];
  snprintf(command, sizeof command, "rm -rf '%s' 2>/dev/null", outside);
  system(command);
}
static void links(void) {
  symlink(at("file"), "link");
  put("link");
  link(at("file"), "hard");
  put("hard");
  symlink(outside, "folder-link");
  put("folder-link/new");
}
static void times(void) { utimensat(AT_FDCWD, at("file"), NULL, 0); }
static void writes_home(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/firstfault-hostile", getenv("HOME"));
  put(path);
}
static void writes_system(void) {
  put("/etc/firstfault-hostile");
  put("/usr/bin/firstfault-hostile");
  put("/firstfault-hostile");
  put("/run/firstfault-hostile");
  put("/tmp/firstfault-hostile");
  put("/var/tmp/firstfault-hostile");
  put("/dev/shm/firstfault-hostile");
}
static void maps_file(void) {
  int fd = open(at("file"), O_RDWR);
  char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (bytes != MAP_FAILED) {
    bytes[0] = 'X';
    msync(bytes, 4096, MS_SYNC);
  }
}

// Privileges.
static void mounts(void) {
  REFUSED(mount("tmpfs", "/tmp", "tmpfs", 0, NULL));
  REFUSED(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
  REFUSED(syscall(430, "tmpfs", 0));
  REFUSED(syscall(428, AT_FDCWD, "/", 1));
}
static void umounts(void) {
  REFUSED(umount2("/", MNT_DETACH));
  REFUSED(umount2("/proc", MNT_DETACH));
  REFUSED(umount2("/tmp", MNT_DETACH));
}
static void chroots(void) {
  mkdir("jail", 0777);
  REFUSED(chroot("jail"));
  REFUSED(syscall(SYS_pivot_root, ".", "."));
}
static void makes_namespaces(void) {
  REFUSED(unshare(CLONE_NEWUSER));
  REFUSED(unshare(CLONE_NEWNS));
  REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  uint64_t arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  REFUSED(syscall(435, arguments, sizeof arguments));
}
static void enters_namespaces(void) {
  int fd = open("/proc/1/ns/mnt", O_RDONLY);
  REFUSED(setns(fd, 0));
  REFUSED(setns(open("/proc/self/ns/user", O_RDONLY), 0));
}
static void changes_user(void) {
  REFUSED(setuid(getuid() + 1));
  REFUSED(setgid(getgid() + 1));
  REFUSED(setgroups(0, NULL));
  struct rlimit limit = {1 << 30, 1 << 30};
  REFUSED(setrlimit(RLIMIT_FSIZE, &limit));
  REFUSED(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
  REFUSED(sethostname("hostile", 7));
}
static void traces(void) {
  REFUSED(ptrace(PTRACE_ATTACH, getppid(), 0, 0));
  REFUSED(ptrace(PTRACE_SEIZE, 1, 0, 0));
}
static void reads_memory(void) {
  char byte;
  struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
  REFUSED(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
  REFUSED(process_vm_writev(getppid(), &here, 1, &there, 1, 0));
  REFUSED(open("/proc/1/mem", O_RDWR));
  REFUSED(open("/proc/1/environ", O_RDONLY));
  REFUSED(open("/proc/1/exe", O_RDONLY));
  REFUSED(readlink("/proc/1/fd/0", &byte, 1));
  REFUSED(syscall(434, 99999, 0));
}
static void kernel_settings(void) {
  REFUSED(open("/proc/sys/kernel/core_pattern", O_WRONLY));
  REFUSED(open("/proc/sys/kernel/hostname", O_WRONLY));
  REFUSED(open("/proc/sysrq-trigger", O_WRONLY));
  REFUSED(open("/proc/sys/vm/drop_caches", O_WRONLY));
  REFUSED(open("/sys/power/state", O_WRONLY));
  REFUSED(open("/sys/kernel/mm/ksm/run", O_WRONLY));
  REFUSED(mkdir("/sys/fs/cgroup/firstfault-hostile", 0777));
  REFUSED(mkdir("/sys/fs/cgroup/pids/firstfault-hostile", 0777));
}
static void devices(void) {
  REFUSED(mknod("disk", S_IFBLK | 0666, 0xfe00));
  REFUSED(mknod("memory", S_IFCHR | 0666, 0x101));
  REFUSED(open("/dev/mem", O_RDWR));
  REFUSED(open("/dev/kmsg", O_WRONLY));
  REFUSED(open("/dev/vda", O_RDWR));
  REFUSED(open("/dev/sda", O_RDWR));
  REFUSED(open("/dev/fuse", O_RDWR));
  REFUSED(open("/dev/kvm", O_RDWR));
  REFUSED(open("/dev/tty", O_RDWR));
  int terminal = open("/dev/ptmx", O_RDWR);
  char c = 'x';
  REFUSED(ioctl(terminal, TIOCSTI, &c));
  REFUSED(ioctl(0, TIOCSTI, &c));
}
static void kernel_calls(void) {
  REFUSED(syscall(SYS_add_key, "user", "hostile", "x", 1, -3));
  REFUSED(syscall(SYS_keyctl, 0, -3, 1));
  REFUSED(syscall(SYS_bpf, 0, NULL, 0));
  REFUSED(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
  REFUSED(syscall(SYS_userfaultfd, 1));
  REFUSED(syscall(425, 1, NULL));
  REFUSED(syscall(SYS_init_module, "", 0, ""));
  REFUSED(syscall(SYS_reboot, 0xfee1dead, 672274793, 0, NULL));
#ifdef __x86_64__
  REFUSED(syscall(0x40000000 + SYS_getpid));
#endif
}
static void descriptors(void) {
  for (int fd = 3; fd < 1000; fd++)
    if (fcntl(fd, F_GETFD) >= 0) {
      printf("descriptor %d is open\n", fd);
      bad = 1;
    }
}

// The network.
static void connects(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  REFUSED(connect(fd, (void *)&address, sizeof address));
  address.sin_addr.s_addr = htonl(0x08080808);
  REFUSED(connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&address, sizeof address));
  fd = socket(AF_INET, SOCK_DGRAM, 0);
  REFUSED(sendto(fd, "x", 1, 0, (void *)&address, sizeof address));
}
static int connect_to(const char *name, int is_abstract) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path + is_abstract, sizeof address.sun_path - 1, "%s", name);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  socklen_t size = offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(name);
  return fd < 0 ? -1 : connect(fd, (void *)&address, size);
}
static void connects_unix(void) {
  REFUSED(connect_to(at("socket"), 0));
  REFUSED(connect_to("/run/firstfault-hostile-socket", 0));
}
static void connects_abstract(void) {
  char name[64];
  snprintf(name, sizeof name, "firstfault-hostile-%d", port);
  REFUSED(connect_to(name, 1));
}
static void odd_sockets(void) {
  REFUSED(socket(AF_PACKET, SOCK_RAW, 0));
  REFUSED(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  REFUSED(socket(38, SOCK_SEQPACKET, 0)); // AF_ALG
  REFUSED(socket(40, SOCK_STREAM, 0));    // AF_VSOCK
}
static void shares_memory(void) {
  int id = shmget(0x46464646, 4096, IPC_CREAT | IPC_EXCL | 0666);
  bad = id < 0; // Left behind by an earlier run.
}

// Processes.
static void kills_parent(void) {
  for (int signal = 1; signal < 32; signal++)
    if (signal != SIGCHLD) {
      kill(getppid(), signal);
      kill(1, signal);
    }
}
static void kills_all(void) { kill(-1, SIGKILL); }
static void fork_bomb(void) {
  for (;;)
    fork();
}
static void sleep_on(void) {
  for (;;)
    pause();
}
static void double_fork(void) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, 0);
      signal(SIGTERM, SIG_IGN);
      sleep_on();
    }
    _exit(0);
  }
  wait(NULL);
}
static void daemonizes(void) {
  if (daemon(0, 0) == 0)
    sleep_on();
}
static void detaches(void) {
  prctl(PR_SET_PDEATHSIG, 0);
  setsid();
  if (fork() == 0)
    sleep_on();
  sleep_on();
}
static void closes_all(void) {
  for (int fd = 0; fd < 4096; fd++)
    close(fd);
  sleep_on();
}
static void stops(void) {
  kill(getpid(), SIGSTOP);
  sleep_on();
}
static void threads_of_forks(void) {
  for (int i = 0; i < 50; i++)
    if (fork() == 0) {
      setsid();
      sleep_on();
    }
}

// Resources.
static void huge_file(void) {
  static char block[1 << 20];
  signal(SIGXFSZ, SIG_IGN);
  int fd = open("huge", O_WRONLY | O_CREAT, 0666);
  long written = 0;
  for (ssize_t n; (n = write(fd, block, sizeof block)) > 0;)
    written += n;
  bad = written > 8 << 20;
}
static void many_files(void) {
  static char block[1 << 20];
  signal(SIGXFSZ, SIG_IGN);
  long written = 0;
  for (int i = 0; i < 2000; i++) {
    char name[64];
    snprintf(name, sizeof name, "/tmp/many%d", i);
    int fd = open(name, O_WRONLY | O_CREAT, 0666);
    ssize_t n = fd < 0 ? -1 : write(fd, block, sizeof block);
    close(fd);
    if (n < (ssize_t)sizeof block)
      break;
    written += n;
  }
  bad = written > 300 << 20;
}
static void memory_hog(void) {
  for (int i = 0; i < 1 << 20; i++) {
    char *block = malloc(64 << 20);
    if (!block)
      return;
    block[0] = 1;
  }
  bad = 1;
}
static void dumps_core(void) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  REFUSED(setrlimit(RLIMIT_CORE, &limit));
  if (!bad)
    abort();
}

// Good ones, which must go on working.
static void works(void) {
  put("/tmp/firstfault-hostile");
  put("own");
  mkdir("folder", 0777);
  put("folder/own");
  char text[16] = {0}, path[64];
  FILE *file = fopen("/tmp/firstfault-hostile", "r");
  bad |= !file || !fgets(text, sizeof text, file) || strcmp(text, "hostile");
  bad |= !tmpfile();
  bad |= access("/proc/self/maps", R_OK) || access("/etc/passwd", R_OK);
  int fd = open("/dev/null", O_RDWR);
  bad |= fd < 0 || write(fd, "x", 1) != 1;
  bad |= shm_open("/firstfault-hostile", O_CREAT | O_RDWR, 0600) < 0;
  bad |= system("echo hello | cat > shell") != 0;
  bad |= readlink("/proc/self/exe", path, sizeof path) < 0;
  bad |= getpid() == 1;
}
static void talks_to_itself(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7171)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  bad |= bind(server, (void *)&address, sizeof address) || listen(server, 1);
  bad |= connect(client, (void *)&address, sizeof address);
  int accepted = accept(server, NULL, NULL);
  bad |= write(accepted, "x", 1) != 1;
  // The side that closes first remembers the connection.
  close(accepted);
  char c;
  bad |= read(client, &c, 1) != 1 || c != 'x';
  struct sockaddr_un own = {.sun_family = AF_UNIX, .sun_path = "own-socket"};
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  bad |= bind(listener, (void *)&own, sizeof own) || listen(listener, 1);
  bad |= connect_to("own-socket", 0);
}

static const struct {
  const char *name;
  void (*run)(void);
} attacks[] = {
#define ATTACK(name) {#name, name}
    ATTACK(unlinks), ATTACK(renames), ATTACK(chmods), ATTACK(truncates), ATTACK(appends),
    ATTACK(creates), ATTACK(removes_all), ATTACK(links), ATTACK(times), ATTACK(writes_home),
    ATTACK(writes_system), ATTACK(maps_file), ATTACK(mounts), ATTACK(umounts), ATTACK(chroots),
    ATTACK(makes_namespaces), ATTACK(enters_namespaces), ATTACK(changes_user), ATTACK(traces),
    ATTACK(reads_memory), ATTACK(kernel_settings), ATTACK(devices), ATTACK(kernel_calls),
    ATTACK(descriptors), ATTACK(connects), ATTACK(connects_unix), ATTACK(connects_abstract),
    ATTACK(odd_sockets), ATTACK(shares_memory), ATTACK(kills_parent), ATTACK(kills_all),
    ATTACK(fork_bomb), ATTACK(sleep_on), ATTACK(double_fork), ATTACK(daemonizes),
    ATTACK(detaches), ATTACK(closes_all), ATTACK(stops), ATTACK(threads_of_forks),
    ATTACK(huge_file), ATTACK(many_files), ATTACK(memory_hog), ATTACK(dumps_core), ATTACK(works),
    ATTACK(talks_to_itself),
};

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  outside = argv[2];
  port = atoi(argv[3]);
  for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
    if (!strcmp(attacks[i].name, argv[1])) {
      attacks[i].run();
      return bad;
    }
  return 3;
}
