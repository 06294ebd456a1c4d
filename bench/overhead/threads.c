// Work for the processor in four threads: rows of a product of matrices, handed out under a lock.
#include <pthread.h>
#include <stdio.h>

#define N 320
#define N_THREADS 4

static double a[N][N], b[N][N], c[N][N];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_row;

static int take_row(void)
{
    pthread_mutex_lock(&lock);
    int row = next_row++;
    pthread_mutex_unlock(&lock);
    return row;
}

static void *multiply(void *unused)
{
    for (int i = take_row(); i < N; i = take_row())
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    return unused;
}

int main(void)
{
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (i * j) % 7;
            b[i][j] = (i + j) % 5;
        }
    for (int t = 0; t < N_THREADS; t++)
        pthread_create(&threads[t], NULL, multiply, NULL);
    for (int t = 0; t < N_THREADS; t++)
        pthread_join(threads[t], NULL);
    printf("%g\n", c[N - 1][N - 1]);
    return 0;
}
