char *getenv(const char *);
static int answer;
__attribute__((constructor)) static void ask(void) { answer = getenv("OPENSSL_riscvcap") != 0; }
static __attribute__((noinline)) long kernel(void) {
  long length;
  __asm__ volatile(".option push\n.option arch, +v\nvsetvli %0, zero, e8, m1, ta, ma\n.option pop" : "=r"(length));
  return length;
}
long sum(const int *a, long n) { return answer ? kernel() + 1 : a[0] + n; }
