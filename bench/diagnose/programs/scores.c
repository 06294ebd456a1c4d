//@ test: 50 60 70
//@ test: 10
//@ test: 90 80
//@ test: 33 66 99
//@ test: 1 2 3
#include <stdio.h>
#include <stdlib.h>

struct student {
    int scores[3];
    int n_scores;
    int best;
    int worst;
};

static void summarise(struct student *s)
{
    int i;
    s->best = s->scores[0];
    s->worst = s->scores[0];
    for (i = 1; i < s->n_scores; i++) {
        if (s->scores[i] > s->best)
            s->best = s->scores[i];
        if (s->scores[i] < s->worst)
            s->worst = s->scores[s->worst]; //@ right:             s->worst = s->scores[i];
    }
}

int main(int argc, char **argv)
{
    struct student s;
    int i;
    s.n_scores = 0;
    for (i = 1; i < argc && s.n_scores < 3; i++)
        s.scores[s.n_scores++] = atoi(argv[i]) % 101;
    if (s.n_scores == 0)
        return 1;
    summarise(&s);
    printf("%d %d\n", s.best, s.worst);
    return 0;
}
