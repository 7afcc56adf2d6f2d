/* Asks OpenBLAS for the place of the greatest and the least element, where several are equal: it has to be
 * the first one. Every length up to some rounds of the longest vectors, and strides. */
#include <cblas.h>
#include <stdio.h>

#define LONGEST 300
#define STRIDES 3
#define ROUNDS 4

static unsigned long state = 1;

static int next(void)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (int)((state >> 33) % 17) - 8;
}

static double size(double value)
{
    return value < 0 ? -value : value;
}

/* What is compared: elements with their sign, without it, or real and imaginary part together. */
enum kind { SIGNED, ABSOLUTE, COMPLEX };

static double element(const double *values, int at, enum kind kind)
{
    if (kind == COMPLEX)
        return size(values[2 * at]) + size(values[2 * at + 1]);
    return kind == ABSOLUTE ? size(values[at]) : values[at];
}

static int first(const double *values, int count, int stride, enum kind kind, int sign)
{
    int place = 0;
    for (int at = 1; at < count; at++)
        if (sign * element(values, at * stride, kind) > sign * element(values, place * stride, kind))
            place = at;
    return place;
}

static double longs[2 * LONGEST * STRIDES];
static float shorts[2 * LONGEST * STRIDES];
static int wrong;

static void hold(const char *name, int count, int stride, long found, int expected)
{
    if (found == expected)
        return;
    if (wrong++ < 20)
        printf("FAIL %s of %d, stride %d: %ld and not %d\n", name, count, stride, found, expected);
}

/* Asks a routine of single and its twin of double precision. */
#define ASK(single, twice, kind, sign)                                                  \
    do {                                                                                \
        int place = first(longs, count, stride, kind, sign);                            \
        hold(#single, count, stride, (long)cblas_##single(count, shorts, stride), place); \
        hold(#twice, count, stride, (long)cblas_##twice(count, longs, stride), place);  \
    } while (0)

static void ask(int count, int stride)
{
    ASK(isamax, idamax, ABSOLUTE, 1);
    ASK(isamin, idamin, ABSOLUTE, -1);
    ASK(ismax, idmax, SIGNED, 1);
    ASK(ismin, idmin, SIGNED, -1);
    ASK(icamax, izamax, COMPLEX, 1);
    ASK(icamin, izamin, COMPLEX, -1);
}

int main(void)
{
    for (int stride = 1; stride <= STRIDES; stride++)
        for (int count = 1; count <= LONGEST; count++)
            for (int round = 0; round < ROUNDS; round++) {
                for (int at = 0; at < 2 * count * stride; at++)
                    shorts[at] = (float)(longs[at] = next());
                ask(count, stride);
            }
    printf("%d places are wrong\n", wrong);
    return wrong > 0;
}
