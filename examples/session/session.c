#include <pthread.h>
#include <stdio.h>

struct session {
    int id;
};

static struct session first = { 1 };
static struct session *current = &first;

static void *log_out(void *unused)
{
    current = NULL;
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, log_out, NULL);
    if (current != NULL)
        printf("session %d\n", current->id);
    pthread_join(other, NULL);
    return 0;
}
