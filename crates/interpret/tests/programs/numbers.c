/* Numbers in strings, with what does not fit and what is none. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

void out_int(long long);
void out_float(double);

static void whole(const char *s, int base)
{
    char *end;
    errno = 0;
    out_int(strtol(s, &end, base));
    out_int(end - s);
    out_int(errno);
    errno = 0;
    out_int((long long)strtoul(s, &end, base));
    out_int(end - s);
    out_int(errno);
}

static void real(const char *s)
{
    char *end;
    errno = 0;
    out_float(strtod(s, &end));
    out_int(end - s);
    out_int(errno);
    out_float(strtof(s, NULL));
    out_float((double)strtold(s, NULL));
    out_float(atof(s));
}

int main(void)
{
    whole("99999999999999999999", 10);
    whole("-99999999999999999999", 10);
    whole("9223372036854775807", 10);
    whole("9223372036854775808", 10);
    whole("-9223372036854775808", 10);
    whole("-9223372036854775809", 10);
    whole("18446744073709551615", 10);
    whole("18446744073709551616", 10);
    whole("0xg", 16);
    whole("0x", 0);
    whole("0x1g", 0);
    whole("-0x1F", 16);
    whole("08", 0);
    whole("zZ!", 36);
    whole("102", 2);
    whole("  +12x", 10);
    whole("-", 10);
    whole("", 10);
    errno = 0;
    out_int(strtol("12", NULL, 37));
    out_int(errno);
    errno = 0;
    out_int(strtol("12", NULL, 1));
    out_int(errno);
    errno = 0;
    out_int(strtol("12", NULL, -4));
    out_int(errno);
    real("2.5e1");
    real("  -.5");
    real("1e");
    real("1e+x");
    real("12.");
    real(".");
    real("3.125abc");
    real("1e400");
    real("inf");
    real("-Infinityx");
    real("infin");
    real("nanny");
    real("nope");
    return 0;
}
