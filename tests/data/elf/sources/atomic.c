/* What GCC 12 makes of a one-byte atomic exchange: a call to libatomic. */
extern unsigned char __atomic_exchange_1(volatile void *, unsigned char, int);
unsigned char swap(volatile void *place) { return __atomic_exchange_1(place, 1, 5); }
