/* What PyTorch's kernels ask of an OpenMP runtime: teams of the size that is asked for, loops that are shared out,
   sums, locks, tasks, nested regions and thread-local values that stay. */
#include <omp.h>
#include <stdio.h>

#define THREADS 3
#define LENGTH 10007

static int wrong;

static void expect(const char *what, long got, long right) {
  printf("%s: %ld\n", what, got);
  if (got == right) return;
  printf("wrong: %s is %ld and not %ld\n", what, got, right);
  wrong++;
}

static void teams(void) {
  int size = 0, seen = 0;
#pragma omp parallel num_threads(THREADS)
  {
#pragma omp single
    size = omp_get_num_threads();
#pragma omp atomic
    seen |= 1 << omp_get_thread_num();
  }
  expect("threads of a team", size, THREADS);
  expect("threads that ran", seen, (1 << THREADS) - 1);
}

static void loops(void) {
  static int visits[LENGTH];
  long sum = 0, most = 0, total = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum) reduction(max : most)
  for (long n = 0; n < LENGTH; n++) {
    visits[n]++;
    sum += n;
    if (n > most) most = n;
  }
  for (long n = 0; n < LENGTH; n++) total += visits[n] == 1;
  expect("elements visited once", total, LENGTH);
  expect("sum", sum, (long)LENGTH * (LENGTH - 1) / 2);
  expect("maximum", most, LENGTH - 1);
}

static void locks(void) {
  long critical = 0, locked = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS)
  for (int n = 0; n < 1000; n++) {
#pragma omp critical
    critical++;
    omp_set_lock(&lock);
    locked++;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
  expect("times in a critical section", critical, 1000L * THREADS);
  expect("times with a lock", locked, 1000L * THREADS);
}

static long fibonacci(int n) {
  long left, right;
  if (n < 2) return n;
#pragma omp task shared(left)
  left = fibonacci(n - 1);
#pragma omp task shared(right)
  right = fibonacci(n - 2);
#pragma omp taskwait
  return left + right;
}

static void tasks(void) {
  long result = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
  result = fibonacci(14);
  expect("tasks", result, 377);
}

static void barriers(void) {
  static int first[THREADS];
  int missed = 0;
#pragma omp parallel num_threads(THREADS)
  for (int round = 1; round <= 50; round++) {
    first[omp_get_thread_num()] = round;
#pragma omp barrier
    for (int n = 0; n < THREADS; n++) {
      if (first[n] != round) {
#pragma omp atomic
        missed++;
      }
    }
#pragma omp barrier
  }
  expect("threads behind a barrier", missed, 0);
}

static int own;
#pragma omp threadprivate(own)

static void kept(void) {
  long sum = 0;
#pragma omp parallel num_threads(THREADS)
  own = omp_get_thread_num() + 1;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
  sum += own;
  expect("values that threads kept", sum, THREADS * (THREADS + 1) / 2);
}

static void nested(void) {
  int inner = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp atomic
  inner++;
  expect("threads of nested teams", inner, 4);
}

int main(void) {
  omp_set_dynamic(0);
  omp_set_num_threads(THREADS);
  expect("threads at most", omp_get_max_threads(), THREADS);
  teams();
  loops();
  locks();
  tasks();
  barriers();
  kept();
  nested();
  puts(wrong ? "some are wrong" : "all is well");
  return wrong != 0;
}
