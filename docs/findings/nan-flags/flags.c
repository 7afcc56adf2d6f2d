/* Which operations on a quiet NaN raise the invalid flag, and what sign a NaN has afterwards.
 * Each line tells what was raised; "wrong" where IEEE 754 has it otherwise. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>

static volatile double d = NAN, one = 1, zero = 0;
static volatile float f = NAN;
static volatile long double q = NAN, quad_one = 1;
static volatile int truth;
static volatile double double_result;
static volatile float float_result;
static volatile long double quad_result;

static void tell(const char *what, int expected)
{
    int raised = fetestexcept(FE_INVALID) != 0;
    printf("%-24s %s%s\n", what, raised ? "invalid" : "-", raised == expected ? "" : "  wrong");
    feclearexcept(FE_ALL_EXCEPT);
}

int main(void)
{
    feclearexcept(FE_ALL_EXCEPT);
    double_result = floor(d);   tell("floor(double)", 0);
    float_result = ceilf(f);    tell("ceil(float)", 0);
    double_result = trunc(d);   tell("trunc(double)", 0);
    double_result = rint(d);    tell("rint(double)", 0);
    truth = d == one;           tell("double ==", 0);
    truth = d < one;            tell("double <", 1);
    truth = isless(d, one);     tell("isless(double)", 0);
    truth = q == quad_one;      tell("quad ==", 0);
    truth = q < quad_one;       tell("quad <", 1);
    truth = isless(q, quad_one); tell("isless(quad)", 0);
    truth = isunordered(q, quad_one); tell("isunordered(quad)", 0);
    quad_result = floorl(q);    tell("floorl(quad)", 0);
    quad_result = fmodl(q, quad_one); tell("fmodl(quad)", 0);

    double_result = -d;
    float_result = (float)double_result;
    printf("signs: -NaN %d, as float %d, 0/0 %d\n", signbit(double_result) != 0,
           signbit(float_result) != 0, signbit(zero / zero) != 0);
    return 0;
}
