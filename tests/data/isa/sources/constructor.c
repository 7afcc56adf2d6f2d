__attribute__((constructor)) static void begin(void) {
  __asm__ volatile(".option push\n.option arch, +v\nvsetvli t0, zero, e8, m1, ta, ma\n.option pop" ::: "t0");
}
int plain(int a) { return a + 1; }
