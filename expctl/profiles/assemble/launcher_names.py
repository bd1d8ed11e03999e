"""Classify kernels of libraries that launch any function of their user, by the name of that function (Kokkos, RAJA, AMReX,
MFEM, Ginkgo, Eigen), and of rocPRIM."""

import re
from collections.abc import Callable, Sequence

from expctl.profiles.model.kernel_profile import KernelClass as K
from expctl.profiles.model.name_words import words_of

LAUNCHER = re.compile(
    r"(?:cuda|hip)_parallel_launch_|forall_(?:cuda|hip)_kernel|^launch_global$|^(?:Cu|Hip)(?:Kernel|Wrap)[123]D$|^generic_kernel_[123]d$|^EigenMetaKernel|^trampoline_kernel$"
)
"""Names that these libraries give to every kernel."""
_LAMBDA = re.compile(r"\)(?: const)?::[\[{'<]?lambda")
"""Behind the parameters of the function that a lambda was written in."""
_TAGGED = re.compile(r"__nv_h?dl_tag<.{0,800}?&\(?([\w:]+)")
"""The function in which host code made a lambda, as nvcc writes it into the lambda's name."""
_KOKKOS = re.compile(r"Parallel(For|Reduce|Scan(?:WithTotal)?)<(?:[\w:]*Combined\w*<)?(?:void )?([\w:]+)")
"""How Kokkos goes over the data, and the functor that it calls."""
_EIGEN = (
    (K.GEMM, re.compile(r"TensorContraction")),
    (K.CONVOLUTION, re.compile(r"TensorConvolution|TensorImagePatch")),
    (K.REDUCTION, re.compile(r"Tensor(?:Reduction|TupleReducer|PairReducer|Scan)Op")),
    (K.ELEMENTWISE, re.compile(r"TensorCwise(?:Unary|Binary|Ternary)Op|TensorSelectOp")),
    (
        K.COPY,
        re.compile(
            r"scalar_constant_op|Tensor(?:Broadcasting|\w{0,9}Slic|\w{0,9}Strid|Chipping|Padding|Shuffling|Reverse|Conversion|Conc|Generator)"
        ),
    ),
)
"""The expressions that Eigen evaluates: the outermost decides, but what only moves data is part of all."""
_ROCPRIM = re.compile(r"\bwrapped_(\w+?)_config\b")
"""The algorithm that a kernel of rocPRIM 4 belongs to; all of them have one name."""
_ANY_NAME = frozenset(["functor", "functors", "lambda", "kernel", "loop", "run", "impl", "operator", "apply"])
"""Words for what is launched, whatever it does."""

Find = Callable[[Sequence[str]], K | None]


def launched_class(name: str, find: Find) -> K:
    """Return the class of the user's function in the kernel `name`; OTHER if nothing is known of it. `find` classifies words.

    A sum over all of the data is a reduction, whatever its function is called, unless that is a more specific kind of work.
    """
    if "EigenMetaKernel" in name:
        return _of_expression(name)
    if algorithm := _ROCPRIM.search(name):
        moves = "memcpy" in algorithm[1] or "::identity<" in name
        return K.COPY if moves else K.ELEMENTWISE if algorithm[1] == "transform" else K.REDUCTION
    kokkos = _KOKKOS.search(name)
    function = _around_lambda(name) or (kokkos[2] if kokkos else "")
    own_then_its_type = reversed(function.split("::")[-2:])
    found = next((kind for part in own_then_its_type if (kind := find(_telling_words(part)))), None)
    if kokkos and kokkos[1] != "For":
        return found if found in (K.GEMM, K.NORMALISATION) else K.REDUCTION
    return found or K.OTHER


def _of_expression(name: str) -> K:
    kinds = [(match.start(), kind) for kind, operators in _EIGEN if (match := operators.search(name))]
    return min(kinds, default=(0, K.OTHER), key=lambda each: (each[1] is K.COPY, each[0]))[1]


def _telling_words(identifier: str) -> list[str]:
    return [word for word in words_of(identifier).split() if word not in _ANY_NAME]


def _around_lambda(name: str) -> str:
    """Return the function that the first lambda in `name` was written in, without parameters and template arguments."""
    if tagged := _TAGGED.search(name):
        return tagged[1]
    found = _LAMBDA.search(name)
    if found is None:
        return ""
    depth, end = 0, found.start()
    while end >= 0:
        depth += (name[end] in ")>") - (name[end] in "(<")
        if not depth and name[end - 1 : end] != ">":
            break
        end -= 1
    start = re.search(r"[\w:]*$", name[: max(end, 0)])
    return start[0] if start else ""
