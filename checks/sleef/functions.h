/* The functions of SLEEF that are looked at: NAME, SUFFIX, REFERENCE, bounds in units of the last place for
   double and float as its manual states them, and the arguments that it speaks of. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

/* Of one argument. */
#define ONE(F)                                     \
  F(sin, u10, sinl, 1.0, 1.0, ANY)                 \
  F(sin, u35, sinl, 3.5, 3.5, ANY)                 \
  F(cos, u10, cosl, 1.0, 1.0, ANY)                 \
  F(cos, u35, cosl, 3.5, 3.5, ANY)                 \
  F(tan, u10, tanl, 1.0, 1.0, ANY)                 \
  F(tan, u35, tanl, 3.5, 3.5, ANY)                 \
  F(sinpi, u05, sinpil, 0.506, 0.506, TURNS)       \
  F(cospi, u05, cospil, 0.506, 0.506, TURNS)       \
  F(asin, u10, asinl, 1.0, 1.0, ANY)               \
  F(asin, u35, asinl, 3.5, 3.5, ANY)               \
  F(acos, u10, acosl, 1.0, 1.0, ANY)               \
  F(acos, u35, acosl, 3.5, 3.5, ANY)               \
  F(atan, u10, atanl, 1.0, 1.0, ANY)               \
  F(atan, u35, atanl, 3.5, 3.5, ANY)               \
  F(exp, u10, expl, 1.0, 1.0, ANY)                 \
  F(exp2, u10, exp2l, 1.0, 1.0, ANY)               \
  F(exp2, u35, exp2l, 3.5, 3.5, ANY)               \
  F(exp10, u10, exp10l, 1.09, 1.09, ANY)           \
  F(exp10, u35, exp10l, 3.5, 3.5, ANY)             \
  F(expm1, u10, expm1l, 1.0, 1.0, ANY)             \
  F(log, u10, logl, 1.0, 1.0, ANY)                 \
  F(log, u35, logl, 3.5, 3.5, ANY)                 \
  F(log2, u10, log2l, 1.0, 1.0, ANY)               \
  F(log2, u35, log2l, 3.5, 3.5, ANY)               \
  F(log10, u10, log10l, 1.0, 1.0, ANY)             \
  F(log1p, u10, log1pl, 1.0, 1.0, ANY)             \
  F(cbrt, u10, cbrtl, 1.0, 1.0, ANY)               \
  F(cbrt, u35, cbrtl, 3.5, 3.5, ANY)               \
  F(sqrt, u05, sqrtl, 0.5001, 0.5001, ANY)         \
  F(sqrt, u35, sqrtl, 3.5, 3.5, ANY)               \
  F(sqrt, , sqrtl, 0.5, 0.5, ANY)                  \
  F(sinh, u10, sinhl, 1.0, 1.0, HYPERBOLIC)        \
  F(sinh, u35, sinhl, 3.5, 3.5, HYPERBOLIC)        \
  F(cosh, u10, coshl, 1.0, 1.0, HYPERBOLIC)        \
  F(cosh, u35, coshl, 3.5, 3.5, HYPERBOLIC)        \
  F(tanh, u10, tanhl, 1.0, 1.0001, ANY)            \
  F(tanh, u35, tanhl, 3.5, 3.5, ANY)               \
  F(asinh, u10, asinhl, 1.0, 1.001, SQUARES)       \
  F(acosh, u10, acoshl, 1.0, 1.001, SQUARES)       \
  F(atanh, u10, atanhl, 1.0001, 1.0001, ANY)       \
  F(erf, u10, erfl, 1.0, 1.0, ANY)                 \
  F(erfc, u15, erfcl, 1.5, 1.5, TAIL)              \
  F(tgamma, u10, tgammal, 1.0, 1.0, VANISHING)     \
  F(lgamma, u10, lgammal, 1.0, 1.0, FACTORIAL)     \
  F(trunc, , truncl, 0.0, 0.0, ANY)                \
  F(floor, , floorl, 0.0, 0.0, ANY)                \
  F(ceil, , ceill, 0.0, 0.0, ANY)                  \
  F(round, , roundl, 0.0, 0.0, ANY)                \
  F(rint, , rintl, 0.0, 0.0, ANY)                  \
  F(fabs, , fabsl, 0.0, 0.0, ANY)

/* Of two arguments. */
#define TWO(F)                                     \
  F(pow, u10, powl, 1.0, 1.0, ANY)                 \
  F(atan2, u10, atan2l, 1.0, 1.0, TINY)            \
  F(atan2, u35, atan2l, 3.5, 3.5, TINY)            \
  F(hypot, u05, hypotl, 0.5001, 0.5001, ANY)       \
  F(hypot, u35, hypotl, 3.5, 3.5, ANY)             \
  F(fmod, , fmodl, 0.0, 0.0, RATIO)                \
  F(remainder, , remainderl, 0.0, 0.0, RATIO)      \
  F(fmax, , fmaxl, 0.0, 0.0, ANY)                  \
  F(fmin, , fminl, 0.0, 0.0, ANY)                  \
  F(fdim, , fdiml, 0.5, 0.5, ANY)                  \
  F(copysign, , copysignl, 0.0, 0.0, ANY)

/* Of one argument, with two results; both are looked at. */
#define PAIR(F)                                    \
  F(sincos, u10, sinl, cosl, 1.0, 1.0, ANY)        \
  F(sincos, u35, sinl, cosl, 3.5, 3.5, ANY)        \
  F(sincospi, u05, sinpil, cospil, 0.506, 0.506, TURNS) \
  F(sincospi, u35, sinpil, cospil, 3.5, 3.5, TURNS)

/* What a function of a variant does to arrays; those of one argument ignore `y`. */
typedef void double_act(const double *x, const double *y, double *first, double *second, long count);
typedef void float_act(const float *x, const float *y, float *first, float *second, long count);

struct variant {
  const char *name;
  double_act *const *doubles; /* in the order of ONE, TWO and PAIR */
  float_act *const *floats;
};

extern const struct variant purec, purecfma, rvvm1, rvvm2;

#endif
