"""Lists the kernels that lie in one code object with those of a CUDA graph, by the CUDA driver."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import torch
from torch import Tensor

KERNEL_NODE = 0
Handle = ctypes.c_void_p


class _KernelNode(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h."""

    _fields_ = (
        ("function", Handle),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("parameters", Handle),
        ("extra", Handle),
        ("kernel", Handle),
        ("context", Handle),
    )


class Driver:
    """The driver library. Its methods raise OSError for a driver before CUDA 12.4, and for an error that it returns."""

    def __init__(self, path: str = "libcuda.so.1") -> None:
        self._library = ctypes.CDLL(path)

    def _call(self, name: str, *words: object) -> None:
        try:
            function = getattr(self._library, name)
        except AttributeError as error:
            raise OSError(f"the driver has no {name}") from error
        if status := function(*words):
            raise OSError(f"{name} returned {status}")

    def nodes(self, graph: int) -> Iterator[_KernelNode]:
        """Yield the parameters of every kernel that `graph`, a CUgraph, launches."""
        count, kind = ctypes.c_size_t(), ctypes.c_int()
        self._call("cuGraphGetNodes", Handle(graph), None, ctypes.byref(count))
        nodes = (Handle * count.value)()
        self._call("cuGraphGetNodes", Handle(graph), nodes, ctypes.byref(count))
        for node in nodes:
            self._call("cuGraphNodeGetType", Handle(node), ctypes.byref(kind))
            if kind.value == KERNEL_NODE:
                found = _KernelNode()
                self._call("cuGraphKernelNodeGetParams_v2", Handle(node), ctypes.byref(found))
                yield found

    def function_of(self, node: _KernelNode) -> Handle:
        """Return the CUfunction of a node, which may name a CUkernel instead."""
        if node.function:
            return Handle(node.function)
        function = Handle()
        self._call("cuKernelGetFunction", ctypes.byref(function), Handle(node.kernel))
        return function

    def name_of(self, function: Handle) -> str:
        """Return the symbol of a CUfunction."""
        name = ctypes.c_char_p()
        self._call("cuFuncGetName", ctypes.byref(name), function)
        return (name.value or b"").decode(errors="replace")

    def functions_beside(self, function: Handle) -> list[str]:
        """Return the symbols of all kernels in the module of a CUfunction, its own among them."""
        module, count = Handle(), ctypes.c_uint()
        self._call("cuFuncGetModule", ctypes.byref(module), function)
        self._call("cuModuleGetFunctionCount", ctypes.byref(count), module)
        functions = (Handle * count.value)()
        self._call("cuModuleEnumerateFunctions", functions, count, module)
        return [self.name_of(Handle(each)) for each in functions if each]


def code_objects(graph: int, driver: Driver) -> dict[str, list[str]]:
    """Return the symbol of each kernel of `graph`, a CUgraph, with all symbols of its module. Raises OSError."""
    functions = [driver.function_of(node) for node in driver.nodes(graph)]
    return {driver.name_of(function): sorted(driver.functions_beside(function)) for function in functions}


def of_library_product(a: Tensor, b: Tensor) -> dict[str, list[str]]:
    """Return the symbols of the library's product of `a` and `b`, each with those of its module. Raises OSError."""
    torch.mm(a, b)
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        torch.mm(a, b)
    return code_objects(graph.raw_cuda_graph(), Driver())
