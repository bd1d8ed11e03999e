// What stands for libcuda.so.1 in tests: a graph of two kernel nodes and one of another kind; `code` kernels lie in module 7.
#include <stddef.h>
#include <string.h>

typedef void *handle;
typedef struct {
  handle function;
  unsigned grid[3], block[3], shared_bytes;
  void **parameters, **extra;
  handle kernel, context;
} KernelNode;

static const char *const kNames[] = {"", "cast", "Cijk_MT128_EPS1", "Cijk_MT128_EPS0"};

int cuGraphGetNodes(handle graph, handle *nodes, size_t *count) {
  if (graph != (handle)99) return 1;
  for (size_t i = 0; nodes && i < *count; ++i) nodes[i] = (handle)(i + 1);
  *count = 3;
  return 0;
}
int cuGraphNodeGetType(handle node, int *kind) {
  *kind = node == (handle)3 ? 2 : 0;
  return 0;
}
// Node 1 names a CUfunction, node 2 a CUkernel.
int cuGraphKernelNodeGetParams_v2(handle node, KernelNode *found) {
  memset(found, 0, sizeof *found);
  if (node == (handle)1) found->function = (handle)1;
  if (node == (handle)2) found->kernel = (handle)20;
  found->grid[0] = 1234;
  return 0;
}
int cuKernelGetFunction(handle *function, handle kernel) {
  *function = (handle)2;
  return kernel == (handle)20 ? 0 : 1;
}
int cuFuncGetName(const char **name, handle function) {
  *name = kNames[(size_t)function];
  return 0;
}
int cuFuncGetModule(handle *module, handle function) {
  *module = (handle)(size_t)(function == (handle)1 ? 5 : 7);
  return 0;
}
int cuModuleGetFunctionCount(unsigned *count, handle module) {
  *count = module == (handle)7 ? 2 : 1;
  return 0;
}
int cuModuleEnumerateFunctions(handle *functions, unsigned count, handle module) {
  for (unsigned i = 0; i < count; ++i) functions[i] = (handle)(size_t)(module == (handle)7 ? 2 + i : 1);
  return 0;
}
