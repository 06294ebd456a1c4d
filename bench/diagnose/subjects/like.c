//@ test: a%b ab acb abc
//@ test: _o% foo bar bo
//@ test: %an%a banana ana cabana
//@ test: abc abc ab abcd
//@ test: % x toolongforthis
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN 6
#define TEXT 8

enum answer { UNKNOWN, YES, NO };

struct match {
    const char *pattern;
    const char *text;
    enum answer known[PATTERN + 1][TEXT + 1];
};

static int like(struct match *match, int p, int t)
{
    int result;
    if (match->known[p][t] != UNKNOWN)
        return match->known[p][t] == YES;
    switch (match->pattern[p]) {
    case '\0':
        result = match->text[t] == '\0';
        break;
    case '%':
        result = like(match, p + 1, t);
        if (!result && match->text[t] != '\0')
            result = like(match, p, t + 1);
        break;
    case '_':
        result = match->text[t] != '\0' && like(match, p + 1, t + 1);
        break;
    default:
        result = match->text[t] == match->pattern[p] && like(match, p + 1, t + 1);
        break;
    }
    match->known[p][t] = result ? YES : NO;
    return result;
}

static struct match *prepare(const char *pattern, const char *text)
{
    struct match *match;
    if (strlen(pattern) > PATTERN || strlen(text) > TEXT)
        return NULL;
    match = malloc(sizeof *match);
    memset(match->known, 0, sizeof match->known);
    match->pattern = pattern;
    match->text = text;
    return match;
}

int main(int argc, char **argv)
{
    int i;
    for (i = 2; i < argc; i++) {
        struct match *match = prepare(argv[1], argv[i]);
        if (match == NULL) {
            printf("%s too long\n", argv[i]);
            continue;
        }
        if (like(match, 0, 0))
            printf("%s fits\n", argv[i]);
        free(match);
    }
    return 0;
}
