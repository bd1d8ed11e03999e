// The product of kernel/hip/scaled_mm.h in plain C, slow and right, and the interface between it and the variants.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const _Float16 *a;    // (m, k)
  const uint8_t *b;     // (ceil(k/16), n, 16)
  const _Float16 *bias; // (n) or null
  _Float16 *c;          // (m, n)
  float scale;
  int m, n, k, format;  // format: 0 e4m3fn, 1 e5m2
} Problem;

// What a variant does with one launch.
typedef void (*Launch)(const Problem *);
typedef struct {
  const char *name;
  Launch launch;
  void (*load)(void);   // when the library is loaded, or null
} Variant;

extern const Variant kHonest[], kWrongValues[], kWrongTimes[], kMisbehaved[];   // each ends with a nameless one

float decode(int format, uint8_t code);
// Rows [first, end) of columns [left, right).
void part(const Problem *p, int first, int end, int left, int right);
static inline void all(const Problem *p) { part(p, 0, p->m, 0, p->n); }
// Is this the shape that the benchmark asks for?
static inline int is_timed_shape(const Problem *p) { return p->m == p->n && p->n == p->k && p->m >= 96; }
static inline int calls(void) { static int count; return ++count; }
