/* A library to be needed by others. */
#include <stdlib.h>
int inner_answer(void) { return abs(-42); }
