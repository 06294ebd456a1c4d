/* Splits standard input into tokens and prints the kind of each */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SIZE 400

enum kind { WORD, NUMBER, STRING, OPERATOR, COMMENT, BAD };

static char text[SIZE];
static int length;
static int line = 1;

static int is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int skip_blank(int at)
{
    while (at < length && isspace((unsigned char)text[at])) {
        if (text[at] == '\n')
            line++;
        at++;
    }
    return at;
}

static int word_end(int at)
{
    int end = at + 1;
    while (end < length && is_word_char(text[end]))
        end++;
    return end;
}

static int number_end(int at)
{
    int end = at;
    int points = 0;
    while (end < length && (isdigit((unsigned char)text[end]) || text[end] == '.')) {
        if (text[end] == '.')
            points++;
        if (points > 1)
            break;
        end++;
    }
    return end;
}

static int string_end(int at)
{
    int end = at + 1;
    while (end < length && text[end] != '"') {
        if (text[end] == '\\')
            end++;
        if (text[end] == '\n')
            return -1;
        end++;
    }
    if (end >= length)
        return -1;
    return end + 1;
}

static int comment_end(int at)
{
    while (at < length && text[at] != '\n')
        at++;
    return at;
}

static int operator_length(int at)
{
    if (at + 1 < length && text[at + 1] == '=')
        if (strchr("<>=!+-", text[at]) != NULL)
            return 2;
    if (strchr("+-*/<>=!();", text[at]) != NULL)
        return 1;
    return 0;
}

int main(void)
{
    int at = 0;
    int counts[6] = { 0, 0, 0, 0, 0, 0 };
    length = fread(text, 1, SIZE - 1, stdin);
    for (;;) {
        enum kind kind = BAD;
        int end;
        at = skip_blank(at);
        if (at >= length)
            break;
        end = at + 1;
        if (isalpha((unsigned char)text[at]) || text[at] == '_') {
            kind = WORD;
            end = word_end(at);
        } else if (isdigit((unsigned char)text[at])) {
            kind = NUMBER;
            end = number_end(at);
        } else if (text[at] == '"') {
            end = string_end(at);
            kind = end < 0 ? BAD : STRING;
            if (end < 0)
                end = at + 1;
        } else if (text[at] == '#') {
            kind = COMMENT;
            end = comment_end(at);
        } else if (operator_length(at) > 0) {
            kind = OPERATOR;
            end = at + operator_length(at);
        }
        counts[kind]++;
        printf("%d %d %.*s\n", line, kind, end - at, text + at);
        at = end;
    }
    printf("%d %d %d\n", counts[WORD], counts[NUMBER], counts[BAD]);
    return 0;
}
