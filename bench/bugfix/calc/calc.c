/* Evaluates expressions, one a line: + - * / % ( ) and numbers, variables a to z */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *at;
static int failed;
static long variables[26];

static long expression(void);

static void blanks(void)
{
    while (*at == ' ')
        at++;
}

static long number(void)
{
    long value = 0;
    while (isdigit((unsigned char)*at)) {
        value = value * 10 + (*at - '0');
        at++;
    }
    return value;
}

static long primary(void)
{
    blanks();
    if (*at == '(') {
        long value;
        at++;
        value = expression();
        blanks();
        if (*at != ')')
            failed = 1;
        else
            at++;
        return value;
    }
    if (*at == '-') {
        at++;
        return -primary();
    }
    if (*at >= 'a' && *at <= 'z')
        return variables[*at++ - 'a'];
    if (!isdigit((unsigned char)*at))
        failed = 1;
    return number();
}

static long term(void)
{
    long value = primary();
    for (;;) {
        blanks();
        if (*at == '*') {
            at++;
            value *= primary();
        } else if (*at == '/' || *at == '%') {
            char operator = *at;
            long right;
            at++;
            right = primary();
            if (right == 0) {
                failed = 1;
                return 0;
            }
            value = operator == '/' ? value / right : value % right;
        } else
            return value;
    }
}

static long expression(void)
{
    long value = term();
    for (;;) {
        blanks();
        if (*at == '+') {
            at++;
            value += term();
        } else if (*at == '-') {
            at++;
            value -= term();
        } else
            return value;
    }
}

static int is_assignment(const char *line)
{
    return line[0] >= 'a' && line[0] <= 'z' && line[1] == '=';
}

int main(void)
{
    char line[100];
    int n_lines = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        long value;
        int assigns = is_assignment(line);
        line[strcspn(line, "\n")] = '\0';
        n_lines++;
        failed = 0;
        at = line;
        if (assigns)
            at += 2;
        value = expression();
        blanks();
        if (failed || *at != '\0') {
            printf("%d: error\n", n_lines);
            continue;
        }
        if (assigns)
            variables[line[0] - 'a'] = value;
        printf("%d: %ld\n", n_lines, value);
    }
    return 0;
}
