/* Lazy arrays: a shared subexpression is computed once, and an interrupted in-place update never leaves a thread
 * waiting. */
#include "check.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { ROWS = 1024, COLUMNS = 256, SIZE = ROWS * COLUMNS * 4 };

static fe_device *device;
static float ones[ROWS * COLUMNS], out[ROWS * COLUMNS];

static fe_array *sum(fe_array *a, fe_array *b) {
  fe_array *operands[2], *result = NULL;
  operands[0] = a;
  operands[1] = b;
  MUST(fe_array_apply("add", operands, NULL, 2, NULL, 0, &result, 1));
  return result;
}

static void expect_all(fe_array *x, float value) {
  MUST(fe_array_read(x, out, SIZE));
  for (int i = 0; i < ROWS * COLUMNS; ++i) EXPECT(out[i] == value);
}

/* Computes x + x + x. `is_shared`: another array also reads x + x and is computed later. */
static void compute_sum_of_sums(fe_array *x, int is_shared) {
  const uint64_t before = in_use(device);
  fe_array *two = sum(x, x), *three = sum(two, x), *four = is_shared ? sum(two, two) : NULL;
  fe_array_release(two);
  MUST(fe_eval(&three, 1, NULL, NULL));
  EXPECT(in_use(device) == before + (is_shared ? 2 : 1) * SIZE);
  expect_all(three, 3);
  if (is_shared) {
    MUST(fe_eval(&four, 1, NULL, NULL));
    EXPECT(in_use(device) == before + 2 * SIZE);
    expect_all(four, 4);
  }
  fe_array_release(three);
  fe_array_release(four);
  EXPECT(in_use(device) == before);
}

struct update {
  fe_array *result, *reads_result;
  int polls;
};

#if !defined(_WIN32)
static void *read_in_child(void *argument) {
  struct update *update = argument;
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    fe_error *error = fe_eval(&update->reads_result, 1, NULL, NULL);
    _exit(fe_error_code(error) == FE_UNSUPPORTED ? 0 : 1);
  }
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return NULL;
}
#endif

/* Acts like a signal handler that needs the array being computed. */
static int read_meanwhile(void *argument) {
  struct update *update = argument;
  if (update->polls++ > 0) return 0;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_eval(&update->reads_result, 1, NULL, NULL));
#if !defined(_WIN32)
  {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, read_in_child, update) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
  }
#endif
  return 0;
}

static void interrupt_update(fe_array *x) {
  const uint64_t before = in_use(device);
  const fe_scalar zero = {{0}};
  fe_array *operands[4], *start = NULL;
  struct update update = {0};
  MUST(fe_array_scalar(device, fe_dtype_by_name("int64"), zero, &start));
  operands[0] = sum(x, x);
  operands[1] = x;
  operands[2] = operands[3] = start;
  MUST(fe_eval(operands, 1, NULL, NULL));
  MUST(fe_array_apply("update_slice", operands, NULL, 4, NULL, 0, &update.result, 1));
  fe_array_release(operands[0]);
  fe_array_release(start);
  update.reads_result = sum(update.result, x);
  MUST(fe_eval(&update.result, 1, read_meanwhile, &update));
  EXPECT(update.polls > 0);
  EXPECT(in_use(device) == before + SIZE);
  expect_all(update.result, 1);
  MUST(fe_eval(&update.reads_result, 1, NULL, NULL));
  expect_all(update.reads_result, 2);
  fe_array_release(update.result);
  fe_array_release(update.reads_result);
  EXPECT(in_use(device) == before);
}

int main(void) {
  static const int64_t shape[] = {ROWS, COLUMNS};
  fe_array *x;
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_device_best(&device));
  for (int i = 0; i < ROWS * COLUMNS; ++i) ones[i] = 1;
  x = borrowed(device, ones, 2, shape);
  compute_sum_of_sums(x, 0);
  compute_sum_of_sums(x, 1);
  interrupt_update(x);
  fe_array_release(x);
  fe_device_release(device);
  return 0;
}
