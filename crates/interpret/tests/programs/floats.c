/* Floating point of every width, with the numbers that behave oddly. */
#include <complex.h>
void out_int(long long);
void out_float(double);

static double doubles[] = {0.0, -0.0, 1.5, -2.25, 1e300, 1e-300, 1.0 / 0.0, 0.1};
static float halves[] = {0.5f, -0.5f, 3e38f, 1e-38f, 0.1f};

static int order(double a, double b)
{
    return (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * (a >= b)
        + 64 * !(a < b) + 128 * __builtin_isunordered(a, b) + 256 * __builtin_isless(a, b);
}

static long double extended(long double x, int n) { return x * n + 0.5L; }
static double average(const float *f, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += f[i];
    return sum / n;
}

int main(void)
{
    double nan = __builtin_nan("");
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            out_int(order(doubles[i], doubles[j]));
            out_float(doubles[i] + doubles[j] == doubles[i] + doubles[j] ? doubles[i] * doubles[j] == doubles[i] * doubles[j] : 2);
        }
        out_int(order(doubles[i], nan));
        out_float(-doubles[i]);
        out_float((float)(doubles[i] > 1e30 ? 1 : doubles[i]));
        out_int(!doubles[i]); out_int(doubles[i] ? 1 : 2); out_int((_Bool)doubles[i]);
    }
    for (int i = 0; i < 5; i++) {
        float f = halves[i];
        out_float(f); out_float(f / 3); out_float(f + 0.1); out_float(f + 0.1f);
        f += 0.7; out_float(f); f++; out_float(f);
    }
    out_float(average(halves, 2));
    for (int i = -3; i < 4; i++) {
        double d = i * 1.75;
        out_int(d); out_int((unsigned char)(int)d); out_int((long)d); out_int((short)d);
        out_float(i); out_float((unsigned char)i); out_float((float)(unsigned)i);
        out_float((unsigned long)(long)i); out_float(-(long)i);
        out_float(extended(i, 3)); out_int(extended(i, 2));
        long double l = i; l /= 4; out_int(l < -0.25L); out_float(l);
        int back = i; back *= 1.5; out_int(back); back -= 0.5f; out_int(back);
    }
    out_int((unsigned)3e9); out_int((unsigned long)1.7e19);
    out_float(16777217); out_float(16777217.0f); out_float((float)16777217);
    out_float((float)9007199254740993L); out_float((double)9007199254740993L);
    _Complex double z = 3 + 4 * I;
    z = z * (1 - 2 * I) + 0.5;
    out_float(__real__ z); out_float(__imag__ z); out_int(z == 11.5 - 2 * I);
    return 0;
}
