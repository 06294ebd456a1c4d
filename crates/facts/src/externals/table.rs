//! The known functions of libc and POSIX.
//!
//! One entry a line: names, then words. Arguments count from 0.
//!
//! | word | meaning |
//! |---|---|
//! | `alloc` | returns newly allocated memory |
//! | `fresh` | returns a handle of its own for each call |
//! | `static` | returns an object the library owns |
//! | `ret0`, `in0` | returns argument 0, or a pointer into its object |
//! | `deref0` | returns the pointer stored where argument 0 points |
//! | `w0`, `w1+` | writes where argument 0 points; where all from 1 on point |
//! | `r0`, `r1+` | reads likewise |
//! | `f0` | frees argument 0 |
//! | `n2` | touches no more bytes than argument 2 says |
//! | `c0<1` | copies what 1 points to, pointers included, to where 0 points |
//! | `cr0` | copies what 0 points to into the fresh result |
//! | `s1<0` | stores a pointer into argument 0's object where 1 points |
//! | `cb3(0,0)` | calls argument 3 with arguments 0 and 0 |
//! | `thread2(3)` | likewise, in a thread of its own |
//! | `k0` | keeps argument 0 for later |
//! | `noreturn` | control does not come back |
//!
//! A function listed with no words touches no memory of the program.

pub(super) const EXTERNALS: &str = "
malloc,valloc,pvalloc,calloc,aligned_alloc,memalign alloc
realloc,reallocarray,reallocf alloc f0 cr0
posix_memalign w0
strdup,strndup,wcsdup,__strdup,__strndup alloc r0
free,cfree f0
asprintf,vasprintf w0 r1+
getline,getdelim w0 w1
malloc_usable_size r0
mmap,mmap64 fresh
mremap ret0
munmap,mprotect,madvise,msync
sbrk static
brk

memcpy,memmove ret0 w0 r1 c0<1 n2
mempcpy,memccpy in0 w0 r1 c0<1
bcopy w1 r0 c1<0 n2
memset,memset_explicit ret0 w0 n2
bzero,explicit_bzero w0 n1
memcmp,bcmp r0 r1 n2
strcmp,strncmp,strcasecmp,strncasecmp,strcoll,strverscmp r0 r1
memchr,memrchr,rawmemchr,strchr,strrchr,strchrnul,index,rindex,wcschr,wcsrchr in0 r0
strstr,strcasestr,memmem,strpbrk,wcsstr in0 r0 r1
strcpy,strncpy,strcat,strncat,stpcpy,stpncpy,strxfrm,wcscpy,wcsncpy,wcscat in0 w0 r1
strlcpy,strlcat w0 r1
strlen,strnlen,wcslen,wcsnlen r0
strspn,strcspn,wcscmp,wcsncmp r0 r1
strtok in0 w0 r1
strtok_r,__strtok_r in0 w0 r1 w2 s2<0
strsep deref0 r0 w0 r1
strtol,strtoul,strtoll,strtoull,strtod,strtof,strtold,strtoimax,strtoumax r0 w1 s1<0
__strtol_internal,__strtoul_internal r0 w1 s1<0
atoi,atol,atoll,atof r0
strerror,gai_strerror,hstrerror,strsignal static
strerror_r,__xpg_strerror_r w1
memcpy_s c0<2 w0 r2
swab w1 r0
memfrob w0

printf,vprintf,puts,perror,putchar,wprintf,syslog,vsyslog r0 r1+
fprintf,vfprintf,dprintf,vdprintf,fwprintf r1 r2+
fputs,fwrite,fputws r0
fputc,putc,putw,ungetc,putc_unlocked,putchar_unlocked,fputc_unlocked,fwrite_unlocked r0
sprintf,vsprintf w0 r1+
snprintf,vsnprintf,swprintf w0 r2+
scanf,vscanf r0 w1+
fscanf,vfscanf r1 w2+
sscanf,vsscanf r0 r1 w2+
fread,fread_unlocked w0
fgets,fgets_unlocked ret0 w0 n1
gets,fgetws ret0 w0
fgetc,getc,getchar,getw,getc_unlocked,getchar_unlocked,fgetc_unlocked
fopen,fopen64,fdopen,tmpfile,tmpfile64,popen,open_memstream,fmemopen fresh r0 r1
freopen,freopen64 ret2 r0 r1
fclose,pclose f0
fflush,feof,ferror,clearerr,rewind,fileno,fseek,fseeko,fseeko64,ftell,ftello,ftello64,fpurge,feof_unlocked,ferror_unlocked,fileno_unlocked,flockfile,funlockfile
fgetpos w1
fsetpos r1
setvbuf,setbuf k1
remove,unlink,rmdir,rename,mkdir,chdir,chmod,access,link,symlink,chown,lchown,truncate,mkfifo,mknod r0 r1
tmpnam,mktemp,mkdtemp ret0 w0
mkstemp,mkstemp64 w0
opendir,fdopendir fresh r0
readdir,readdir64 in0 r0
closedir f0
open,open64,openat,creat,creat64 r0 r1
close,lseek,lseek64,fsync,fdatasync,ftruncate,ftruncate64,dup,dup2,dup3,fcntl,fcntl64,isatty,fchmod,fchown,flock,umask,posix_fallocate
read,pread,pread64,recv w1 n2
readlink r0 w1 n2
getentropy,getrandom w0 n1
readv,preadv w1
recvfrom,recvmsg w1 w4 w5
write,pwrite,pwrite64,send,sendto,sendmsg,writev r1
pipe,pipe2 w0
ioctl w2
stat,lstat,stat64,lstat64,fstat,fstat64,fstatat,__xstat,__fxstat,__lxstat,statvfs,statfs,fstatfs r0 w1 w2
getcwd ret0 w0
realpath alloc ret1 w1 r0
select,pselect w1 w2 w3 w4
poll,ppoll w0
epoll_wait w1
epoll_create,epoll_ctl,eventfd
socket,listen,shutdown
bind,connect r1
accept,accept4,getsockname,getpeername w1 w2
getsockopt w3 w4
setsockopt r3
socketpair w3
gethostbyname,gethostbyaddr,getservbyname,getprotobyname static r0
getaddrinfo w3
freeaddrinfo f0
getnameinfo w2 w4
inet_ntoa static
inet_addr,inet_aton r0 w1
inet_ntop ret2 w2 r1
inet_pton r1 w2
htons,htonl,ntohs,ntohl

getenv,secure_getenv,setlocale,localeconv,ttyname,getlogin,nl_langinfo,bindtextdomain,textdomain,ctermid,gnu_get_libc_version static r0
gettext,dgettext,dcgettext,ngettext ret0
setenv,unsetenv,putenv,clearenv k0 r0 r1
getpwnam,getpwuid,getgrnam,getgrgid,getpwent,getgrent static r0
getuid,geteuid,getgid,getegid,getpid,getppid,getpgrp,setuid,setgid,setsid,seteuid,setegid,setpgid,gettid
sysconf,pathconf,getpagesize,getdtablesize,sched_yield,nice,uname w0
time,times,gettimeofday,clock_gettime,clock_getres,nanosleep,getrusage,getrlimit,getitimer,sysinfo,utime,utimes w0 w1
clock,sleep,usleep,alarm,difftime,setitimer,setrlimit
localtime,gmtime,ctime,asctime static r0
localtime_r,gmtime_r,asctime_r,ctime_r ret1 w1 r0
mktime,timegm w0
strftime,wcsftime w0 r2 r3
strptime in0 r0 w2
exit,_exit,_Exit,abort,quick_exit,pthread_exit,thrd_exit,longjmp,siglongjmp,_longjmp,__longjmp_chk,__assert_fail,__assert,__assert_rtn,__assert_perror_fail,__stack_chk_fail,__builtin_trap,__builtin_unreachable,__chk_fail,__fortify_fail,err,errx,verr,verrx,execl_never noreturn
setjmp,_setjmp,sigsetjmp,__sigsetjmp w0
system,execl,execv,execve,execlp,execvp,execvpe r0 r1+
fork,vfork,kill,raise,killpg,getpriority,setpriority
wait w0
waitpid,wait4,wait3 w1
signal,bsd_signal,sysv_signal,__sysv_signal cb1
sigaction r1 w2 k1
sigemptyset,sigfillset,sigaddset,sigdelset w0
sigprocmask,pthread_sigmask r1 w2
sigismember,sigsuspend,sigpending
atexit,at_quick_exit cb0
on_exit cb0(1)
__cxa_atexit cb0(1)
qsort w0 cb3(0,0)
qsort_r w0 cb3(0,0,4)
bsearch in1 r0 r1 cb4(0,1)
lfind,lsearch in1 r0 w1 cb4(0,1)
tsearch,tfind,tdelete r0 k0 cb2(0,0)
ftw,nftw cb1
scandir w1 cb2 cb3
glob r0 w3 cb2
globfree w0
fnmatch,regexec r0 r1 w3
regcomp w0 r1
regfree w0
regerror w2
getopt,getopt_long,getopt_long_only r1 r2 r3 w4
wordexp w1

pthread_create w0 thread2(3)
thrd_create w0 thread1(2)
pthread_join w1
pthread_self,pthread_detach,pthread_cancel,pthread_kill,pthread_equal,pthread_setcancelstate,pthread_setname_np,pthread_testcancel,pthread_yield
pthread_mutex_init,pthread_mutex_destroy,pthread_mutex_lock,pthread_mutex_unlock,pthread_mutex_trylock,pthread_mutex_timedlock w0
pthread_mutexattr_init,pthread_mutexattr_settype,pthread_mutexattr_destroy,pthread_attr_init,pthread_attr_destroy,pthread_attr_setdetachstate,pthread_attr_setstacksize w0
pthread_attr_getstacksize w1
pthread_cond_init,pthread_cond_destroy,pthread_cond_signal,pthread_cond_broadcast,pthread_cond_wait,pthread_cond_timedwait,pthread_condattr_init,pthread_condattr_setclock w0
pthread_rwlock_init,pthread_rwlock_destroy,pthread_rwlock_rdlock,pthread_rwlock_wrlock,pthread_rwlock_unlock,pthread_rwlock_tryrdlock,pthread_rwlock_trywrlock w0
pthread_spin_init,pthread_spin_lock,pthread_spin_unlock,pthread_spin_destroy,sem_init,sem_wait,sem_post,sem_trywait,sem_destroy w0
pthread_once w0 cb1
pthread_atfork cb0 cb1 cb2
pthread_key_create w0 cb1
pthread_setspecific k1
mtx_init,mtx_lock,mtx_unlock,mtx_destroy,cnd_init,cnd_wait,cnd_signal,cnd_broadcast w0

dlopen fresh r0
dlclose f0
dlerror static
abs,labs,llabs,div,ldiv,lldiv,rand,random,lrand48,drand48,mrand48,srand,srandom,srand48,arc4random,arc4random_uniform,rand_r
sin,cos,tan,asin,acos,atan,atan2,sinh,cosh,tanh,asinh,acosh,atanh,exp,exp2,expm1,log,log2,log10,log1p,pow,sqrt,cbrt,hypot,floor,ceil,round,trunc,rint,nearbyint,lrint,llrint,lround,llround,fabs,fmod,remainder,fmin,fmax,fdim,fma,copysign,nextafter,ldexp,scalbn,logb,ilogb,erf,erfc,tgamma,lgamma,nan
sinf,cosf,tanf,asinf,acosf,atanf,atan2f,sinhf,coshf,tanhf,expf,exp2f,logf,log2f,log10f,powf,sqrtf,cbrtf,hypotf,floorf,ceilf,roundf,truncf,rintf,fabsf,fmodf,fminf,fmaxf,ldexpf,sqrtl,floorl,ceill,fabsl,powl,logl,expl,fmodl,ldexpl
frexp,frexpf,frexpl,modf,modff w1
remquo w2
isnan,isinf,finite,__isnan,__isinf,__finite,__fpclassify,__signbit,__isnanf,__isinff,__signbitf
isalpha,isdigit,isalnum,isspace,isupper,islower,isxdigit,ispunct,isprint,isgraph,iscntrl,isblank,tolower,toupper,isascii,toascii,iswalpha,iswdigit,iswspace,iswalnum,iswupper,iswlower,towlower,towupper
__ctype_b_loc,__ctype_tolower_loc,__ctype_toupper_loc,__errno_location,__error,__h_errno_location static
mblen,mbtowc,mbstowcs,mbrtowc,mbsrtowcs,wcrtomb,wctomb,wcstombs,mbrlen,iconv w0 w1 w2 w3
iconv_open fresh r0
iconv_close f0
btowc,wctob
";
