unsigned long getauxval(unsigned long);
#define FIRST(result, a, n) \
  __asm__ volatile(".option push\n.option arch, +v\nvsetvli t0, %2, e32, m1, ta, ma\n" \
                   "vle32.v v1, (%1)\nvmv.x.s %0, v1\n.option pop" \
                   : "=r"(result) : "r"(a), "r"(n) : "t0", "memory")
__attribute__((noinline)) static long behind_check(const int *a, long n) {
  long first;
  FIRST(first, a, n);
  return first;
}
long checked(const int *a, long n) {
  if (getauxval(16) & (1 << 21)) return behind_check(a, n);
  return a[0];
}
long unchecked(const int *a, long n) {
  long first;
  FIRST(first, a, n);
  return first;
}
