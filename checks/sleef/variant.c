/* All functions of one variant of SLEEF, over arrays: compiled once for each, by -DVARIANT=NAME, and by
   -DLMUL=1 or 2 for those that work on groups of vector registers. */
#include <sleef.h>

#include "functions.h"

#define NAMED_(name, type, suffix, variant) Sleef_##name##type##_##suffix##variant
#define NAMED(name, type, suffix, variant) NAMED_(name, type, suffix, variant)
#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

#if defined(LMUL)
#include <riscv_vector.h>
#if LMUL == 1
typedef vfloat64m1_t vector64;
typedef vfloat32m1_t vector32;
typedef Sleef_vfloat64m1_t_2 pair64;
typedef Sleef_vfloat32m1_t_2 pair32;
#define STEP64 __riscv_vsetvlmax_e64m1()
#define STEP32 __riscv_vsetvlmax_e32m1()
#define ONES64 __riscv_vfmv_v_f_f64m1(1, STEP64)
#define ONES32 __riscv_vfmv_v_f_f32m1(1, STEP32)
#define PART64(pair, index) __riscv_vget_v_f64m2_f64m1(pair, index)
#define PART32(pair, index) __riscv_vget_v_f32m2_f32m1(pair, index)
#else
typedef vfloat64m2_t vector64;
typedef vfloat32m2_t vector32;
typedef Sleef_vfloat64m2_t_2 pair64;
typedef Sleef_vfloat32m2_t_2 pair32;
#define STEP64 __riscv_vsetvlmax_e64m2()
#define STEP32 __riscv_vsetvlmax_e32m2()
#define ONES64 __riscv_vfmv_v_f_f64m2(1, STEP64)
#define ONES32 __riscv_vfmv_v_f_f32m2(1, STEP32)
#define PART64(pair, index) __riscv_vget_v_f64m4_f64m2(pair, index)
#define PART32(pair, index) __riscv_vget_v_f32m4_f32m2(pair, index)
#endif
#define DOUBLE dx
#define FLOAT fx

static unsigned long some(long left, unsigned long whole) {
  return (unsigned long)left < whole ? (unsigned long)left : whole;
}

/* The functions always work on all of a group, so that the rest of the last one is ones. */
static vector64 load64(const double *from, long left) {
  return __riscv_vle64_tu(ONES64, from, some(left, STEP64));
}

static vector32 load32(const float *from, long left) {
  return __riscv_vle32_tu(ONES32, from, some(left, STEP32));
}

static void store64(double *to, vector64 value, long left) {
  __riscv_vse64(to, value, some(left, STEP64));
}

static void store32(float *to, vector32 value, long left) {
  __riscv_vse32(to, value, some(left, STEP32));
}
#else
typedef Sleef_double_2 pair64;
typedef Sleef_float_2 pair32;
#define STEP64 1
#define STEP32 1
#define DOUBLE d1
#define FLOAT f1
#define PART64(pair, index) (index ? pair.y : pair.x)
#define PART32(pair, index) (index ? pair.y : pair.x)
#define load64(from, left) (*(from))
#define load32(from, left) (*(from))
#define store64(to, value, left) (*(to) = (value))
#define store32(to, value, left) (*(to) = (value))
#endif

#define LOOP(bits) for (long at = 0; at < count; at += (long)STEP##bits)
#define REST (count - at)

#define ACT(name, suffix, type, bits, word, BODY)                                              \
  static void name##_##suffix##_##type(const type *x, const type *y, type *first, type *second, \
                                       long count) {                                           \
    (void)y;                                                                                   \
    (void)second;                                                                              \
    LOOP(bits) { BODY(NAMED(name, word, suffix, VARIANT), bits) }                              \
  }
#define ONE_BODY(function, bits) store##bits(first + at, function(load##bits(x + at, REST)), REST);
#define TWO_BODY(function, bits) \
  store##bits(first + at, function(load##bits(x + at, REST), load##bits(y + at, REST)), REST);
#define PAIR_BODY(function, bits)                    \
  pair##bits both = function(load##bits(x + at, REST)); \
  store##bits(first + at, PART##bits(both, 0), REST);   \
  store##bits(second + at, PART##bits(both, 1), REST);

#define ONE_ACTS(name, suffix, ...)                      \
  ACT(name, suffix, double, 64, DOUBLE, ONE_BODY)        \
  ACT(name, suffix, float, 32, FLOAT, ONE_BODY)
#define TWO_ACTS(name, suffix, ...)                      \
  ACT(name, suffix, double, 64, DOUBLE, TWO_BODY)        \
  ACT(name, suffix, float, 32, FLOAT, TWO_BODY)
#define PAIR_ACTS(name, suffix, ...)                     \
  ACT(name, suffix, double, 64, DOUBLE, PAIR_BODY)       \
  ACT(name, suffix, float, 32, FLOAT, PAIR_BODY)
ONE(ONE_ACTS)
TWO(TWO_ACTS)
PAIR(PAIR_ACTS)

#define DOUBLE_ACT(name, suffix, ...) name##_##suffix##_double,
#define FLOAT_ACT(name, suffix, ...) name##_##suffix##_float,
static double_act *const doubles[] = {ONE(DOUBLE_ACT) TWO(DOUBLE_ACT) PAIR(DOUBLE_ACT)};
static float_act *const floats[] = {ONE(FLOAT_ACT) TWO(FLOAT_ACT) PAIR(FLOAT_ACT)};

const struct variant VARIANT = {TEXT(VARIANT), doubles, floats};
