__attribute__((noinline)) long every_element(void) {
  long length;
  __asm__ volatile(".option push\n.option arch, +v\nvsetvli %0, zero, e8, m1, ta, ma\n.option pop" : "=r"(length));
  return length;
}
long sum_RVV(void) { return every_element() + 1; }
