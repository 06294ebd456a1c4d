//! Which functions of the C library leave nothing behind that a snapshot cannot undo.
//!
//! Anything not listed makes the search fall back to a process per replacement: slower,
//! never wrong.

/// Whether a run that calls `name` can still be put back by copying memory.
pub fn is_undone_by_snapshot(name: &str) -> bool {
    LISTS.iter().any(|list| list.split_whitespace().any(|known| known == name))
}

/// Whether `name` starts threads, which neither snapshots nor forks can repeat.
pub fn starts_threads(name: &str) -> bool {
    matches!(name, "pthread_create" | "thrd_create")
}

const LISTS: &[&str] = &[STDIO, STRINGS, STDLIB, CTYPE, MATH, WIDE, OTHER];

const STDIO: &str = "printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf puts \
    fputs putchar putc fputc getchar getc fgetc gets fgets ungetc scanf fscanf sscanf vscanf \
    vfscanf vsscanf fread fwrite fflush feof ferror clearerr perror fopen fclose fseek ftell \
    rewind fseeko ftello fileno getline getdelim setbuf setvbuf putw getw \
    putchar_unlocked putc_unlocked getchar_unlocked getc_unlocked fputc_unlocked fgetc_unlocked \
    __isoc99_scanf __isoc99_fscanf __isoc99_sscanf __isoc23_scanf __isoc23_fscanf \
    __isoc23_sscanf _IO_getc _IO_putc __uflow __overflow open close read write lseek";

const STRINGS: &str = "memcpy memmove memset memcmp memchr memrchr mempcpy memmem bcopy bzero bcmp \
    strlen strnlen strcpy strncpy strcat strncat strcmp strncmp strcasecmp strncasecmp strchr \
    strrchr strchrnul strstr strcasestr strspn strcspn strpbrk strtok strtok_r strdup strndup \
    stpcpy stpncpy strcoll strxfrm strerror strerror_r strsignal strsep strlcpy strlcat index \
    rindex rawmemchr basename __xpg_basename ffs ffsl";

const STDLIB: &str = "malloc free calloc realloc reallocarray aligned_alloc memalign \
    posix_memalign valloc pvalloc malloc_usable_size exit _exit _Exit abort atexit atoi atol \
    atoll atof strtol strtoul strtoll strtoull strtod strtof strtold strtoimax strtoumax qsort \
    bsearch abs labs llabs div ldiv lldiv rand srand rand_r random srandom drand48 erand48 \
    lrand48 nrand48 mrand48 srand48 getenv secure_getenv __isoc23_strtol __isoc23_strtoul \
    __isoc23_strtoll __isoc23_strtoull on_exit a64l l64a lfind lsearch hcreate hsearch \
    hdestroy tsearch tfind tdelete twalk getsubopt mblen mbtowc wctomb mbstowcs wcstombs";

const CTYPE: &str = "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct \
    isspace isupper isxdigit isascii toascii tolower toupper __ctype_b_loc __ctype_tolower_loc \
    __ctype_toupper_loc";

const MATH: &str = "acos acosf acosh asin asinf asinh atan atanf atan2 atan2f atanh cbrt ceil \
    ceilf copysign cos cosf cosh erf erfc exp expf exp2 expm1 fabs fabsf fdim floor floorf fma \
    fmax fmaxf fmin fminf fmod fmodf frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint \
    llround log logf log10 log10f log1p log2 log2f logb lrint lround modf nan nearbyint \
    nextafter pow powf pow10 remainder remquo rint rintf round roundf scalb scalbln scalbn sin \
    sinf sincos sinh sqrt sqrtf tan tanf tanh tgamma trunc truncf y0 y1 yn __isnan __isinf \
    __finite isnan isinf finite __fpclassify __signbit acosl asinl atanl cosl expl fabsl floorl \
    fmodl logl powl sinl sqrtl tanl ceill ldexpl frexpl roundl truncl";

const WIDE: &str = "wcslen wcscpy wcsncpy wcscat wcscmp wcsncmp wcschr wcsrchr wcsstr wmemcpy \
    wmemset wmemcmp btowc wctob mbrtowc wcrtomb mbsinit mbrlen iswalpha iswdigit iswspace \
    iswalnum iswupper iswlower iswprint iswpunct towlower towupper wctype iswctype";

const OTHER: &str = "setjmp _setjmp sigsetjmp __sigsetjmp longjmp _longjmp siglongjmp time clock \
    difftime mktime localtime gmtime localtime_r gmtime_r ctime asctime strftime gettimeofday \
    clock_gettime setlocale localeconv getopt getopt_long isatty getpid getuid geteuid getgid \
    getegid getcwd access stat lstat fstat __errno_location __assert_fail __assert error usleep \
    sleep getpagesize sysconf uname gethostname main";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_other_processes_or_files_is_not_undone() {
        for name in ["fork", "system", "mmap", "unlink", "signal", "pthread_create", "freopen"] {
            assert!(!is_undone_by_snapshot(name), "{name}");
        }
        for name in ["printf", "fopen", "exit", "sqrt", "longjmp"] {
            assert!(is_undone_by_snapshot(name), "{name}");
        }
    }
}
