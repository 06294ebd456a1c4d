//@ test: +5+3
//@ test: -2
//@ test: +9-4*2
//@ test: *3
//@ test: +1+2+3
#include <stdio.h>

#define MAX_HISTORY 4

struct machine {
    int value;
    int history[MAX_HISTORY];
    int n_history;
};

static void remember(struct machine *m)
{
    int i;
    if (m->n_history == MAX_HISTORY) {
        for (i = 1; i < MAX_HISTORY; i++)
            m->history[i - 1] = m->history[i];
        m->n_history--;
    }
    m->history[m->n_history++] = m->value;
}

static const char *step(struct machine *m, const char *text)
{
    char operation = text[0];
    int operand = text[1] - '0';
    if (operand < 0 || operand > 9)
        return NULL;
    remember(m);
    if (operation == '+')
        m->value += operand;
    else if (operation == '-')
        m->value -= operand;
    else if (operation == '*')
        m->value = m->value * operand % 1000;
    else
        return NULL;
    return text + 2;
}

int main(int argc, char **argv)
{
    struct machine m;
    const char *p;
    m.value = 1;
    m.n_history = 0;
    if (argc < 2)
        return 1;
    for (p = argv[1]; p != NULL && *p != '\0';)
        p = step(&m, p);
    printf("%d after %d\n", m.value, m.n_history);
    return 0;
}
