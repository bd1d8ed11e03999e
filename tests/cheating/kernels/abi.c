// The C interface of a build (kernel/hip/host.h) around the variant whose name is written into the machine code.
#include "product.h"

#define EXPORTED __attribute__((visibility("default")))

// 48 bytes among the instructions, so that two variants differ as two kernels do. variants.py writes the name over them.
__asm__(".text\n.balign 16\nvariant_name: .ascii \"VARIANT:plain\"\n.zero 35\n");
extern const char variant_name[] __attribute__((visibility("hidden")));

float decode(int format, uint8_t code) {
  if (format == 1) {
    const uint16_t bits = (uint16_t)(code << 8);
    _Float16 value;
    memcpy(&value, &bits, sizeof(value));
    return (float)value;
  }
  const int exponent = (code >> 3) & 15, mantissa = code & 7;
  float value = exponent == 0 ? (float)mantissa / 512.0f : (float)(8 + mantissa) / 1024.0f * (float)(1 << exponent);
  if ((code & 0x7f) == 0x7f) value = __builtin_nanf("");
  return code & 0x80 ? -value : value;
}

static float table[2][256];

enum { kWidth = 256 };

void part(const Problem *p, int first, int end, int left, int right) {
  for (int from = left; from < right; from += kWidth) {
    const int width = right - from < kWidth ? right - from : kWidth;
    float *const b = malloc(sizeof(float) * (size_t)p->k * kWidth);
    for (int k = 0; k < p->k; ++k)
      for (int j = 0; j < width; ++j)
        b[k * kWidth + j] = table[p->format][p->b[((size_t)(k / 16) * (size_t)p->n + (size_t)(from + j)) * 16 + (size_t)(k % 16)]];
    for (int i = first; i < end; ++i) {
      float sums[kWidth] = {0};
      for (int k = 0; k < p->k; ++k) {
        const float a = (float)p->a[(size_t)i * (size_t)p->k + (size_t)k];
        for (int j = 0; j < kWidth; ++j) sums[j] += a * b[k * kWidth + j];
      }
      for (int j = 0; j < width; ++j)
        p->c[(size_t)i * (size_t)p->n + (size_t)(from + j)] =
            (_Float16)(sums[j] * p->scale + (p->bias ? (float)p->bias[from + j] : 0.0f));
    }
    free(b);
  }
}

static const Variant *chosen;

static const Variant *find(const Variant *variants) {
  for (; variants->name; ++variants)
    if (strcmp(variants->name, variant_name + sizeof("VARIANT:") - 1) == 0) return variants;
  return NULL;
}

__attribute__((constructor)) static void load(void) {
  for (int format = 0; format < 2; ++format)
    for (int code = 0; code < 256; ++code) table[format][code] = decode(format, (uint8_t)code);
  const Variant *const tables[] = {kHonest, kWrongValues, kWrongTimes, kMisbehaved};
  for (unsigned i = 0; i < 4 && !chosen; ++i) chosen = find(tables[i]);
  if (chosen && chosen->load) chosen->load();
}

EXPORTED int scaled_mm_abi_version(void) { return chosen ? 2 : 0; }
EXPORTED int scaled_mm_machine(void) { return 0; }
EXPORTED int scaled_mm_config_count(void) { return 1; }
EXPORTED int scaled_mm_config(int config, int *tuple) {
  const int winner[] = {1, 8, 2, 2, 8, 2};
  memcpy(tuple, winner, sizeof(winner));
  return config != 0;
}
EXPORTED int scaled_mm_row_blocks(int config, int m) { (void)config; return (m + 127) / 128; }
EXPORTED int scaled_mm_config_for(int m, int n) { (void)m; (void)n; return 0; }
EXPORTED long long scaled_mm_packed_bytes(int n, int k) { return (long long)((k + 15) / 16) * 16 * n; }
EXPORTED int scaled_mm_prepack(const void *b, void *packed, int n, int k, void *stream) {
  (void)stream;
  memset(packed, 0, (size_t)scaled_mm_packed_bytes(n, k));
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j)
      ((uint8_t *)packed)[((size_t)(i / 16) * (size_t)n + (size_t)j) * 16 + (size_t)(i % 16)] =
          ((const uint8_t *)b)[(size_t)i * (size_t)n + (size_t)j];
  return 0;
}
EXPORTED const char *scaled_mm_error_text(int error) { (void)error; return "no such config"; }

EXPORTED int scaled_mm_launch(int config, int b_dtype, const void *a, const void *b, const void *bias, void *c, float scale,
                              int m, int n, int k, int first_row_block, int end_row_block) {
  if (config) return 1;
  const int first = first_row_block * 128, end = end_row_block * 128 < m ? end_row_block * 128 : m;
  const Problem part = {(const _Float16 *)a + (size_t)first * (size_t)k, b, bias, (_Float16 *)c + (size_t)first * (size_t)n,
                        scale, end - first, n, k, b_dtype};
  if (end > first) chosen->launch(&part);
  return 0;
}
