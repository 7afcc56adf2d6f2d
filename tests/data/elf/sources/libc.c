/* A stand-in for the C library of a sysroot: it only has to define names. */
void *malloc(unsigned long size) { return (void *)size; }
int abs(int number) { return number < 0 ? -number : number; }
void __cxa_finalize(void *handle) { (void)handle; }
