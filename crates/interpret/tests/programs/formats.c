/* What sprintf writes. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void out_int(long long);

static void show(const char *format, ...)
{
    char buffer[200];
    va_list list;
    va_start(list, format);
    out_int(vsnprintf(buffer, sizeof buffer, format, list));
    va_end(list);
    for (const char *at = buffer; *at; at++)
        out_int(*at);
}

int main(void)
{
    char *made = NULL, buffer[64];
    int n = 0;
    show("%g %g %g %g %g", 0.5, 100.0, 1e6, 1e-5, 0.0);
    show("%g %G %.3g %#.3g", 123456789.0, 1e-10, 3.14159, 2.0);
    show("%e %.2E %.0e", 12345.678, 0.00012, 5.0);
    show("%f %.3f %10.2f|%-10.1f|%+f|% f|%010.3f", 1.5, 2.0005, 3.14159, 2.5, 1.0, 1.0, -3.5);
    show("%d|%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%.0d|", 42, 42, 42, 42, 42, 42, 7, 7, 0);
    show("%x %X %#x %o %#o %u", 255, 255, 255, 8, 8, 4000000000u);
    show("%hhd %hd %ld %lld %zu %jd %td", 300, 70000, 1L << 40, -1LL, (size_t)7, 8L, 9L);
    show("%s|%8s|%-8s|%.2s|%*s|%-*s|%.*s", "abc", "abc", "abc", "abc", 5, "x", 5, "y", 1, "zz");
    show("%c%c%%", 'a', 66);
    show("%p", (void *)0);
    show("%.*f|%*d", -1, 1.5, -4, 7);
    show("%f %F %e", 1.0 / 0.0, -1.0 / 0.0, 0.0);
    out_int(sprintf(buffer, "%.2Lf %Lg", 1.25L, 0.5L));
    for (const char *at = buffer; *at; at++)
        out_int(*at);
    out_int(sprintf(buffer, "abc%n%d", &n, 5));
    out_int(n);
    out_int(snprintf(NULL, 0, "%d", 12345));
    out_int(asprintf(&made, "%s-%d", "made", 3));
    out_int((long long)strlen(made));
    free(made);
    out_int((long long)strlen(strerror(2)));
    return 0;
}
