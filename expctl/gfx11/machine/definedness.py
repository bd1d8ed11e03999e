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


def moved_by(evaluate: Callable[..., Anything], *amounts: int, used: int = 31) -> Rule:
    """Return a Rule (a function that finds undefined bits) for a shift, permute or bit field: undefined bits move like the
    values.

    `evaluate` is the operation. `amounts` are the indices of the sources that say how far bits move or which of them are taken;
    an undefined bit among those of its bits that are `used` makes the whole result undefined.
    """

    def rule(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
        words = [values[i] if i in amounts else _as_values(undefined[i], values[i]) for i in range(len(values))]
        moved = _bits(evaluate(*words))
        if not amounts:
            return np.asarray(moved)
        unclear = same_bits(values, [undefined[i] & undefined[i].dtype.type(used) for i in amounts]) != 0
        return np.asarray(np.where(unclear, _ALL, moved))

    return rule


def of_bits(mask: int, rule: Rule) -> Rule:
    """Return the Rule of an operation that uses the bits `mask` of each source alone."""
    return lambda values, undefined: rule(values, [bits & bits.dtype.type(mask) for bits in undefined])


def bit_choice(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of (a & b) | (~a & c): of b where a has ones, else of c, and those of a."""
    a, (p, q, r) = _bits(values[0]), undefined
    return np.asarray(p | (q & a) | (r & ~a))


def chosen(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of v_cndmask: those of the source that the mask selects; all if the mask's bit is undefined."""
    p, q, choice = undefined
    picked = np.where(values[2], q, p)
    return np.asarray(np.where(choice != 0, _ALL, picked))


def lowest_one(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of the place of the lowest one: none if a defined one lies below every undefined bit."""
    a, p = _bits(values[0]), undefined[0]
    ones = a & ~p
    return np.asarray(np.where((p == 0) | (ones != 0) & ((ones & -ones) < (p & -p)), _NONE, _ALL))


def highest_one(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of the place of the highest one: none if a defined one lies above every undefined bit."""
    a, p = _bits(values[0]), undefined[0]
    return np.asarray(np.where((p == 0) | (a & ~p > p), _NONE, _ALL))


def shifted_or(values: Sequence[Anything], undefined: Sequence[Bits]) -> Bits:
    """Return the undefined bits of (a << b) | c; an undefined bit in b makes all bits of a << b undefined."""
    a, b, c = values
    shift = _bits(b) & np.uint32(31)
    inner = np.where(undefined[1] & np.uint32(31), np.uint32(ALL_BITS), undefined[0] << shift)
    return disjunction((_bits(a) << shift, c), (inner, undefined[2]))


def _bits(values: Anything) -> Anything:
    """Return the bit patterns of the values as uint32 or uint64; values of 8 or 16 bits become uint32."""
    size = values.dtype.itemsize
    return values.view(f"u{size}") if size >= 4 else values.astype(np.uint32)


def _as_values(bits: Bits, values: Anything) -> Anything:
    """Return undefined bits in the type of the values that they belong to, or in 32 bits for a smaller one."""
    size = max(values.dtype.itemsize, 4)
    return bits.astype(f"u{size}").view(values.dtype if values.dtype.itemsize >= 4 else np.uint32)
