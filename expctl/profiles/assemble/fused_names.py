"""Classify kernels that a compiler wrote by the operators that their names list."""

import re
from collections.abc import Callable, Sequence

from expctl.profiles.model.kernel_profile import KernelClass
from expctl.profiles.model.name_words import words_of

_INDUCTOR = re.compile(r"triton_(poi|red|per|for|unk|tem|mm|spl|split_scan)_fused_*([\w.…]*)")
"""Of torch's compiler: pointwise, reduction, persistent reduction, foreach, template, and the operators in it."""
_COUNTED = re.compile(r"(?:\d+(?:[dc]e?)?)+")
"""The number behind the operators, and what older versions of Triton add: which arguments are divisible by 16 or constant."""
_MYELIN = re.compile(r"__myl_(?:bb\d+_\d+_)?([A-Za-z]+)")
"""Of TensorRT's compiler: the operators in it, four or so letters each, or three."""
_XLA = re.compile(r"(?:(loop|input)_)?([a-z_]+?)_fusion(?:_|\d|$)|wrapped_([a-z_]+?)(?:_\d+)*$")
"""Of XLA: one output after the other, or a form of its own for a reduction, a transposition or a scatter; or not told which.
What it wraps is one operator.
"""
_MLIR = re.compile(r"mlir_(?=\w*(?:dot|convolution|attention))(\w+)")
"""Of MIGraphX's compiler: operators around one product, convolution or attention."""
_TINYGRAD = re.compile(r"([Er])(?:_\d+)+(?:n\d+)?")
"""Of tinygrad's compiler: elementwise or a reduction, with the sizes of its loops."""
_MOVING = (
    "to copy clone cat slice scatter gather select transpose permute view unsafe expand stack constant pad nd fill"
    " full like zeros ones zero new empty index put split unsqueeze squeeze t lift fresh fused as strided unfold"
    " repeat roll flip chunk detach alias reshape contiguous cast conc tran move resh slic reve cop fus broadcast in dim"
    " dynamic update convert concatenate mm bmm moe forward scaled dot product flash efficient cudnn attention wait tensor all"
    " gather into reduce scatter iota pad reverse bitcast"
)
_MOVES = frozenset(_MOVING.split())
"""Words of operators that only move data, or run in kernels of their own: a pointwise kernel of nothing else is a copy."""
_BETWEEN = re.compile(r"[_.…]+")
"""What stands between operators; dots where a tool left some out."""
_TEMPLATES = (KernelClass.GEMM, KernelClass.CONVOLUTION, KernelClass.ATTENTION)
"""What compilers have templates for. Flex attention's gradient is fused with the zeros that it adds to."""
_NORMS = re.compile(r"norm|softmax|rsqrt|_rs(?:q|qr)?\W*$")
_QUANTISES = re.compile(r"(?=.*abs)(?=.*(?:amax|max))(?=.*(?:clamp|reciprocal|float8|div))")
"""The largest magnitude and a division or a clamp: a scale is found and applied."""
_MYELIN_MOVES = _MOVES | frozenset(["repl", "gath", "scat", "tra", "res", "sli", "con", "cas", "mov", "gat", "sca", "rep"])
_NORM_STEPS = (
    {"mean", "sqrt"}, {"mean", "rsqr"}, {"mean", "pow"}, {"mea", "sqr"}, {"mea", "rsq"}, {"mea", "pow"},
    {"max", "exp", "sum"}, {"maxr", "exp", "sum"}, {"soft"}, {"sof"},
)  # fmt: skip
_SUMS = frozenset(["sum", "mean", "mea", "redu", "red", "maxr", "minr", "prod", "top", "topk"])
"""Steps of Myelin that make one value of many. Its `Max` and `Min` do so only alone; both together clamp."""

Find = Callable[[Sequence[str]], KernelClass | None]


def fused_class(function: str, find: Find) -> KernelClass | None:
    """Return the class of the function `function` if its name lists fused operators; else None. `find` classifies words."""
    if inductor := _INDUCTOR.match(function):
        return _inductor(inductor[1], inductor[2], find)
    if myelin := _MYELIN.match(function):
        return _myelin(words_of(myelin[1]).split())
    if xla := _XLA.match(function):
        return _xla(xla[1] or (xla[3] and "loop"), (xla[2] or xla[3]).split("_"), find)
    if mlir := _MLIR.match(function):
        return _of_template(find(mlir[1].split("_")))
    tinygrad = _TINYGRAD.fullmatch(function)
    return tinygrad and (KernelClass.ELEMENTWISE if tinygrad[1] == "E" else KernelClass.REDUCTION)


def _inductor(form: str, operators: str, find: Find) -> KernelClass:
    """Products and convolutions in the name of a pointwise kernel or a reduction run elsewhere; what is fused with them is
    their epilogue.
    """
    words = [word for word in _BETWEEN.split(operators) if word and not _COUNTED.fullmatch(word)]
    if form in ("tem", "mm"):
        if words and all(word in ("zeros", "zero") for word in words):
            return KernelClass.ATTENTION
        return _of_template(find(words))
    if _NORMS.search(operators) or ({"exp", "sum"} <= set(words) and {"max", "amax"} & set(words)):
        return KernelClass.NORMALISATION
    if "embedding" in operators:
        return KernelClass.EMBEDDING
    if form == "poi" and "pool" in operators:
        return KernelClass.REDUCTION
    if form in ("red", "per", "split_scan", "spl"):
        return KernelClass.ELEMENTWISE if _QUANTISES.match(operators) else KernelClass.REDUCTION
    return KernelClass.COPY if words and all(word in _MOVES for word in words) else KernelClass.ELEMENTWISE


def _of_template(found: KernelClass | None) -> KernelClass:
    return found if found in _TEMPLATES else KernelClass.GEMM


def _xla(form: str | None, operators: Sequence[str], find: Find) -> KernelClass | None:
    if "reduce" in operators or {"select", "scatter"} <= set(operators):
        return KernelClass.REDUCTION
    found = find(operators) or ("select" in operators and KernelClass.ELEMENTWISE) or None
    if form == "input" or (form is None and found not in (KernelClass.COPY, KernelClass.ELEMENTWISE)):
        return found
    moves = "select" not in operators and all(word in _MOVES for word in operators)
    return KernelClass.COPY if moves else KernelClass.ELEMENTWISE


def _myelin(words: Sequence[str]) -> KernelClass:
    known = set(words)
    if known & {"fc", "matmul", "gemm"}:
        return KernelClass.GEMM
    if any(steps <= known for steps in _NORM_STEPS):
        return KernelClass.NORMALISATION
    if all(word in _MYELIN_MOVES for word in words):
        return KernelClass.COPY
    return KernelClass.REDUCTION if known & _SUMS or len(known & {"max", "min"}) == 1 else KernelClass.ELEMENTWISE
