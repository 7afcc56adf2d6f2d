/* C, threads, the newer kernel headers and the target's long double of 16 bytes. */
#include <asm/hwprobe.h>
#include <pthread.h>
#include <stdio.h>

static void *size(void *unused) {
  (void)unused;
  return (void *)sizeof(long double);
}

int main(void) {
  pthread_t thread;
  void *result = 0;
  pthread_create(&thread, 0, size, 0);
  pthread_join(thread, &result);
  printf("c %d\n", (int)(long)result);
  return 0;
}
