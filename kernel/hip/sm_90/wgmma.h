// wgmma: four warps add a 64 x 16 operand in registers times a 16 x kWidth operand in shared memory to 64 x kWidth sums, which
// are in use until the group that was committed is waited for.
//
//   sums   of lane l of warp w: value 4j + 2i + e is row 16w + l / 4 + 8i, column 8j + l % 4 * 2 + e
#pragma once
#include "../phases.h"

#define SCALED_MM_SUMS_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define SCALED_MM_SUMS_16 SCALED_MM_SUMS_8 \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define SCALED_MM_SUMS_32 SCALED_MM_SUMS_16 \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SCALED_MM_SUMS_64 SCALED_MM_SUMS_32 \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SCALED_MM_HELD_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SCALED_MM_HELD_8(i) SCALED_MM_HELD_4(i), SCALED_MM_HELD_4(i + 4)
#define SCALED_MM_HELD_16(i) SCALED_MM_HELD_8(i), SCALED_MM_HELD_8(i + 8)
#define SCALED_MM_HELD_32(i) SCALED_MM_HELD_16(i), SCALED_MM_HELD_16(i + 16)
#define SCALED_MM_HELD_64(i) SCALED_MM_HELD_32(i), SCALED_MM_HELD_32(i + 32)

// Operands: the sums, then four registers of a, the descriptor of b, and whether the sums are added to or begin at zero.
#define SCALED_MM_WGMMA(width, sums, a0, a1, a2, a3, b, adds)                                                               \
  template <>                                                                                                               \
  struct Wgmma<width> {                                                                                                     \
    static METHOD void add(float (&d)[sums], const u32 (&a)[4], u64 descriptor, int adds_to) {                              \
      asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " adds ", 0;\n"                                                 \
                   "wgmma.mma_async.sync.aligned.m64n" #width "k16.f32.f16.f16 {" SCALED_MM_SUMS_##sums "}, "               \
                   "{" a0 ", " a1 ", " a2 ", " a3 "}, " b ", adds, 1, 1, 0;\n}"                                            \
                   : SCALED_MM_HELD_##sums(0)                                                                               \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor), "r"(adds_to));                            \
    }                                                                                                                       \
  };

namespace scaled_mm {

template <int kWidth>
struct Wgmma;
SCALED_MM_WGMMA(16, 8, "%8", "%9", "%10", "%11", "%12", "%13")
SCALED_MM_WGMMA(32, 16, "%16", "%17", "%18", "%19", "%20", "%21")
SCALED_MM_WGMMA(64, 32, "%32", "%33", "%34", "%35", "%36", "%37")
SCALED_MM_WGMMA(128, 64, "%64", "%65", "%66", "%67", "%68", "%69")

// Registers and shared memory that were written before are seen by the products that follow.
DEVICE void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Waits until at most kPending groups are under way.
template <int kPending>
DEVICE void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// The compiler must not read the sums, or write over them, before this point.
template <int kSums>
DEVICE void hold(float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

// Describes a tile of halves in shared memory, 64 k (128 bytes) a row, as copy_box writes it with the swizzle of 128 bytes:
// groups of 8 rows are 1024 bytes apart. Adding 2 moves it by 16 k.
DEVICE u64 describe(u32 address) {
  constexpr u64 kSwizzle128 = 1ull << 62, kGroupBytes = 1024 / 16;
  return kSwizzle128 | kGroupBytes << 32 | 1ull << 16 | address >> 4;
}

}  // namespace scaled_mm
