/* Atomic objects and operations. */
#include <stdatomic.h>
void out_int(long long);

static atomic_int counter = 5; static _Atomic unsigned char byte = 250; static atomic_flag flag;
static _Atomic(int *) pointer; static _Atomic double number = 1.5;
struct two { int a, b; }; static _Atomic struct two both;

int main(void)
{
    counter++; counter += 10; counter *= 3; out_int(counter); out_int(--counter);
    byte += 10; out_int(byte); byte ^= 0xff; out_int(byte--); out_int(byte);
    out_int(atomic_fetch_add(&counter, 4)); out_int(atomic_exchange(&counter, 9));
    int expected = 8;
    out_int(atomic_compare_exchange_strong(&counter, &expected, 20)); out_int(expected);
    out_int(atomic_compare_exchange_strong(&counter, &expected, 20)); out_int(counter);
    out_int(atomic_flag_test_and_set(&flag)); out_int(atomic_flag_test_and_set(&flag));
    int array[4] = {1, 2, 3, 4}; pointer = array; pointer++; out_int(*pointer); out_int(*atomic_load(&pointer));
    number += 2; out_int(number * 2);
    both = (struct two){3, 4}; struct two copy = both; out_int(copy.a * copy.b);
    int plain = 6; out_int(__sync_fetch_and_or(&plain, 9)); out_int(__sync_add_and_fetch(&plain, 1));
    out_int(__atomic_fetch_nand(&plain, 12, __ATOMIC_SEQ_CST)); out_int(plain);
    out_int(__sync_bool_compare_and_swap(&plain, 1, 2)); out_int(__sync_val_compare_and_swap(&plain, plain, 3));
    __atomic_store_n(&plain, 77, __ATOMIC_RELEASE); out_int(__atomic_load_n(&plain, __ATOMIC_ACQUIRE));
    atomic_thread_fence(memory_order_seq_cst); __sync_synchronize();
    return 0;
}
