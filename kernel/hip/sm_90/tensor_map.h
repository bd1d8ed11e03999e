// Describes a matrix of halves to the hardware that copies boxes of it.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

namespace scaled_mm {

using EncodeTiled = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                                 const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

// From the driver that is loaded already: nothing to link with. Null where it is too old.
inline EncodeTiled tensor_map_encoder() {
  static const EncodeTiled encode = [] {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeTiled>(found) : nullptr;
  }();
  return encode;
}

// Boxes of 64 columns by `box_rows` rows, with the swizzle of 128 bytes. A matrix that can_be_boxed.
inline cudaError_t describe_matrix(CUtensorMap *map, const void *matrix, int columns, int rows, int box_rows) {
  const EncodeTiled encode = tensor_map_encoder();
  if (encode == nullptr) return cudaErrorNotSupported;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t stride[] = {static_cast<cuuint64_t>(columns) * 2};
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(box_rows)}, steps[] = {1, 1};
  const CUresult result = encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, const_cast<void *>(matrix), extents, stride, box,
                                 steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

inline bool can_be_boxed(const void *matrix, int columns) {
  return columns % 8 == 0 && reinterpret_cast<unsigned long long>(matrix) % 16 == 0;
}

}  // namespace scaled_mm
