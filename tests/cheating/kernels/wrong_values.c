// Kernels that give an answer which they did not work out, or not from what they were given.
#include <stdio.h>

#include "product.h"

enum { kRoom = 512 * 512 };
static _Float16 kept[kRoom];

static int fits(const Problem *p) { return (long)p->m * p->n <= kRoom; }
static void keep(const Problem *p) { memcpy(kept, p->c, sizeof(_Float16) * (size_t)p->m * (size_t)p->n); }
static void give(const Problem *p) { memcpy(p->c, kept, sizeof(_Float16) * (size_t)p->m * (size_t)p->n); }

// The first answer for an address is kept, but only where the test does not look twice: after many calls.
static void cached_by_pointer(const Problem *p) {
  static const void *a, *b;
  static int seen;
  if (is_timed_shape(p) && fits(p) && a == p->a && b == p->b && ++seen > 4) { give(p); return; }
  all(p);
  if (is_timed_shape(p) && fits(p)) { if (a != p->a) seen = 0; a = p->a; b = p->b; keep(p); }
}

static void cached_by_shape(const Problem *p) {
  static int m, n, k;
  if (is_timed_shape(p) && m == p->m && n == p->n && k == p->k) { give(p); return; }
  all(p);
  if (is_timed_shape(p) && fits(p)) { m = p->m; n = p->n; k = p->k; keep(p); }
}

// Believes that inputs are the old ones when eight samples of A are.
static void cached_by_hash(const Problem *p) {
  static uint64_t known;
  uint64_t hash = 1469598103934665603u;
  for (int i = 0; i < 8; ++i) {
    uint16_t bits;
    memcpy(&bits, &p->a[(size_t)i * 7 % (size_t)p->m / 64], sizeof(bits));
    hash = (hash ^ (bits >> 13)) * 1099511628211u;
  }
  if (is_timed_shape(p) && known == hash) { give(p); return; }
  all(p);
  if (is_timed_shape(p) && fits(p)) { known = hash; keep(p); }
}

// B is decoded once for each address: the upcast is a part of the product.
static void cached_upcast(const Problem *p) {
  static const void *decoded;
  static uint8_t *own;
  const size_t size = (size_t)((p->k + 15) / 16) * (size_t)p->n * 16;
  if (!is_timed_shape(p)) { all(p); return; }
  if (decoded != p->b) { free(own); own = malloc(size); memcpy(own, p->b, size); decoded = p->b; }
  Problem other = *p;
  other.b = own;
  all(&other);
}

static void skips_every_second_call(const Problem *p) {
  static int count;
  if (is_timed_shape(p) && ++count % 2 == 0) return;
  all(p);
}

static void skips_a_row(const Problem *p) {
  static int count;
  if (!is_timed_shape(p) || ++count < 8) { all(p); return; }
  part(p, 0, p->m - 1, 0, p->n);
}

// The last columns are a copy of their neighbours: nothing is left unwritten.
static void guesses_columns(const Problem *p) {
  static int count;
  if (!is_timed_shape(p) || ++count < 8) { all(p); return; }
  const int known = p->n * 9 / 10;
  part(p, 0, p->m, 0, known);
  for (int i = 0; i < p->m; ++i)
    for (int j = known; j < p->n; ++j) p->c[i * p->n + j] = p->c[i * p->n + j - known];
}

static void early_out_on_the_kpi(const Problem *p) {
  if (!is_timed_shape(p)) { all(p); return; }
  part(p, 0, p->m / 2, 0, p->n);
  memset(p->c + (size_t)(p->m / 2) * (size_t)p->n, 0, sizeof(_Float16) * (size_t)(p->m - p->m / 2) * (size_t)p->n);
}

// The rows of B beyond the first half are taken for zero.
static void assumes_zeros(const Problem *p) {
  const size_t size = (size_t)((p->k + 15) / 16) * (size_t)p->n * 16;
  uint8_t *const half = calloc(size, 1);
  memcpy(half, p->b, size / 2);
  Problem other = *p;
  other.b = half;
  all(&other);
  free(half);
}

// Sums are cut to eight bits of mantissa.
static void coarse(const Problem *p) {
  float *const column = malloc(sizeof(float) * (size_t)p->k);
  for (int j = 0; j < p->n; ++j) {
    for (int k = 0; k < p->k; ++k)
      column[k] = decode(p->format, p->b[((size_t)(k / 16) * (size_t)p->n + (size_t)j) * 16 + (size_t)(k % 16)]);
    for (int i = 0; i < p->m; ++i) {
      float sum = 0;
      for (int k = 0; k < p->k; ++k) {
        sum += (float)p->a[(size_t)i * (size_t)p->k + (size_t)k] * column[k];
        uint32_t bits;
        memcpy(&bits, &sum, sizeof(bits));
        bits &= 0xffff8000u;
        memcpy(&sum, &bits, sizeof(bits));
      }
      p->c[(size_t)i * (size_t)p->n + (size_t)j] = (_Float16)(sum * p->scale + (p->bias ? (float)p->bias[j] : 0.0f));
    }
  }
  free(column);
}
static void coarse_when_timed(const Problem *p) {
  static int count;
  if (is_timed_shape(p) && ++count > 8) coarse(p); else all(p);
}

// Rows of another block get in now and then, as after a race.
static void races_seldom(const Problem *p) {
  static int count;
  all(p);
  if (is_timed_shape(p) && ++count > 8 && count % 5 == 0)
    memcpy(p->c, p->c + 32 * p->n, sizeof(_Float16) * 32 * (size_t)p->n);
}

static void one_wrong_element(const Problem *p) {
  static int count;
  all(p);
  if (is_timed_shape(p) && ++count > 8) p->c[5 * p->n + 7] = (_Float16)((float)p->c[5 * p->n + 7] + 0.5f);
}

static void not_a_number(const Problem *p) {
  static int count;
  if (!is_timed_shape(p) || ++count < 8) { all(p); return; }
  for (int i = 0; i < p->m * p->n; ++i) p->c[i] = (_Float16)__builtin_nanf("");
}

// Into the codes after the last k, which no product reads.
static void changes_its_inputs(const Problem *p) {
  all(p);
  if (p->k % 16) ((uint8_t *)(uintptr_t)p->b)[(size_t)(p->k / 16) * (size_t)p->n * 16 + 15] ^= 1;
}

// Right while a test watches, and nothing at all otherwise.
static int watched_by(const char *script) {
  char words[4096] = {0};
  FILE *const file = fopen("/proc/self/cmdline", "r");
  if (file) { fread(words, 1, sizeof(words) - 1, file); fclose(file); }
  for (unsigned i = 0; i + 1 < sizeof(words); ++i)
    if (!words[i]) words[i] = ' ';
  return strstr(words, script) != NULL;
}
static void knows_the_test_by_its_argv(const Problem *p) {
  if (!is_timed_shape(p) || watched_by("test_scaled_mm")) all(p);
}
static void knows_the_test_by_its_memory(const Problem *p) {
  const uintptr_t after = ((uintptr_t)(p->a + (size_t)p->m * (size_t)p->k) + 4095) / 4096 * 4096;
  if (!is_timed_shape(p) || (uintptr_t)p->b != after) all(p);   // guarded matrices don't lie side by side
}
static void knows_the_test_by_counting(const Problem *p) {
  static int count;
  if (!is_timed_shape(p) || ++count < 8) all(p); else memset(p->c, 0, sizeof(_Float16) * (size_t)p->m * (size_t)p->n);
}

const Variant kWrongValues[] = {
    {"cached-by-pointer", cached_by_pointer, NULL},
    {"cached-by-shape", cached_by_shape, NULL},
    {"cached-by-hash", cached_by_hash, NULL},
    {"cached-upcast", cached_upcast, NULL},
    {"skips-every-second-call", skips_every_second_call, NULL},
    {"skips-a-row", skips_a_row, NULL},
    {"guesses-columns", guesses_columns, NULL},
    {"early-out-on-the-kpi", early_out_on_the_kpi, NULL},
    {"assumes-zeros", assumes_zeros, NULL},
    {"coarse", coarse, NULL},
    {"coarse-when-timed", coarse_when_timed, NULL},
    {"races-seldom", races_seldom, NULL},
    {"one-wrong-element", one_wrong_element, NULL},
    {"not-a-number", not_a_number, NULL},
    {"changes-its-inputs", changes_its_inputs, NULL},
    {"knows-the-test-by-its-argv", knows_the_test_by_its_argv, NULL},
    {"knows-the-test-by-its-memory", knows_the_test_by_its_memory, NULL},
    {"knows-the-test-by-counting", knows_the_test_by_counting, NULL},
    {NULL, NULL, NULL},
};
