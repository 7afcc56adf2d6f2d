static __attribute__((noinline)) long begin(void) {
  long length;
  __asm__ volatile(".option push\n.option arch, +v\nvsetvli %0, zero, e8, m1, ta, ma\n.option pop" : "=r"(length));
  return length;
}
void *PyInit_module(void) { return (void *)begin(); }
