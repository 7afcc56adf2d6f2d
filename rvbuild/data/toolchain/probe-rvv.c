/* RVV 1.0 intrinsics: the bytes of one vector register. */
#include <riscv_vector.h>
#include <stdio.h>

int main(void) {
  printf("rvv %d\n", (int)__riscv_vsetvlmax_e8m1());
  return 0;
}
