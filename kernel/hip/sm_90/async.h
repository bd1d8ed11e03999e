// Barriers in shared memory and copies that the memory system makes by itself (TMA), as PTX. Addresses: of shared memory.
#pragma once
#include <cuda.h>

#include "../phases.h"

namespace scaled_mm {

DEVICE void init_barrier(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Barriers that this thread initialised become visible to the copies.
DEVICE void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Arrives, and lets the phase end only when so many bytes were copied.
DEVICE void expect_bytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

DEVICE void arrive(u32 barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }

// Waits for the end of the phase of this parity; the phase before the first counts as ended, with parity 1.
DEVICE void wait(u32 barrier, u32 parity) {
  u32 done;
  do {
    asm volatile(
        "{\n.reg .pred done;\nmbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\nselp.u32 %0, 1, 0, done;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (!done);
}

// True for one lane of the warp.
DEVICE bool elected() {
  u32 is;
  asm volatile("{\n.reg .pred is;\nelect.sync _|is, 0xffffffff;\nselp.u32 %0, 1, 0, is;\n}" : "=r"(is));
  return is != 0;
}

// The launch after this one may begin as soon as every block has said so. Waits until the one before has ended and all that it
// wrote is seen; at once where that is so when a launch begins.
DEVICE void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
DEVICE void wait_for_launch_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// The description of a matrix comes into the cache before the first copy asks for it.
DEVICE void fetch_map(const CUtensorMap *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

// Contiguous bytes, a multiple of 16 at addresses that are.
DEVICE void copy_bytes(u32 to, const void *from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
               "r"(bytes), "r"(barrier)
               : "memory");
}

// The box of a matrix whose first element is (row, column); zeros beyond the matrix.
DEVICE void copy_box(u32 to, const CUtensorMap *map, int column, int row, u32 barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   to),
               "l"(map), "r"(column), "r"(row), "r"(barrier)
               : "memory");
}

// The box goes to the same place in each block of the cluster that has a bit in `blocks`, and counts at its barrier there.
DEVICE void copy_box_to(u32 to, const CUtensorMap *map, int column, int row, u32 barrier, u16 blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
      "[%4], %5;" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier), "h"(blocks)
      : "memory");
}

// Arrives at the same barrier of another block of the cluster. Without .release.cluster, which would be a fence of the whole
// GPU: nothing that this block wrote is read there.
DEVICE void arrive_at(u32 barrier, u32 block) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(block)
               : "memory");
}

// Every thread of the cluster's blocks.
DEVICE void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

// Back to the matrix, clipped to it, from what this thread's block wrote before publish_to_copies and a barrier.
DEVICE void store_box(const CUtensorMap *map, u32 from, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from), "r"(column),
               "r"(row)
               : "memory");
}
DEVICE void publish_to_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until the stores that this thread committed have read shared memory.
DEVICE void wait_stores_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// A barrier of the 128 threads of one warpgroup.
DEVICE void group_barrier(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }

}  // namespace scaled_mm
