/* Compares SLEEF's functions with the C library's in binary128, which has twice as many digits as a double.
   Arguments: `double`, `float` or `reference`, then the variants to look at. */
#define _GNU_SOURCE
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "constants.h"
#include "functions.h"

#define VECTOR_BIT (1UL << ('v' - 'a'))
#define SHOWN 5

typedef long double quad;

enum domain {
  ANY,
  TURNS,      /* multiples of pi; far out anything may come, and what is tiny may be zero */
  HYPERBOLIC, /* beyond 709 (88) it may be infinite */
  SQUARES,    /* beyond the root of the largest number it may be infinite */
  TINY,       /* an error below the smallest normal number is allowed */
  TAIL,       /* the same, and 2.5 units from 26.2 on */
  FACTORIAL,  /* below zero an error of 1e-15 (1e-8); may be infinite early */
  VANISHING,  /* below the smallest normal number 16 units are allowed, and zero has any sign */
  RATIO,      /* undefined when the quotient is beyond 1e300 (1e38) */
};

struct entry {
  const char *name;
  const char *suffix;
  quad (*one)(quad);
  quad (*second)(quad);
  quad (*two)(quad, quad);
  double bounds[2]; /* for double, for float */
  enum domain domain;
};

/* Of turns and half turns: reduced without any error first. */
static quad turned(quad x, int quarter) {
  if (isinf(x)) return NAN;
  quad turn = fmodl(x, 2), near = rintl(2 * turn), pi = 3.141592653589793238462643383279502884L;
  quad angle = pi * (turn - near / 2);
  switch (((int)near + quarter) & 3) {
    case 0: return sinl(angle);
    case 1: return cosl(angle);
    case 2: return -sinl(angle);
    default: return -cosl(angle);
  }
}

static quad sinpil(quad x) { return turned(x, 0); }
static quad cospil(quad x) { return turned(x, 1); }

#define ONE_ENTRY(name, suffix, reference, bound, bound_float, domain) \
  {#name, #suffix, reference, NULL, NULL, {bound, bound_float}, domain},
#define TWO_ENTRY(name, suffix, reference, bound, bound_float, domain) \
  {#name, #suffix, NULL, NULL, reference, {bound, bound_float}, domain},
#define PAIR_ENTRY(name, suffix, first, second, bound, bound_float, domain) \
  {#name, #suffix, first, second, NULL, {bound, bound_float}, domain},
static const struct entry entries[] = {ONE(ONE_ENTRY) TWO(TWO_ENTRY) PAIR(PAIR_ENTRY)};
#define ENTRIES (sizeof entries / sizeof *entries)

/* What differs between the two precisions. */
struct precision {
  int is_float;
  int digits;       /* of the mantissa */
  int least;        /* exponent of the smallest number */
  double smallest;  /* normal number */
  double largest;
  double turns, hyperbolic, square, factorial, ratio;
  double slack;     /* of lgamma below zero */
};

/* Turns are good up to 1e9 and 1e7 by the manual, and up to TRIGRANGEMAX3 / 4 and TRIGRANGEMAX4f by the code. */
static const struct precision precisions[2] = {
    {0, 53, -1074, DBL_MIN, DBL_MAX, 2.5e8, 709, 1.34e154, 2e305, 1e300, 1e-15},
    {1, 24, -149, FLT_MIN, FLT_MAX, 8e6, 88, 1.84e19, 4e36, 1e38, 1e-8},
};

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static double uniform(double from, double to) {
  return from + (to - from) * (double)(random64() >> 11) / 9007199254740992.0;
}

static double any_bits(const struct precision *p) {
  uint64_t bits = random64();
  if (p->is_float) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double random_argument(const struct precision *p, long number) {
  double wide = p->is_float ? 110 : 800;
  switch (number % 6) {
    case 0: return any_bits(p);
    case 1: return uniform(-1, 1);
    case 2: return uniform(-10, 10);
    case 3: return uniform(-wide, wide);
    case 4: return (double)(int)uniform(-300, 300) / 2;
    default: return ldexp(uniform(-1, 1), (int)uniform(-30, 30));
  }
}

static long special_arguments(const struct precision *p, double *out) {
  double pi = 3.14159265358979323846, tick = ldexp(1, 1 - p->digits);
  double some[] = {0, ldexp(1, p->least), p->smallest, tick, 0.25, 0.5, 1 - tick / 2, 1, 1 + tick, 1.5, 2, 3, 10,
                   pi / 4, pi / 2, pi, 1.5 * pi, 355, 1e5, 1e7, 1e9, ldexp(1, p->digits - 2), ldexp(1, p->digits - 1) + 1,
                   1e15, 1e22, 1e30, p->largest / 2, p->largest, INFINITY};
  long count = 0;
  for (size_t n = 0; n < sizeof some / sizeof *some; n++) {
    out[count++] = some[n];
    out[count++] = -some[n];
  }
  out[count++] = NAN;
  return count;
}

/* Gives the error in units of the last place, and infinity where it is none that could be measured. */
static quad error_of(quad got, quad right, const struct precision *p) {
  if (isnan(right) || isnan(got)) return isnan(right) && isnan(got) ? 0 : INFINITY;
  quad beyond = ldexpl(1, p->is_float ? 128 : 1024);
  if (isinf(got)) got = copysignl(beyond, got);
  if (fabsl(right) > beyond) right = copysignl(beyond, right);
  int exponent = right == 0 ? p->least : ilogbl(right) - p->digits + 1;
  int most = (p->is_float ? 128 : 1024) - p->digits;
  if (exponent > most) exponent = most;
  if (exponent < p->least) exponent = p->least;
  return ldexpl(fabsl(got - right), -exponent);
}

static int is_meant(const struct entry *entry, double x, double y, const struct precision *p) {
  switch (entry->domain) {
    case TURNS: return !(fabs(x) > p->turns) || isinf(x);
    case RATIO: return !(fabsl((quad)x / (quad)y) > (quad)p->ratio);
    default: return 1;
  }
}

static int is_excused(const struct entry *entry, double x, quad got, quad right, const struct precision *p) {
  quad off = fabsl(got - right);
  switch (entry->domain) {
    case TINY:
    case TURNS: return off <= p->smallest;
    case TAIL: return off <= p->smallest || (x > 26.2 && error_of(got, right, p) <= 2.5);
    case HYPERBOLIC: return fabs(x) > p->hyperbolic && isinf(got) && (got > 0) == (right > 0);
    case SQUARES: return fabs(x) > p->square && isinf(got) && (got > 0) == (right > 0);
    case VANISHING: return fabsl(right) < p->smallest && error_of(got, right, p) <= 16;
    case FACTORIAL: return x < 0 ? off <= p->slack : x > p->factorial && isinf(got) && got > 0;
    default: return 0;
  }
}

/* Zeros have signs, but for those of whole turns, on which C99 says nothing. */
static int has_wrong_sign(const struct entry *entry, quad got, quad right) {
  if (entry->domain == TURNS || entry->domain == VANISHING) return 0;
  return right == 0 && got == 0 && !signbit(got) != !signbit(right);
}

struct tally {
  long compared, wrong;
  quad worst;
};

static void compare(const struct entry *entry, double x, double y, quad got, quad right, const struct precision *p,
                    const char *variant, struct tally *tally) {
  quad error = error_of(got, right, p);
  tally->compared++;
  int excused = is_excused(entry, x, got, right, p);
  if (!excused && error > tally->worst) tally->worst = error;
  if (has_wrong_sign(entry, got, right) || (!excused && error > entry->bounds[p->is_float])) {
    if (tally->wrong++ < SHOWN)
      printf("wrong: %s %s_%s(%a, %a) = %La, right is %La, %.3Lf units off\n", variant, entry->name, entry->suffix, x, y,
             got, right, error);
  }
}

#define COUNT 3000

static double xs[COUNT], ys[COUNT], first[COUNT], second[COUNT];
static float xs32[COUNT], ys32[COUNT], first32[COUNT], second32[COUNT];
static quad right_first[COUNT], right_second[COUNT];

static void fill(const struct precision *p) {
  double special[128];
  long count = special_arguments(p, special);
  for (long n = 0; n < COUNT; n++) {
    xs[n] = n < count ? special[n] : random_argument(p, n);
    ys[n] = n < 2 * count ? special[(n * 7) % count] : random_argument(p, (long)(random64() % 6));
    xs32[n] = (float)xs[n];
    ys32[n] = (float)ys[n];
    if (p->is_float) {
      xs[n] = xs32[n];
      ys[n] = ys32[n];
    }
  }
}

static void refer(const struct entry *entry) {
  for (long n = 0; n < COUNT; n++) {
    quad x = xs[n], y = ys[n];
    right_first[n] = entry->two ? entry->two(x, y) : entry->one(x);
    if (entry->second) right_second[n] = entry->second(x);
  }
}

static long look_at(size_t index, const struct variant *variant, const struct precision *p) {
  const struct entry *entry = &entries[index];
  if (p->is_float)
    variant->floats[index](xs32, ys32, first32, second32, COUNT);
  else
    variant->doubles[index](xs, ys, first, second, COUNT);
  struct tally tally = {0, 0, 0};
  for (long n = 0; n < COUNT; n++) {
    if (!is_meant(entry, xs[n], ys[n], p)) continue;
    double y = entry->two ? ys[n] : 0;
    compare(entry, xs[n], y, p->is_float ? first32[n] : first[n], right_first[n], p, variant->name, &tally);
    if (entry->second)
      compare(entry, xs[n], y, p->is_float ? second32[n] : second[n], right_second[n], p, variant->name, &tally);
  }
  printf("%s %s%s%s: %ld compared, worst %.4Lf of %.4f\n", variant->name, entry->name, *entry->suffix ? "_" : "",
         entry->suffix, tally.compared, tally.worst, entry->bounds[p->is_float]);
  return tally.wrong;
}

/* The reference itself, against constants that were worked out with 60 digits. */
static long check_reference(void) {
  long wrong = 0;
  for (size_t n = 0; n < sizeof constants / sizeof *constants; n++) {
    quad right = strtold(constants[n].value, NULL), got = NAN;
    for (size_t at = 0; at < ENTRIES && isnan(got); at++) {
      if (strcmp(entries[at].name, constants[n].name)) continue;
      got = entries[at].two ? entries[at].two(constants[n].x, constants[n].y) : entries[at].one(constants[n].x);
    }
    if (!(fabsl(got - right) <= ldexpl(fabsl(right), -105))) {
      printf("wrong: the C library's %s(%a, %a) is %La and not %La\n", constants[n].name, constants[n].x, constants[n].y,
             got, right);
      wrong++;
    }
  }
  printf("reference: %zu constants, %ld wrong\n", sizeof constants / sizeof *constants, wrong);
  return wrong;
}

static const struct variant *const variants[] = {&purec, &purecfma, &rvvm1, &rvvm2};

static const struct variant *find(const char *name) {
  for (size_t n = 0; n < sizeof variants / sizeof *variants; n++)
    if (!strcmp(variants[n]->name, name)) return variants[n];
  fprintf(stderr, "there is no variant %s\n", name);
  exit(2);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  if (!strcmp(words[1], "reference")) return check_reference() ? 1 : 0;
  const struct precision *p = &precisions[!strcmp(words[1], "float")];
  const struct variant *chosen[8];
  int many = count - 2;
  for (int n = 0; n < many; n++) {
    chosen[n] = find(words[n + 2]);
    if (!strncmp(chosen[n]->name, "rvv", 3) && !(getauxval(AT_HWCAP) & VECTOR_BIT)) {
      fprintf(stderr, "%s needs a vector unit, and there is none\n", chosen[n]->name);
      return 2;
    }
  }
  long wrong = 0;
  fill(p);
  for (size_t at = 0; at < ENTRIES; at++) {
    refer(&entries[at]);
    for (int n = 0; n < many; n++) wrong += look_at(at, chosen[n], p);
  }
  printf("%ld wrong in %zu functions of %d variants\n", wrong, ENTRIES, many);
  return wrong ? 1 : 0;
}
