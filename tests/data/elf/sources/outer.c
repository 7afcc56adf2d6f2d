/* An extension module that needs libinner.so.1. */
extern int inner_answer(void);
int PyInit_outer(void) { return inner_answer(); }
