/* math.h. The arguments are not known to the compiler. */
#include <math.h>

void out_int(long long);
void out_float(double);
int in_int(void);

int main(void)
{
    double zero = in_int(), half = zero + 0.5, x = zero + 2.25;
    double whole;
    int exponent;
    out_float(sqrt(x)); out_float(pow(x, 2.0)); out_float(fmod(zero + 5.5, 2.0));
    out_float(floor(-half)); out_float(ceil(half)); out_float(trunc(-x)); out_float(round(-half));
    out_float(rint(half)); out_float(fabs(-x)); out_float(fmax(x, half)); out_float(fmin(x, half));
    out_float(ldexp(half, 4)); out_float(frexp(zero + 12, &exponent)); out_int(exponent);
    out_float(modf(x, &whole)); out_float(whole);
    out_float(hypot(zero + 3, zero + 4)); out_float(fdim(x, half));
    out_float(copysign(x, -half)); out_float(sqrtf((float)x)); out_float((double)sqrtl(x));
    out_int(lround(half)); out_int(lround(-half - 1)); out_int(llround(x));
    out_int(lrint(half)); out_int(lrint(half + 1));
    out_int(isnan(zero / zero) != 0); out_int(isnan(x) != 0); out_int(isinf(1 / zero) != 0);
    out_int(isfinite(x) != 0); out_int(signbit(-x) != 0); out_int(isnormal(zero) != 0);
    out_float(exp(zero)); out_float(log(zero + 1)); out_float(sin(zero)); out_float(cos(zero));
    return 0;
}
