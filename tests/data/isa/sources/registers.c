long length(void) {
  long bytes;
  __asm__ volatile(".option push\n.option arch, +v\ncsrr %0, vlenb\n.option pop" : "=r"(bytes));
  return bytes;
}
