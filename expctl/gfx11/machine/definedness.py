"""Rules for which bits of a result are undefined, given the values and the undefined bits of the sources.

A rule may call a bit undefined that is not, but never the reverse. Rules are exact where compilers rely on it: moving,
masking, shifting and selecting bytes of a register of which only a part was ever written.
"""

from collections.abc import Callable, Sequence

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, Anything, Bits

Rule = Callable[[Sequence[Anything], Sequence[Bits]], Bits]
"""(values, undefined bits) of the sources, each (32,), to the undefined bits of the result, (32,)."""

_ALL = np.uint64((1 << 64) - 1)
_NONE = np.uint64(0)


def any_bit(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of a result that mixes all source bits: all if any source bit is undefined, else none."""
    return np.asarray(np.where(same_bits(values, undefined) != 0, _ALL, _NONE))


def same_bits(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:  # noqa: ARG001  the signature of a Rule
    """Return the undefined bits of a bitwise operation: bit i of the result is undefined if bit i of any source is."""
    union = undefined[0]
    for bits in undefined[1:]:
        union = np.bitwise_or(union, bits)
    return union


def bits_above(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of a sum, difference or product: the lowest undefined bit of any source and all above it."""
    union = same_bits(values, undefined).astype(np.uint64)
    return np.asarray(union | (~union + np.uint64(1)))


def conjunction(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of a & b. A bit is defined if it is so in both sources, or if it is a defined 0 in one."""
    (a, b), (p, q) = values, undefined
    return np.asarray((p & q) | (p & _bits(b)) | (q & _bits(a)))


def disjunction(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of a | b. A bit is defined if it is so in both sources, or if it is a defined 1 in one."""
    (a, b), (p, q) = values, undefined
    return np.asarray((p & q) | (p & ~_bits(b)) | (q & ~_bits(a)))


def and_or(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of (a & b) | c, by the rules of `conjunction` and `disjunction`."""
    a, b, c = values
    inner = conjunction((a, b), undefined[:2])
    return disjunction((_bits(a) & _bits(b), c), (inner, undefined[2]))


def disjunction_of_three(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of a | b | c, by the rule of `disjunction` applied twice."""
    a, b, c = values
    inner = disjunction((a, b), undefined[:2])
    return disjunction((_bits(a) | _bits(b), c), (inner, undefined[2]))


def moved_by(evaluate: Callable[..., Anything], *, amount: int) -> Rule:
    """Return a Rule (a function that finds undefined bits) for a shift or permute: undefined bits move like the values.

    `evaluate` is the operation. `amount` is the index of the source that says how far bits move or which bytes are taken; an
    undefined bit in it makes the whole result undefined.
    """

    def rule(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
        words = [values[i] if i == amount else undefined[i].view(_dtype(values[i])) for i in range(len(values))]
        moved = _bits(evaluate(*words))
        return np.asarray(np.where(undefined[amount] != 0, _ALL, moved))

    return rule


def chosen(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of v_cndmask: those of the source that the mask selects; all if the mask's bit is undefined."""
    p, q, choice = undefined
    picked = np.where(values[2], q, p)
    return np.asarray(np.where(choice != 0, _ALL, picked))


def shifted_or(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of (a << b) | c; an undefined bit in b makes all bits of a << b undefined."""
    a, b, c = values
    shift = _bits(b) & np.uint32(31)
    inner = np.where(undefined[1] != 0, np.uint32(ALL_BITS), undefined[0] << shift)
    return disjunction((_bits(a) << shift, c), (inner, undefined[2]))


def _bits(values: Anything) -> Anything:
    """Return the bit patterns of the values as uint32 or uint64; values of 8 or 16 bits become uint32."""
    size = values.dtype.itemsize
    return values.view(f"u{size}") if size >= 4 else values.astype(np.uint32)


def _dtype(values: Anything) -> Anything:
    return values.dtype if values.dtype.itemsize >= 4 else np.dtype(np.uint32)
