/* Times that are known. */
#include <string.h>
#include <time.h>

void out_int(long long);

static void show(time_t time)
{
    char buffer[100];
    struct tm *tm = gmtime(&time), copy;
    out_int(tm->tm_year); out_int(tm->tm_mon); out_int(tm->tm_mday);
    out_int(tm->tm_hour); out_int(tm->tm_min); out_int(tm->tm_sec);
    out_int(tm->tm_wday); out_int(tm->tm_yday);
    out_int((long long)strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S %a %B %j %I%p %y %e%%", tm));
    for (const char *at = buffer; *at; at++)
        out_int(*at);
    out_int((long long)strftime(buffer, 4, "%Y", tm));
    out_int(gmtime_r(&time, &copy) == &copy);
    copy.tm_mday += 40;
    out_int(timegm(&copy));
    out_int(copy.tm_mon); out_int(copy.tm_mday);
    out_int((long long)strlen(asctime(tm)));
}

int main(void)
{
    show(0);
    show(951782399);
    show(951868799);
    show(1709210096);
    show(-86401);
    return 0;
}
