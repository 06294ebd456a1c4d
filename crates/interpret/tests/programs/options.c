/* getopt, with operands between the options. */
#include <getopt.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

void out_int(long long);

static void text(const char *s)
{
    out_int(s == NULL ? -1 : (long long)strlen(s));
    while (s != NULL && *s)
        out_int(*s++);
}

static void walk(int count, char **arguments, const char *letters)
{
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt(count, arguments, letters)) != -1) {
        out_int(c);
        if (c == '?' || c == ':')
            out_int(optopt);
        else if (strchr(letters, c)[1] == ':')
            text(optarg);
    }
    out_int(optind);
    for (int i = 1; i < count; i++)
        text(arguments[i]);
}

static void walk_long(int count, char **arguments)
{
    static int is_set;
    static const struct option table[] = {
        { "all", no_argument, NULL, 'a' },
        { "size", required_argument, NULL, 's' },
        { "color", optional_argument, NULL, 'c' },
        { "flag", no_argument, &is_set, 5 },
        { NULL, 0, NULL, 0 },
    };
    int c, which = -1;
    optind = 0;
    while ((c = getopt_long(count, arguments, "as:", table, &which)) != -1) {
        out_int(c);
        out_int(which);
        if (c == 's' || c == 'c')
            text(optarg);
    }
    out_int(is_set);
    out_int(optind);
}

int main(void)
{
    char *mixed[] = { "p", "in", "-ab", "-n", "3", "out", "-n4", "--", "-a", NULL };
    char *wrong[] = { "p", "-x", "-n", NULL };
    char *order[] = { "p", "-a", "stop", "-b", NULL };
    char *optional[] = { "p", "-o1", "-o", "2", NULL };
    char *longs[] = { "p", "--all", "--size=4", "op", "--size", "5", "--col=x", "--flag", "-s6",
                      "--nothing", "--color", NULL };
    out_int(optind);
    walk(9, mixed, "abn:");
    walk(3, wrong, ":an:");
    walk(3, wrong, "an:");
    walk(4, order, "+ab");
    walk(4, optional, "o::");
    walk_long(11, longs);
    return 0;
}
