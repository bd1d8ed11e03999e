"""Compute FLOP and least bytes of a call of a torch operator from the shapes and types that torch.profiler recorded.

A multiply-add counts as two operations. Bytes count each operand once, inputs and result, which is the least there can be.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Shape = Sequence[int]
TYPES: Mapping[str, tuple[str, int]] = {
    "double": ("f64", 8), "float": ("f32", 4), "c10::Half": ("f16", 2), "c10::BFloat16": ("bf16", 2),
    "c10::Float8_e4m3fn": ("f8", 1), "c10::Float8_e4m3fnuz": ("f8", 1), "c10::Float8_e5m2": ("f8", 1),
    "c10::Float8_e5m2fnuz": ("f8", 1), "signed char": ("i8", 1), "unsigned char": ("u8", 1), "bool": ("bool", 1),
    "short int": ("i16", 2), "int": ("i32", 4), "long int": ("i64", 8),
}  # fmt: skip
"""Names of element types in traces -> short name and bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCall:
    """One recorded call: the operator's name without `aten::`, and for each argument its shape, type and value as text."""

    name: str
    shapes: Sequence[Shape]
    types: Sequence[str]
    values: Sequence[str]

    def size(self, index: int) -> int:
        """Return the bytes of one element of argument `index`; 0 if its type isn't known."""
        return TYPES.get(self.types[index], ("", 0))[1] if index < len(self.types) else 0

    def value(self, index: int) -> str:
        """Return the value of argument `index` as text; "" where none was recorded."""
        return self.values[index] if index < len(self.values) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorWork:
    """FLOP and least bytes of one call (None if unknown), the number type of its operands, e.g. `bf16`, and how many elements
    its result has (None if unknown).
    """

    flop: float | None
    bytes_least: float | None
    kind: str
    results: int | None = None


def operator_work(call: OperatorCall) -> OperatorWork | None:
    """Return the work of one call; None where the operator isn't known here or its shapes weren't recorded."""
    rule = _RULES.get(call.name.strip("_"))
    try:
        return rule(call) if rule else None
    except (IndexError, ValueError):  # fewer arguments, or other extents, than this operator has
        return None


def _product(first: int) -> Callable[[OperatorCall], OperatorWork]:
    """Return a rule for a (batched) matrix product whose operands are the arguments `first` and `first` + 1."""

    def rule(call: OperatorCall) -> OperatorWork:
        *batch, m, k = call.shapes[first]
        *_, inner, n = call.shapes[first + 1]
        if inner != k:
            raise ValueError
        of, size = math.prod(batch), call.size(first)
        moved = of * (m * k * size + k * n * call.size(first + 1) + m * n * size)
        work = moved if size else None
        return OperatorWork(flop=2.0 * of * m * n * k, bytes_least=work, kind=_kind(call, first), results=of * m * n)

    return rule


def _convolution(
    padding: int, stride: int, dilation: int, transposed: int | None = None
) -> Callable[[OperatorCall], OperatorWork]:
    """Return a rule for a convolution with input and weight as its first two arguments, and settings at the given places."""

    def rule(call: OperatorCall) -> OperatorWork:
        if transposed is not None and call.value(transposed) != "False":
            raise ValueError
        n, _, *extents = call.shapes[0]
        filters, channels, *window = call.shapes[1]
        settings = [_integers(call.value(place), len(extents)) for place in (padding, stride, dilation)]
        out = [
            (extent + 2 * pad - spread * (taps - 1) - 1) // step + 1
            for extent, taps, pad, step, spread in zip(extents, window, *settings, strict=True)
        ]
        results = n * filters * math.prod(out)
        size = call.size(0)
        moved = size * (math.prod(call.shapes[0]) + math.prod(call.shapes[1]) + results)
        flop = 2.0 * results * channels * math.prod(window)
        return OperatorWork(flop=flop, bytes_least=moved if size else None, kind=_kind(call, 0), results=results)

    return rule


def _attention(heads_before_length: bool, causal: int) -> Callable[[OperatorCall], OperatorWork]:
    """Return a rule for attention of query, key and value, with the flag for a causal mask at argument `causal`."""

    def rule(call: OperatorCall) -> OperatorWork:
        query, key = call.shapes[0], call.shapes[1]
        length = 2 if heads_before_length else 1
        batch, heads, depth = query[0], query[3 - length], query[3]
        share = 0.5 if call.value(causal) == "True" else 1.0  # half of the products lie behind the mask
        flop = 4.0 * batch * heads * query[length] * key[length] * depth * share
        moved = call.size(0) * sum(math.prod(each) for each in (query, query, key, call.shapes[2]))
        return OperatorWork(flop=flop, bytes_least=moved or None, kind=_kind(call, 0), results=math.prod(query))

    return rule


def _pointwise(call: OperatorCall) -> OperatorWork:
    """Count the bytes of an operator whose result has the shape of all inputs, broadcast, and its first input's type."""
    inputs = [(math.prod(shape), call.size(i)) for i, shape in enumerate(call.shapes) if shape and call.size(i)]
    if not inputs or not call.shapes[0]:
        raise ValueError
    result = max(count for count, _ in inputs) * call.size(0)
    return OperatorWork(flop=None, bytes_least=sum(count * size for count, size in inputs) + result, kind=_kind(call, 0))


def _copied(call: OperatorCall) -> OperatorWork:
    """Count the bytes of copy_(target, source): the target is written, not read."""
    moved = math.prod(call.shapes[0]) * call.size(0) + math.prod(call.shapes[1]) * call.size(1)
    if not moved or not call.shapes[0]:
        raise ValueError
    return OperatorWork(flop=None, bytes_least=moved, kind=_kind(call, 0))


def _kind(call: OperatorCall, index: int) -> str:
    return TYPES.get(call.types[index], ("", 0))[0] if index < len(call.types) else ""


def _integers(text: str, number: int) -> list[int]:
    """Return the integers in `[1, 1]`; a single one stands for all `number` axes. Raises ValueError for other text."""
    found = [int(each) for each in text.strip("[]").split(",")]
    return found * number if len(found) == 1 else found


_POINTWISE = (
    "add sub mul div relu gelu silu sigmoid tanh exp log neg abs sqrt rsqrt pow clamp leaky_relu threshold_backward"
    " gelu_backward silu_backward softmax log_softmax native_layer_norm"
)
_RULES: Mapping[str, Callable[[OperatorCall], OperatorWork]] = {
    "mm": _product(0), "bmm": _product(0), "scaled_mm": _product(0), "int_mm": _product(0),
    "addmm": _product(1), "baddbmm": _product(1),
    "convolution": _convolution(4, 3, 5, transposed=6), "cudnn_convolution": _convolution(2, 3, 4),
    "miopen_convolution": _convolution(3, 4, 5),
    "scaled_dot_product_flash_attention": _attention(True, 4), "scaled_dot_product_efficient_attention": _attention(True, 6),
    "flash_attention_forward": _attention(False, 8), "copy": _copied,
    **dict.fromkeys(_POINTWISE.split(), _pointwise),
}  # fmt: skip
"""Operators by name without leading and trailing underscores."""
