/* Matrix products against a plain loop, in sizes that leave edges in every blocking.
 *
 *   clang --target=riscv64-linux-gnu ... reproducer.c -lopenblas -o reproducer
 *   for vlen in 128 256 512 1024; do
 *     qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0,vlen=$vlen ./reproducer
 *   done
 *
 * All inputs are small whole numbers, so every product and sum is exact and any difference is a fault.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

extern char *openblas_get_corename(void);

static unsigned state = 1;

static int small(void) {
  state = state * 1103515245u + 12345u;
  return (int)((state >> 16) % 7) - 3;
}

#define PRODUCT(name, type, gemm)                                                                        \
  static int name(int n) {                                                                               \
    type *a = malloc(sizeof(type) * n * n), *b = malloc(sizeof(type) * n * n);                           \
    type *c = malloc(sizeof(type) * n * n);                                                              \
    int wrong = 0;                                                                                       \
    for (int i = 0; i < n * n; i++) {                                                                    \
      a[i] = small();                                                                                    \
      b[i] = small();                                                                                    \
      c[i] = 0;                                                                                          \
    }                                                                                                    \
    gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);                    \
    for (int i = 0; i < n; i++)                                                                          \
      for (int j = 0; j < n; j++) {                                                                      \
        type sum = 0;                                                                                    \
        for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];                                  \
        wrong += sum != c[i * n + j];                                                                    \
      }                                                                                                  \
    free(a);                                                                                             \
    free(b);                                                                                             \
    free(c);                                                                                             \
    return wrong;                                                                                        \
  }

PRODUCT(single_product, float, cblas_sgemm)
PRODUCT(double_product, double, cblas_dgemm)

int main(void) {
  int sizes[] = {1, 8, 16, 17, 33, 67, 100}, bad = 0;
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    int s = single_product(sizes[i]), d = double_product(sizes[i]);
    printf("%s n=%d: sgemm %d, dgemm %d of %d wrong\n", openblas_get_corename(), sizes[i], s, d,
           sizes[i] * sizes[i]);
    bad |= s | d;
  }
  return bad != 0;
}
