/* Counts vectors for which i?amax does not name the first of the greatest elements.
 *
 *   riscv64-linux-gnu-clang -O1 reproducer.c -I$PREFIX/include -L$PREFIX/lib -lopenblas -o reproducer
 */
#include <cblas.h>
#include <stdio.h>

#define LONGEST 300
#define ROUNDS 20

static unsigned long state = 1;

static int next(void)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (int)((state >> 33) % 17) - 8;
}

static int first(const double *sizes, int count)
{
    int place = 0;
    for (int at = 1; at < count; at++)
        if (sizes[at] > sizes[place])
            place = at;
    return place;
}

int main(void)
{
    static double one[LONGEST], two[2 * LONGEST], sizes[LONGEST], both[LONGEST];
    static float one_short[LONGEST], two_short[2 * LONGEST];
    int wrong[4] = {0}, among = 0;
    for (int count = 1; count <= LONGEST; count++)
        for (int round = 0; round < ROUNDS; round++, among++) {
            for (int at = 0; at < count; at++) {
                int real = next(), imaginary = next();
                one[at] = one_short[at] = real;
                two[2 * at] = two_short[2 * at] = real;
                two[2 * at + 1] = two_short[2 * at + 1] = imaginary;
                sizes[at] = real < 0 ? -real : real;
                both[at] = sizes[at] + (imaginary < 0 ? -imaginary : imaginary);
            }
            wrong[0] += (int)cblas_isamax(count, one_short, 1) != first(sizes, count);
            wrong[1] += (int)cblas_idamax(count, one, 1) != first(sizes, count);
            wrong[2] += (int)cblas_icamax(count, two_short, 1) != first(both, count);
            wrong[3] += (int)cblas_izamax(count, two, 1) != first(both, count);
        }
    printf("of %d: isamax %d, idamax %d, icamax %d, izamax %d\n",
           among, wrong[0], wrong[1], wrong[2], wrong[3]);
    return wrong[0] + wrong[1] + wrong[2] + wrong[3] > 0;
}
