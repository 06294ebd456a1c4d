// What a program under test may not ask of the kernel.
#include "keeper.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

int drop_capabilities(void) {
  for (int capability = 0; capability < 64; capability++)
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) && errno == EINVAL)
      break;
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  return (int)syscall(SYS_capset, &header, none);
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the system call filter knows x86_64 and aarch64"
#endif

// Refused whoever asks. By number where headers may be older than the kernel.
static const uint32_t refused[] = {
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns,
    428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */,
    432 /* fsmount */, 433 /* fspick */, 442 /* mount_setattr */, 467 /* open_tree_attr */,
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot,
    SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_syslog, SYS_vhangup,
    SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_fanotify_init, SYS_lookup_dcookie,
    SYS_clock_settime, SYS_settimeofday, SYS_sethostname, SYS_setdomainname,
    SYS_process_vm_readv, SYS_process_vm_writev, 438 /* pidfd_getfd */, 440 /* process_madvise */,
    425 /* io_uring_setup */, 426 /* io_uring_enter */, 427 /* io_uring_register */,
    SYS_move_pages, SYS_migrate_pages, SYS_nfsservctl,
#ifdef __x86_64__
    SYS_kexec_file_load, SYS_ioperm, SYS_iopl, SYS_uselib, SYS__sysctl, SYS_ustat, SYS_sysfs,
    SYS_create_module, SYS_get_kernel_syms, SYS_query_module, SYS_modify_ldt,
#endif
};

// Changes of what is said of a file, which Landlock does not see.
static const uint32_t about_files[] = {
    SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat, SYS_utimensat,
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, 463 /* setxattrat */, 466 /* removexattrat */, 469 /* file_setattr */,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
};

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
// Skips so many instructions where the loaded word is another.
#define UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define ERROR(number) (SECCOMP_RET_ERRNO | (number))
#define ARGUMENT(n) (offsetof(struct seccomp_data, args) + 8 * (n))

enum {
  NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
               CLONE_NEWPID | CLONE_NEWNET,
  PUSH_INPUT = 0x5412,     // TIOCSTI
  CONSOLE_CONTROL = 0x541C, // TIOCLINUX
  CLONE3 = 435,
};

int filter_calls(enum level level, uint32_t flags) {
  struct sock_filter code[256];
  unsigned n = 0;
#define ADD(...)                                                                                   \
  do {                                                                                             \
    const struct sock_filter more[] = {__VA_ARGS__};                                               \
    memcpy(code + n, more, sizeof more);                                                           \
    n += sizeof more / sizeof *more;                                                               \
  } while (0)
  ADD(LOAD(offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), ANSWER(ERROR(ENOSYS)),
      LOAD(offsetof(struct seccomp_data, nr)));
#ifdef __x86_64__
  // Other numbers for the same calls.
  ADD(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), ANSWER(ERROR(ENOSYS)));
#endif
  for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
    ADD(UNLESS(refused[i], 1), ANSWER(ERROR(EPERM)));
  for (unsigned i = 0; level != LEVEL_FULL && i < sizeof about_files / sizeof *about_files; i++)
    ADD(UNLESS(about_files[i], 1), ANSWER(ERROR(EPERM)));
  if (!(flags & FLAG_PTRACE))
    ADD(UNLESS(SYS_ptrace, 1), ANSWER(ERROR(EPERM)));
  // Its flags are in memory, which a filter cannot see; the C library then calls clone.
  ADD(UNLESS(CLONE3, 1), ANSWER(ERROR(ENOSYS)));
  ADD(UNLESS(SYS_clone, 4), LOAD(ARGUMENT(0)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1), ANSWER(ERROR(EPERM)),
      ANSWER(SECCOMP_RET_ALLOW));
  ADD(UNLESS(SYS_ioctl, 5), LOAD(ARGUMENT(1)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PUSH_INPUT, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CONSOLE_CONTROL, 0, 1), ANSWER(ERROR(EPERM)),
      ANSWER(SECCOMP_RET_ALLOW));
  if (level == LEVEL_FULL)
    // Other families reach past the namespace of networks: virtual machines, key stores.
    ADD(UNLESS(SYS_socket, 7), LOAD(ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0), ANSWER(ERROR(EAFNOSUPPORT)),
        ANSWER(SECCOMP_RET_ALLOW));
  else if (!(flags & FLAG_NETWORK))
    ADD(UNLESS(SYS_socket, 1), ANSWER(ERROR(EACCES)));
  ADD(ANSWER(SECCOMP_RET_ALLOW));
#undef ADD
  struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static int ruleset(const struct landlock_ruleset_attr *attributes, size_t size, uint32_t flags) {
  return (int)syscall(444, attributes, size, flags);
}

int has_landlock(void) {
  return ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
}

static void allow(int rules, const char *path, uint64_t access) {
  struct landlock_path_beneath_attr beneath = {.allowed_access = access};
  struct stat st;
  beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
  if (beneath.parent_fd < 0)
    return;
  // A file has no entries to make or remove.
  if (!fstat(beneath.parent_fd, &st) && !S_ISDIR(st.st_mode))
    beneath.allowed_access &= LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE;
  syscall(445, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  close(beneath.parent_fd);
}

// No writes but below the places that may be written.
int landlock(struct strings places, uint32_t n_places) {
  int version = ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  uint64_t access = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (version >= 2)
    access |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3)
    access |= LANDLOCK_ACCESS_FS_TRUNCATE;
  // With signals and abstract sockets where they can be refused; the kernel's later field.
  struct {
    uint64_t files, network, scoped;
  } attributes = {access, 0, version >= 6 ? 3 : 0};
  int rules = ruleset((void *)&attributes, version >= 6 ? 24 : 8, 0);
  if (rules < 0)
    return failed("Landlock refuses its rules");
  static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty",
                                        "/dev/pts", "/dev/ptmx"};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    allow(rules, devices[i], access);
  for (uint32_t i = 0; i < n_places; i++) {
    char *place = next_string(&places);
    if (place && *place == PLACE_WRITE)
      allow(rules, place + 1, access);
  }
  int done = (int)syscall(446, rules, 0);
  close(rules);
  return done ? failed("Landlock refuses its rules") : 0;
}
