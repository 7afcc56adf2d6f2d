struct pair { long key; unsigned long value; };
static int has_vector(void) {
  struct pair p = {4, 0};
  register long a0 __asm__("a0") = (long)&p; register long a1 __asm__("a1") = 1;
  register long a2 __asm__("a2") = 0; register long a3 __asm__("a3") = 0; register long a4 __asm__("a4") = 0;
  register long a7 __asm__("a7") = 258;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
  return a0 == 0 && (p.value & 4);
}
__attribute__((noinline)) static long fast(const int *a, long n) {
  long first;
  __asm__ volatile(".option push\n.option arch, +v\nvsetvli t0, %2, e32, m1, ta, ma\nvle32.v v1, (%1)\nvmv.x.s %0, v1\n.option pop" : "=r"(first) : "r"(a), "r"(n) : "t0", "memory");
  return first;
}
static long (*chosen)(const int *, long);
__attribute__((noinline)) static long slow(const int *a, long n) { return a[0] + n; }
__attribute__((constructor)) static void choose(void) { chosen = has_vector() ? fast : slow; }
long first(const int *a, long n) { return chosen(a, n); }
