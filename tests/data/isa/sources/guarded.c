unsigned long getauxval(unsigned long);
static long sum_vector(const int *a, long n) {
  long first;
  __asm__ volatile(".option push\n.option arch, +v\nvsetvli t0, %2, e32, m1, ta, ma\nvle32.v v1, (%1)\nvmv.x.s %0, v1\n.option pop" : "=r"(first) : "r"(a), "r"(n) : "t0", "memory");
  return first;
}
long sum(const int *a, long n) {
  if (getauxval(16) & (1 << 21)) return sum_vector(a, n);
  return a[0];
}
