/* string.h beyond copying: tokens, searches, comparisons. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void out_int(long long);

static void text(const char *s)
{
    out_int(s == NULL ? -1 : (long long)strlen(s));
    while (s != NULL && *s)
        out_int(*s++);
}

static int sign(int x) { return (x > 0) - (x < 0); }

int main(void)
{
    char line[] = "  one,two ,,three";
    char again[] = "a:b", fields[] = "x::y", copy[8];
    char *at, *rest, *inner;
    for (at = strtok(line, " ,"); at; at = strtok(NULL, " ,"))
        text(at);
    for (at = strtok_r(again, ":", &rest); at; at = strtok_r(NULL, ":", &rest))
        text(at);
    text(strtok_r(again, "", &inner));
    rest = fields;
    while ((at = strsep(&rest, ":")) != NULL)
        text(at);
    out_int(rest == NULL);
    text(strpbrk("key=value", "=:"));
    text(strpbrk("key", "=:"));
    text(strcasestr("Hello", "LL"));
    text(strcasestr("Hello", "x"));
    out_int((char *)memmem("abcd", 4, "cd", 2) != NULL);
    out_int((char *)memmem("ab", 2, "abc", 3) == NULL);
    text(memrchr("abab", 'a', 4));
    text(strchrnul("ab", 'x'));
    out_int(sign(strcasecmp("ABC", "abd")));
    out_int(sign(strncasecmp("ABx", "aby", 2)));
    out_int(sign(strcoll("a", "b")));
    out_int((long long)strnlen("abc", 2));
    memset(copy, '#', sizeof copy);
    out_int(stpncpy(copy, "ab", 4) - copy);
    out_int(copy[3]);
    out_int(copy[4]);
    out_int((char *)memccpy(copy, "a=b", '=', 3) - copy);
    out_int(ffs(0)); out_int(ffs(8)); out_int(ffsl(1L << 40));
    out_int(div(-7, 2).quot); out_int(div(-7, 2).rem);
    out_int(ldiv(17L, 5L).quot); out_int(ldiv(17L, 5L).rem);
    return 0;
}
