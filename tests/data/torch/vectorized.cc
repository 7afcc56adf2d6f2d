// Holds what at::vec computes against plain C++, lane by lane: special numbers, tails, arrays of every small
// size, and the accuracy of functions in units in the last place. The number of random samples is an
// argument.
#include <ATen/cpu/vec/functional.h>
#include <ATen/cpu/vec/vec.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>
using namespace at::vec;
static int samples_each = 40000;
static int checks = 0, failures = 0;
static std::mt19937_64 random_bits(7);
template <typename T> static void fail(const char *what, int lane, T a, T b, T got, T want) {
  if (++failures <= 60)
    std::printf("%s lane %d: (%.9g, %.9g) gives %.9g, not %.9g\n", what, lane, (double)a, (double)b,
                (double)got, (double)want);
}
template <typename T> static bool same(T a, T b) {
  if constexpr (is_floating_point_v<T>) {
    if (a != a && b != b)
      return true;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <typename T> static std::vector<T> samples() {
  std::vector<T> v;
  if constexpr (is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    for (double d : {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -7.25, 1e-3, 100.0, -88.7, 88.8,
                     127.5, 255.5, 1e4})
      v.push_back(static_cast<T>(d));
    for (T t : {L::infinity(), static_cast<T>(-L::infinity()), L::quiet_NaN(), L::max(), L::lowest(),
                L::min(), L::denorm_min()})
      v.push_back(t);
    for (int i = 0; i < 400; i++)
      v.push_back(static_cast<T>(
          std::ldexp((double)(int64_t)random_bits() / 9.3e18, (int)(random_bits() % 24) - 12)));
    for (int i = 0; i < 200; i++) {
      uint64_t bits = random_bits();
      T t;
      std::memcpy(&t, &bits, sizeof t);
      v.push_back(t);
    }
  } else {
    using L = std::numeric_limits<T>;
    for (T t :
         {L::min(), L::max(), (T)0, (T)1, (T)-1, (T)2, (T)7, (T)8, (T)15, (T)16, (T)31, (T)32, (T)63, (T)64})
      v.push_back(t);
    for (int i = 0; i < 300; i++)
      v.push_back((T)random_bits());
  }
  while (v.size() % Vectorized<T>::size())
    v.push_back(static_cast<T>(1));
  return v;
}
template <typename T>
static void unary(const char *name, std::function<Vectorized<T>(Vectorized<T>)> op,
                  std::function<T(T)> want) {
  constexpr int n = Vectorized<T>::size();
  auto a = samples<T>();
  for (size_t i = 0; i < a.size(); i += n) {
    T out[n];
    op(Vectorized<T>::loadu(&a[i])).store(out);
    for (int k = 0; k < n; k++) {
      checks++;
      T w = want(a[i + k]);
      if (!same(out[k], w))
        fail<T>(name, k, a[i + k], T(0), out[k], w);
    }
  }
}
template <typename T>
static void binary(
    const char *name, std::function<Vectorized<T>(Vectorized<T>, Vectorized<T>)> op,
    std::function<T(T, T)> want, std::function<bool(T, T)> ok = [](T, T) { return true; }) {
  constexpr int n = Vectorized<T>::size();
  auto a = samples<T>();
  for (size_t shift = 0; shift < 40; shift += 3)
    for (size_t i = 0; i < a.size(); i += n) {
      T b[n], out[n];
      for (int k = 0; k < n; k++) {
        b[k] = a[(i + k * 5 + shift) % a.size()];
        if (!ok(a[i + k], b[k]))
          b[k] = T(1);
      }
      op(Vectorized<T>::loadu(&a[i]), Vectorized<T>::loadu(b)).store(out);
      for (int k = 0; k < n; k++) {
        checks++;
        T w = want(a[i + k], b[k]);
        if (!same(out[k], w))
          fail<T>(name, k, a[i + k], b[k], out[k], w);
      }
    }
}
template <typename T> static T all_ones(bool on) {
  T t;
  std::memset((void *)&t, on ? 0xff : 0, sizeof t);
  return t;
}
template <typename T> using opmath = std::conditional_t<is_reduced_floating_point_v<T>, float, T>;
template <typename T> static void numbers(const char *type) {
  using V = Vectorized<T>;
  using O = opmath<T>;
  constexpr int n = V::size();
  auto name = [&](const char *s) {
    static std::string t;
    t = std::string(type) + " " + s;
    return t.c_str();
  };
  auto wrap = [](auto x) { return static_cast<T>(x); };
  constexpr bool integer = !is_floating_point_v<T>;
  auto u = [](T x) {
    if constexpr (!is_floating_point_v<T>)
      return (std::make_unsigned_t<T>)x;
    else
      return (O)x;
  };
  binary<T>(name("+"), [](V a, V b) { return a + b; }, [&](T a, T b) { return wrap(u(a) + u(b)); });
  binary<T>(name("-"), [](V a, V b) { return a - b; }, [&](T a, T b) { return wrap(u(a) - u(b)); });
  binary<T>(
      name("*"), [](V a, V b) { return a * b; },
      [&](T a, T b) {
        if constexpr (integer)
          return (T)((uint64_t)a * (uint64_t)b);
        else
          return wrap(u(a) * u(b));
      });
  binary<T>(
      name("/"), [](V a, V b) { return a / b; }, [&](T a, T b) { return wrap((O)a / (O)b); },
      [](T a, T b) {
        if constexpr (integer)
          return b != 0 && !(b == (T)-1 && a == std::numeric_limits<T>::min());
        else
          return true;
      });
  binary<T>(name("=="), [](V a, V b) { return a == b; }, [](T a, T b) { return all_ones<T>(a == b); });
  binary<T>(name("!="), [](V a, V b) { return a != b; }, [](T a, T b) { return all_ones<T>(a != b); });
  binary<T>(name("<"), [](V a, V b) { return a < b; }, [](T a, T b) { return all_ones<T>(a < b); });
  binary<T>(name("<="), [](V a, V b) { return a <= b; }, [](T a, T b) { return all_ones<T>(a <= b); });
  binary<T>(name(">"), [](V a, V b) { return a > b; }, [](T a, T b) { return all_ones<T>(a > b); });
  binary<T>(name(">="), [](V a, V b) { return a >= b; }, [](T a, T b) { return all_ones<T>(a >= b); });
  binary<T>(name("eq"), [](V a, V b) { return a.eq(b); }, [](T a, T b) { return static_cast<T>(a == b); });
  binary<T>(name("ne"), [](V a, V b) { return a.ne(b); }, [](T a, T b) { return static_cast<T>(a != b); });
  binary<T>(name("lt"), [](V a, V b) { return a.lt(b); }, [](T a, T b) { return static_cast<T>(a < b); });
  binary<T>(name("ge"), [](V a, V b) { return a.ge(b); }, [](T a, T b) { return static_cast<T>(a >= b); });
  binary<T>(
      name("maximum"), [](V a, V b) { return maximum(a, b); },
      [](T a, T b) {
        if constexpr (is_floating_point_v<T>) {
          if (a != a)
            return a;
          if (b != b)
            return b;
        }
        return a > b ? a : b;
      });
  binary<T>(
      name("minimum"), [](V a, V b) { return minimum(a, b); },
      [](T a, T b) {
        if constexpr (is_floating_point_v<T>) {
          if (a != a)
            return a;
          if (b != b)
            return b;
        }
        return a < b ? a : b;
      });
  binary<T>(
      name("clamp_min"), [](V a, V b) { return clamp_min(a, b); }, [](T a, T b) { return a < b ? b : a; });
  binary<T>(
      name("clamp_max"), [](V a, V b) { return clamp_max(a, b); }, [](T a, T b) { return a > b ? b : a; });
  binary<T>(
      name("clamp"), [](V a, V b) { return clamp(a, b, V(T(3))); },
      [](T a, T b) {
        T x = a < b ? b : a;
        return x > T(3) ? T(3) : x;
      });
  auto bits = [](T a, T b, auto op) {
    T r;
    unsigned char x[sizeof(T)], y[sizeof(T)];
    std::memcpy(x, &a, sizeof a);
    std::memcpy(y, &b, sizeof b);
    for (size_t i = 0; i < sizeof(T); i++)
      x[i] = op(x[i], y[i]);
    std::memcpy((void *)&r, x, sizeof r);
    return r;
  };
  binary<T>(
      name("&"), [](V a, V b) { return a & b; },
      [&](T a, T b) { return bits(a, b, std::bit_and<unsigned char>()); });
  binary<T>(
      name("|"), [](V a, V b) { return a | b; },
      [&](T a, T b) { return bits(a, b, std::bit_or<unsigned char>()); });
  binary<T>(
      name("^"), [](V a, V b) { return a ^ b; },
      [&](T a, T b) { return bits(a, b, std::bit_xor<unsigned char>()); });
  binary<T>(
      name("blendv"), [](V a, V b) { return V::blendv(a, b, a < b); },
      [](T a, T b) { return a < b ? b : a; });
  unary<T>(
      name("neg"), [](V a) { return a.neg(); },
      [&](T a) {
        if constexpr (integer)
          return (T)(0 - u(a));
        else
          return wrap(-(O)a);
      });
  unary<T>(
      name("abs"), [](V a) { return a.abs(); },
      [&](T a) {
        if constexpr (integer)
          return a < 0 ? (T)(0 - u(a)) : a;
        else
          return wrap(std::abs((O)a));
      });
  unary<T>(
      name("splat"),
      [](V a) {
        T t[n];
        a.store(t);
        V r = a;
        for (int i = 0; i < n; i++)
          r = V::set(V(t[i]), r, 0), r = V::loadu(t);
        return r;
      },
      [](T a) { return a; });
  for (T t : samples<T>()) {
    T out[n];
    V(t).store(out);
    for (T o : out) {
      checks++;
      if (!same(o, t))
        fail<T>(name("V(t)"), 0, t, t, o, t);
    }
  }
  if constexpr (is_floating_point_v<T>) {
    unary<T>(name("isnan"), [](V a) { return a.isnan(); }, [](T a) { return all_ones<T>(a != a); });
    unary<T>(name("ceil"), [](V a) { return a.ceil(); }, [&](T a) { return wrap(std::ceil((O)a)); });
    unary<T>(name("floor"), [](V a) { return a.floor(); }, [&](T a) { return wrap(std::floor((O)a)); });
    unary<T>(name("round"), [](V a) { return a.round(); }, [&](T a) { return wrap(std::nearbyint((O)a)); });
    unary<T>(name("trunc"), [](V a) { return a.trunc(); }, [&](T a) { return wrap(std::trunc((O)a)); });
    unary<T>(name("frac"), [](V a) { return a.frac(); }, [&](T a) { return wrap((O)a - std::trunc((O)a)); });
    unary<T>(name("sqrt"), [](V a) { return a.sqrt(); }, [&](T a) { return wrap(std::sqrt((O)a)); });
    unary<T>(name("reciprocal"), [](V a) { return a.reciprocal(); }, [&](T a) { return wrap(1 / (O)a); });
    unary<T>(name("rsqrt"), [](V a) { return a.rsqrt(); }, [&](T a) { return wrap(1 / std::sqrt((O)a)); });
    unary<T>(
        name("angle"), [](V a) { return a.angle(); },
        [&](T a) { return a != a ? a : wrap(a < T(0) ? c10::pi<O> : (O)0); });
    binary<T>(
        name("copysign"), [](V a, V b) { return a.copysign(b); },
        [&](T a, T b) { return c10::copysign(a, b); });
    auto all = samples<T>();
    for (T t : all)
      for (int i = 0; i < n; i++) {
        T in[n];
        for (T &x : in)
          x = T(1);
        in[i] = t;
        checks++;
        float f = (float)t;
        if (V::loadu(in).has_inf_nan() != !std::isfinite(sizeof(T) == 8 ? (double)t : f))
          fail<T>(name("has_inf_nan"), i, t, t, T(0), T(1));
      }
  } else {
    binary<T>(
        name("<<"), [](V a, V b) { return a << b; },
        [](T a, T b) {
          constexpr int w = sizeof(T) * 8;
          return (std::is_signed_v<T> && b < 0) || (uint64_t)b >= w ? (T)0
                                                                    : (T)((std::make_unsigned_t<T>)a << b);
        });
    binary<T>(
        name(">>"), [](V a, V b) { return a >> b; },
        [](T a, T b) {
          constexpr int w = sizeof(T) * 8;
          return (std::is_signed_v<T> && b < 0) || (uint64_t)b >= w ? (T)(a < 0 ? -1 : 0) : (T)(a >> b);
        });
  }
  // partial loads and stores
  for (int count = 0; count <= n; count++) {
    T in[n + 1], out[n + 1], back[n];
    for (int i = 0; i <= n; i++) {
      in[i] = T(i + 1);
      out[i] = T(77);
    }
    V::loadu(in, count).store(back);
    V::loadu(in).store(out, count);
    for (int i = 0; i <= n; i++) {
      checks += 2;
      if (i < n && !same(back[i], i < count ? in[i] : T(0)))
        fail<T>(name("loadu(count)"), i, T(count), in[i], back[i], in[i]);
      if (!same(out[i], i < count ? in[i] : T(77)))
        fail<T>(name("store(count)"), i, T(count), in[i], out[i], in[i]);
    }
    V::set(V(T(9)), V::loadu(in), count).store(back);
    for (int i = 0; i < n; i++) {
      checks++;
      if (!same(back[i], i < count ? in[i] : T(9)))
        fail<T>(name("set"), i, T(count), in[i], back[i], in[i]);
    }
  }
  {
    T in[n], out[n];
    for (int i = 0; i < n; i++)
      in[i] = T(i + 1);
    V::template blend<0x5a>(V(T(0)), V::loadu(in)).store(out);
    for (int i = 0; i < n; i++) {
      checks++;
      T w = i < 8 && (0x5a >> i & 1) ? in[i] : T(0);
      if (!same(out[i], w))
        fail<T>(name("blend"), i, in[i], in[i], out[i], w);
    }
    flip(V::loadu(in)).store(out);
    for (int i = 0; i < n; i++) {
      checks++;
      if (!same(out[i], in[n - 1 - i]))
        fail<T>(name("flip"), i, in[i], in[i], out[i], in[n - 1 - i]);
    }
    V::arange(T(1), 2).store(out);
    for (int i = 0; i < n; i++) {
      checks++;
      if (!same(out[i], T(1 + 2 * i)))
        fail<T>(name("arange"), i, in[i], in[i], out[i], T(1 + 2 * i));
    }
    auto p = interleave2(V::loadu(in), V(T(50)));
    T a[n], b[n];
    p.first.store(a);
    p.second.store(b);
    for (int i = 0; i < n; i++) {
      checks += 2;
      T w = i % 2 ? T(50) : in[i / 2];
      if (!same(a[i], w))
        fail<T>(name("interleave2"), i, w, w, a[i], w);
      w = i % 2 ? T(50) : in[n / 2 + i / 2];
      if (!same(b[i], w))
        fail<T>(name("interleave2 second"), i, w, w, b[i], w);
    }
    auto q = deinterleave2(p.first, p.second);
    q.first.store(a);
    q.second.store(b);
    for (int i = 0; i < n; i++) {
      checks += 2;
      if (!same(a[i], in[i]))
        fail<T>(name("deinterleave2"), i, in[i], in[i], a[i], in[i]);
      if (!same(b[i], T(50)))
        fail<T>(name("deinterleave2 second"), i, in[i], in[i], b[i], T(50));
    }
    for (int i = 0; i < n; i++) {
      T z[n];
      for (T &x : z)
        x = T(3);
      z[i] = T(0);
      checks++;
      if (n <= 31 && V::loadu(z).zero_mask() != (1 << i))
        fail<T>(name("zero_mask"), i, T(0), T(0), T(V::loadu(z).zero_mask()), T(1));
    }
  }
  // whole arrays of every small size
  for (int size = 1; size <= 67; size++) {
    std::vector<T> in(size), out(size + 1, T(77));
    for (int i = 0; i < size; i++)
      in[i] = T((i * 7) % 23 - (integer ? 0 : 11));
    T sum = at::vec::reduce_all<T>([](auto a, auto b) { return maximum(a, b); }, in.data(), size),
      want = in[0];
    for (T t : in)
      want = t > want ? t : want;
    checks++;
    if (!same(sum, want))
      fail<T>(name("reduce_all"), size, T(0), T(0), sum, want);
    at::vec::map<T>([](auto a) { return a + a; }, out.data(), in.data(), size);
    for (int i = 0; i < size; i++) {
      checks++;
      T w = wrap((O)in[i] + (O)in[i]);
      if (!same(out[i], w))
        fail<T>(name("map"), i, in[i], in[i], out[i], w);
    }
    checks++;
    if (!same(out[size], T(77)))
      fail<T>(name("map past the end"), size, T(0), T(0), out[size], T(77));
  }
}
// largest error in units in the last place of the float result
template <typename T>
static void accurate(const char *name, std::function<Vectorized<T>(Vectorized<T>)> op,
                     std::function<double(double)> want, double lo, double hi, double bound,
                     bool all_bits = false) {
  constexpr int n = Vectorized<T>::size();
  double worst = 0, at = 0;
  T got = 0;
  long bad = 0;
  for (int i = 0; i < samples_each; i++) {
    T in[n], out[n];
    for (T &x : in) {
      if (all_bits && i % 2) {
        uint64_t b = random_bits();
        std::memcpy(&x, &b, sizeof x);
      } else
        x = (T)(lo + (hi - lo) * (random_bits() >> 11) * 0x1p-53);
    }
    op(Vectorized<T>::loadu(in)).store(out);
    for (int k = 0; k < n; k++) {
      checks++;
      double w = want((double)in[k]);
      T wt = (T)w;
      if (std::isnan(w) || std::isinf(wt)) {
        if (!(std::isnan(w) ? std::isnan(out[k])
                            : (out[k] == wt || std::abs(out[k]) > std::numeric_limits<T>::max() * 0.9999))) {
          bad++;
          at = in[k];
          got = out[k];
        }
        continue;
      }
      if (!std::isfinite(out[k])) {
        if (std::abs(w) < std::numeric_limits<T>::max() * 0.99999) {
          bad++;
          at = in[k];
          got = out[k];
        }
        continue;
      }
      T a = std::abs(wt);
      double ulp = std::nextafter(a, std::numeric_limits<T>::infinity()) - a;
      double e = std::abs((double)out[k] - w) / ulp;
      if (e > worst) {
        worst = e;
        at = in[k];
        got = out[k];
      }
    }
  }
  std::printf("%-10s %.3f ulp at %.9g%s\n", name, worst, at, bad ? "  WRONG SPECIAL" : "");
  if (worst > bound || bad) {
    failures++;
    std::printf("%s: worst %.3f (%ld bad) at %.9g gives %.9g, not %.9g\n", name, worst, bad, at, (double)got,
                want(at));
  }
}
int main(int argc, char **argv) {
  if (argc > 1)
    samples_each = std::atoi(argv[1]);
  numbers<float>("float");
  numbers<double>("double");
  numbers<int64_t>("int64");
  numbers<int32_t>("int32");
  numbers<int16_t>("int16");
  numbers<int8_t>("int8");
  numbers<uint8_t>("uint8");
  numbers<c10::BFloat16>("bfloat16");
  numbers<c10::Half>("half");
  using V = Vectorized<float>;
  using D = Vectorized<double>;
  accurate<float>(
      "exp", [](V x) { return x.exp(); }, [](double x) { return std::exp(x); }, -110, 95, 1.1, true);
  accurate<float>("exp", [](V x) { return x.exp(); }, [](double x) { return std::exp(x); }, -2, 2, 1.1);
  accurate<float>(
      "exp_u20", [](V x) { return x.exp_u20(); },
      [](double x) {
        double y = std::exp(x);
        return x < -87.33654 ? 0.0 : y;
      },
      -100, 95, 20, true);
  accurate<float>(
      "log", [](V x) { return x.log(); }, [](double x) { return std::log(x); }, 0.3, 3, 1.1, true);
  accurate<float>(
      "tanh", [](V x) { return x.tanh(); }, [](double x) { return std::tanh(x); }, -3, 3, 2, true);
  accurate<float>(
      "erf", [](V x) { return x.erf(); }, [](double x) { return std::erf(x); }, -4.5, 4.5, 2, true);
  accurate<float>("sin", [](V x) { return x.sin(); }, [](double x) { return std::sin(x); }, -100, 100, 3.6);
  accurate<float>("cos", [](V x) { return x.cos(); }, [](double x) { return std::cos(x); }, -100, 100, 3.6);
  accurate<float>(
      "log1p", [](V x) { return x.log1p(); }, [](double x) { return std::log1p(x); }, -0.99, 10, 1.1);
  accurate<float>(
      "pow", [](V x) { return x.pow(V(1.7f)); }, [](double x) { return std::pow(x, (double)1.7f); }, 0, 100,
      1.1);
  accurate<float>(
      "lgamma", [](V x) { return x.lgamma(); }, [](double x) { return std::lgamma(x); }, 3, 30, 1.1);
  accurate<double>(
      "exp d", [](D x) { return x.exp(); }, [](double x) { return std::exp(x); }, -700, 700, 1.6);
  accurate<double>("tanh d", [](D x) { return x.tanh(); }, [](double x) { return std::tanh(x); }, -5, 5, 2.1);
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
