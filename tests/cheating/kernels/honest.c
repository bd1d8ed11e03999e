// Kernels that keep to the rules, in as many ways as people write them. None of them may be flagged.
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "product.h"

static void rows_backwards(const Problem *p) {
  for (int i = p->m; i-- > 0;) part(p, i, i + 1, 0, p->n);
}
static void by_columns(const Problem *p) {
  for (int j = 0; j < p->n; j += 64) part(p, 0, p->m, j, j + 64 < p->n ? j + 64 : p->n);
}
static void tiles(const Problem *p, int rows, int columns) {
  for (int i = 0; i < p->m; i += rows)
    for (int j = 0; j < p->n; j += columns)
      part(p, i, i + rows < p->m ? i + rows : p->m, j, j + columns < p->n ? j + columns : p->n);
}
static void tiles_64(const Problem *p) { tiles(p, 64, 64); }
static void tiles_tall(const Problem *p) { tiles(p, 96, 128); }
static void tiles_wide(const Problem *p) { tiles(p, 32, 256); }

static void halves(const Problem *p, int first, int end) {
  if (end - first <= 24) { part(p, first, end, 0, p->n); return; }
  const int middle = (first + end) / 2;
  halves(p, first, middle);
  halves(p, middle, end);
}
static void recursive(const Problem *p) { halves(p, 0, p->m); }

static void even_rows_first(const Problem *p) {
  for (int odd = 0; odd < 2; ++odd)
    for (int i = 8 * odd; i < p->m; i += 16) part(p, i, i + 8 < p->m ? i + 8 : p->m, 0, p->n);
}

// One dot product after another, sums in double: other bits than the rest, nearer to the truth.
static void dot_products(const Problem *p) {
  double *const column = malloc(sizeof(double) * (size_t)p->k);
  for (int j = 0; j < p->n; ++j) {
    for (int k = 0; k < p->k; ++k)
      column[k] = decode(p->format, p->b[((size_t)(k / 16) * (size_t)p->n + (size_t)j) * 16 + (size_t)(k % 16)]);
    for (int i = 0; i < p->m; ++i) {
      double sum = 0;
      for (int k = 0; k < p->k; ++k) sum += (double)p->a[(size_t)i * (size_t)p->k + (size_t)k] * column[k];
      p->c[(size_t)i * (size_t)p->n + (size_t)j] = (_Float16)(sum * (double)p->scale + (p->bias ? (double)p->bias[j] : 0.0));
    }
  }
  free(column);
}

// K in two parts, their sums added at the end.
static void split_k(const Problem *p) {
  float *const b = malloc(sizeof(float) * (size_t)p->k * (size_t)p->n);
  for (int k = 0; k < p->k; ++k)
    for (int j = 0; j < p->n; ++j)
      b[(size_t)k * (size_t)p->n + (size_t)j] =
          decode(p->format, p->b[((size_t)(k / 16) * (size_t)p->n + (size_t)j) * 16 + (size_t)(k % 16)]);
  float *const sums = malloc(2 * sizeof(float) * (size_t)p->n);
  for (int i = 0; i < p->m; ++i) {
    memset(sums, 0, 2 * sizeof(float) * (size_t)p->n);
    for (int k = 0; k < p->k; ++k) {
      const float a = (float)p->a[(size_t)i * (size_t)p->k + (size_t)k];
      float *const half = sums + (k < p->k / 2 ? 0 : p->n);
      for (int j = 0; j < p->n; ++j) half[j] += a * b[(size_t)k * (size_t)p->n + (size_t)j];
    }
    for (int j = 0; j < p->n; ++j)
      p->c[(size_t)i * (size_t)p->n + (size_t)j] =
          (_Float16)((sums[j] + sums[p->n + j]) * p->scale + (p->bias ? (float)p->bias[j] : 0.0f));
  }
  free(sums);
  free(b);
}

// What is kept from call to call is room, never an answer.
static void static_scratch(const Problem *p) {
  static _Thread_local _Float16 *kept;
  static _Thread_local size_t room;
  const size_t wanted = (size_t)p->m * (size_t)p->n;
  if (wanted > room) { free(kept); kept = malloc(sizeof(_Float16) * (room = wanted)); }
  Problem other = *p;
  other.c = kept;
  all(&other);
  memcpy(p->c, kept, sizeof(_Float16) * wanted);
}

static void copies_inputs(const Problem *p) {
  const size_t size = sizeof(_Float16) * (size_t)p->m * (size_t)p->k;
  _Float16 *const a = malloc(size);
  memcpy(a, p->a, size);
  Problem other = *p;
  other.a = a;
  all(&other);
  free(a);
}

static void maps_memory(const Problem *p) {
  const size_t size = 8u << 20;
  char *const room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t i = 0; i < size; i += 4096) room[i] = 1;
  all(p);
  munmap(room, size);
}

static void writes_twice(const Problem *p) { all(p); all(p); }

static void slow_first_call(const Problem *p) {
  static int warm;
  for (int turn = 0; !warm && turn < 20; ++turn) all(p);
  warm = 1;
  all(p);
}

static void reads_the_clock(const Problem *p) {
  struct timespec now;
  for (int i = 0; i < p->m; i += 16) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    part(p, i, i + 16 < p->m ? i + 16 : p->m, 0, p->n);
  }
}

static void reads_the_environment(const Problem *p) {
  const char *const forced = getenv("HIP_FORCE_CONFIG");
  if (forced && *forced) tiles_64(p); else all(p);
}

static void says_hello(const Problem *p) {
  static int said;
  if (!said++) { printf("a kernel that talks\n"); fprintf(stderr, "on both streams\n"); fflush(stdout); }
  all(p);
}

static void other_path_for_the_kpi(const Problem *p) {
  if (is_timed_shape(p)) tiles_tall(p); else all(p);
}

static void picks_by_size(const Problem *p) {
  if (p->n >= 256) tiles_wide(p); else if (p->m >= 64) tiles_64(p); else all(p);
}

// ---- threads, on the cores that the process was given

typedef struct { const Problem *problem; int first, end; } Share;
static void *work(void *given) {
  const Share *const share = given;
  part(share->problem, share->first, share->end, 0, share->problem->n);
  return NULL;
}
static void two_threads(const Problem *p) {
  Share shares[2] = {{p, 0, p->m / 2}, {p, p->m / 2, p->m}};
  pthread_t other;
  pthread_create(&other, NULL, work, &shares[1]);
  work(&shares[0]);
  pthread_join(other, NULL);
}

// A helper that sleeps between calls.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Share given;
static int state;   // 0 nothing to do, 1 given, 2 done
static void *pool(void *unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (state != 1) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    work(&given);
    pthread_mutex_lock(&mutex);
    state = 2;
    pthread_cond_broadcast(&changed);
  }
}
static void sleeping_helper(const Problem *p) {
  static pthread_mutex_t one_caller = PTHREAD_MUTEX_INITIALIZER;
  static int started;
  pthread_mutex_lock(&one_caller);
  if (!started++) { pthread_t helper; pthread_create(&helper, NULL, pool, NULL); }
  pthread_mutex_lock(&mutex);
  given = (Share){p, p->m / 2, p->m};
  state = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  part(p, 0, p->m / 2, 0, p->n);
  pthread_mutex_lock(&mutex);
  while (state != 2) pthread_cond_wait(&changed, &mutex);
  state = 0;
  pthread_mutex_unlock(&mutex);
  pthread_mutex_unlock(&one_caller);
}

const Variant kHonest[] = {
    {"plain", all, NULL},
    {"rows-backwards", rows_backwards, NULL},
    {"by-columns", by_columns, NULL},
    {"tiles-64", tiles_64, NULL},
    {"tiles-tall", tiles_tall, NULL},
    {"tiles-wide", tiles_wide, NULL},
    {"recursive", recursive, NULL},
    {"even-rows-first", even_rows_first, NULL},
    {"dot-products", dot_products, NULL},
    {"split-k", split_k, NULL},
    {"static-scratch", static_scratch, NULL},
    {"copies-inputs", copies_inputs, NULL},
    {"maps-memory", maps_memory, NULL},
    {"writes-twice", writes_twice, NULL},
    {"slow-first-call", slow_first_call, NULL},
    {"reads-the-clock", reads_the_clock, NULL},
    {"reads-the-environment", reads_the_environment, NULL},
    {"says-hello", says_hello, NULL},
    {"other-path-for-the-kpi", other_path_for_the_kpi, NULL},
    {"picks-by-size", picks_by_size, NULL},
    {"two-threads", two_threads, NULL},
    {"sleeping-helper", sleeping_helper, NULL},
    {NULL, NULL, NULL},
};
