/* A Python extension module in shape only: it takes one name of Python and one of libc. */
#include <stdlib.h>
extern void *PyModule_Create2(void *definition, int version);
__attribute__((weak)) extern int optional_hook(void);
void *PyInit_demo(void) { return optional_hook ? malloc(8) : PyModule_Create2(0, 1013); }
