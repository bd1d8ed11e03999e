// A call of the operator without Python: for operands like some that Python has checked and launched before (`remember`).
// For all else, and whenever something fails, `call` returns None, and Python does it, or says what is wrong.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>
#include <map>

namespace {

struct Call {   // as in kernel/hip/host.h
  int config, b_dtype;
  const void *a, *b, *bias;
  void *c;
  float scale;
  int m, n, k;
  void *stream;
};

using Enqueue = int (*)(const Call *);   // scaled_mm_enqueue
using CurrentStream = int (*)(int device, void **stream);   // aoti_torch_get_current_cuda_stream

// Device, format of B, shapes of A and B: with what `fits` looks at, all that was checked and that decides the config.
using Key = std::array<int64_t, 8>;

struct Known {
  int config, ordinal;
  Enqueue enqueue;
  CurrentStream current_stream;
};

std::map<Key, Known> known;

// Whether torch's dispatcher would do no more than call the kernel: no mode, trace, vmap, fake or other special tensor.
bool is_plain(const at::Tensor &tensor) {
  using namespace c10;
  static const DispatchKeySet passed_by =
      DispatchKeySet({DispatchKey::Dense, DispatchKey::ADInplaceOrView, DispatchKey::AutogradFunctionality,
                      DispatchKey::BackendSelect}) |
      DispatchKeySet({BackendComponent::CPUBit, BackendComponent::CUDABit}) | autocast_dispatch_keyset;
  const auto local = impl::tls_local_dispatch_key_set();
  const DispatchKeySet keys = (tensor.key_set() | local.included_) - local.excluded_;
  return passed_by.has_all(keys) && !(tensor.requires_grad() && GradMode::is_enabled());
}

bool fits(PyObject *object, int64_t dim) {
  if (!THPVariable_CheckExact(object)) return false;
  const at::Tensor &tensor = THPVariable_Unpack(object);
  return tensor.dim() == dim && tensor.is_contiguous() && is_plain(tensor);
}

// As format_number in arguments.py; -1 where that would refuse.
int format_of(const at::Tensor &b, PyObject *given) {
  const auto type = b.scalar_type();
  if (given == Py_None) return type == at::kFloat8_e5m2 ? 1 : type == at::kFloat8_e4m3fn ? 0 : -1;
  if (type != at::kByte || !PyLong_CheckExact(given)) return -1;
  int overflow;
  const long number = PyLong_AsLongAndOverflow(given, &overflow);
  return number == 0 || number == 1 ? number : -1;
}

Key key_of(const at::Tensor &a, const at::Tensor &b, int format) {
  return {static_cast<int64_t>(a.device().type()), a.device().index(), format, a.size(0), a.size(1), b.size(0), b.size(1), b.size(2)};
}

// (a, b_prepacked, scale, bias, b_dtype) -> c, or None
PyObject *call(PyObject *, PyObject *const *given, Py_ssize_t count) {
  if (count != 5 || !fits(given[0], 2) || !fits(given[1], 3) || !PyFloat_Check(given[2])) Py_RETURN_NONE;
  const at::Tensor &a = THPVariable_Unpack(given[0]), &b = THPVariable_Unpack(given[1]);
  const int format = format_of(b, given[4]);
  if (format < 0 || a.scalar_type() != at::kHalf || b.device() != a.device()) Py_RETURN_NONE;
  const auto found = known.find(key_of(a, b, format));
  if (found == known.end()) Py_RETURN_NONE;
  const Known way = found->second;
  const int m = a.size(0), n = b.size(1), k = a.size(1);
  const void *bias_data = nullptr;
  if (given[3] != Py_None) {
    if (!fits(given[3], 1)) Py_RETURN_NONE;
    const at::Tensor &bias = THPVariable_Unpack(given[3]);
    if (bias.scalar_type() != at::kHalf || bias.size(0) != n || bias.device() != a.device()) Py_RETURN_NONE;
    bias_data = bias.const_data_ptr();
  }
  const float scale = static_cast<float>(PyFloat_AS_DOUBLE(given[2]));
  at::Tensor c;
  bool launched = false;
  Py_BEGIN_ALLOW_THREADS   // a full queue makes a launch wait
  try {
    const c10::DeviceGuard guard(a.device());
    c = at::empty({m, n}, a.options());
    void *stream = nullptr;
    if (way.current_stream(way.ordinal, &stream) == 0) {
      const Call arguments{way.config, format, a.const_data_ptr(), b.const_data_ptr(), bias_data,
                                      c.mutable_data_ptr(), scale, m, n, k, stream};
      launched = way.enqueue(&arguments) == 0;
    }
  } catch (const std::exception &) {   // no memory: Python's attempt says so
  }
  Py_END_ALLOW_THREADS
  if (!launched) Py_RETURN_NONE;
  return THPVariable_Wrap(std::move(c));
}

// (a, b_prepacked, format, config, ordinal, address of scaled_mm_enqueue, address of what tells the current stream)
PyObject *remember(PyObject *, PyObject *given) {
  PyObject *a, *b;
  int format, config, ordinal;
  unsigned long long enqueue, current_stream;
  if (!PyArg_ParseTuple(given, "OOiiiKK", &a, &b, &format, &config, &ordinal, &enqueue, &current_stream)) return nullptr;
  known[key_of(THPVariable_Unpack(a), THPVariable_Unpack(b), format)] = {
      config, ordinal, reinterpret_cast<Enqueue>(enqueue), reinterpret_cast<CurrentStream>(current_stream)};
  Py_RETURN_NONE;
}

PyObject *forget(PyObject *, PyObject *) {
  known.clear();
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(call)), METH_FASTCALL, nullptr},
                         {"remember", remember, METH_VARARGS, nullptr},
                         {"forget", forget, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "direct", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_direct() { return PyModule_Create(&module); }
