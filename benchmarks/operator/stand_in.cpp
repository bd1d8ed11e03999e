// The interface of a GPU build without a GPU: for the operator's tests, and for what its Python costs. Its device memory is the
// host's.
#define scaled_mm_machine machine_of_the_cpu_build
#include "../../kernel/hip/host_cpu.cpp"
#undef scaled_mm_machine

extern "C" {
int stand_in_opened = -1;   // the device
int stand_in_empty = 0;     // set: launches do nothing
int stand_in_error = 0;     // what launches return before they do anything
void *stand_in_stream = nullptr;   // of the last launch
int stand_in_config = -1;   // its config
}

EXPORTED int scaled_mm_machine() { return scaled_mm::kCuda; }
EXPORTED const char *scaled_mm_device_error() { return "this is a stand-in"; }

// As torch's aoti_torch_get_current_cuda_stream.
EXPORTED int stand_in_current_stream(int ordinal, void **stream) {
  *stream = reinterpret_cast<void *>(static_cast<uintptr_t>(0x5000 + ordinal));
  return 0;
}

EXPORTED int scaled_mm_device_open(int ordinal) {
  stand_in_opened = ordinal;
  return scaled_mm::kOk;
}

EXPORTED int scaled_mm_device_describe(int, char *name, int, int *compute_units) {
  *name = 0;
  *compute_units = 132;
  return scaled_mm::kOk;
}

EXPORTED int scaled_mm_enqueue(const scaled_mm::Call *call) {
  using namespace scaled_mm;
  if (stand_in_error) return stand_in_error;
  stand_in_stream = call->stream;
  const int forced = forced_config(), config = forced == kConfigCount ? call->config : forced;
  if (config < 0) return -config;
  stand_in_config = config;
  if (stand_in_empty) return kOk;
  return scaled_mm_launch(config, call->b_dtype, call->a, call->b, call->bias, call->c, call->scale, call->m, call->n,
                          call->k, 0, scaled_mm_row_blocks(config, call->m));
}
