"""Tables of what scalar instructions compute, on unsigned Python integers.

Definitions are the manual's (AMD, "RDNA3.5" Instruction Set Architecture, chapter 16). A table entry's function takes the
sources that the instruction names, then SCC if `reads_scc`. It returns (result, SCC); SCC is None if the instruction leaves it
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from expctl.gfx11.machine.arrays import ALL_BITS
from expctl.gfx11.machine.memory import PROGRAM_COUNTER
from expctl.gfx11.scalar.floats import FLOATS
from expctl.gfx11.scalar.operation import ScalarOp, signed


def _scc_if_nonzero(bits: int, function: Callable[..., int], sources: tuple[int, ...]) -> ScalarOp:
    mask = (1 << bits) - 1

    def evaluate(*values: int) -> tuple[int, int]:
        result = function(*values) & mask
        return result, int(result != 0)

    return ScalarOp(result=bits, sources=sources, evaluate=evaluate)


def _logic(bits: int, function: Callable[..., int], count: int = 2) -> ScalarOp:
    return replace(_scc_if_nonzero(bits, function, (bits,) * count), bitwise=True)


def _without_scc(function: Callable[..., int], sources: tuple[int, ...] = (32, 32), result: int = 32) -> ScalarOp:
    mask = (1 << result) - 1
    return ScalarOp(result=result, sources=sources, evaluate=lambda *values: (function(*values) & mask, None))


def _carrying(function: Callable[..., int], *, reads_scc: bool = False) -> ScalarOp:
    """Return a 32-bit operation that computes `function` and sets SCC to its carry or borrow. With `reads_scc`, `function` gets
    the old SCC as its last argument.
    """

    def evaluate(*values: int) -> tuple[int, int]:
        total = function(*values)
        return total & ALL_BITS, int(not 0 <= total <= ALL_BITS)

    return ScalarOp(result=32, sources=(32, 32), evaluate=evaluate, reads_scc=reads_scc)


def _overflowing(function: Callable[[int, int], int]) -> ScalarOp:
    """Return a 32-bit operation that computes `function` on signed values and sets SCC if the result overflows."""

    def evaluate(a: int, b: int) -> tuple[int, int]:
        total = function(signed(a), signed(b))
        return total & ALL_BITS, int(total != signed(total & ALL_BITS))

    return ScalarOp(result=32, sources=(32, 32), evaluate=evaluate)


def _min_max(better: Callable[[int, int], bool]) -> ScalarOp:
    """Return an operation that selects a source: the first, with SCC 1, if `better(first, second)`, else the second, SCC 0."""
    return ScalarOp(result=32, sources=(32, 32), evaluate=lambda a, b: (a, 1) if better(a, b) else (b, 0))


def _compared(function: Callable[[int, int], bool], bits: int = 32) -> ScalarOp:
    return ScalarOp(result=0, sources=(bits, bits), evaluate=lambda a, b: (0, int(function(a, b))))


def _comparisons() -> dict[str, ScalarOp]:
    tests: dict[str, Callable[[int, int], bool]] = {
        "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    }  # fmt: skip
    found = {}
    for name, test in tests.items():
        found[f"s_cmp_{name}_u32"] = _compared(test)
        found[f"s_cmp_{name}_i32"] = _compared(lambda a, b, test=test: test(signed(a), signed(b)))  # type: ignore[misc]
    for name in ("eq", "lg"):
        found[f"s_cmp_{name}_u64"] = _compared(tests[name], 64)
    return found


def _field(value: int, where: int, bits: int, *, is_signed: bool) -> int:
    """Return the bit field that s_bfe extracts from `value`, an integer of `bits` bits; sign-extended if `is_signed`. `where`
    is the second source: its low bits are the field's offset, its bits 16..22 the field's width.
    """
    offset, width = where & (bits - 1), (where >> 16) & 0x7F
    if width == 0:
        return 0
    field = (signed(value, bits) if is_signed else value) >> offset & ((1 << width) - 1)
    return signed(field, width) if is_signed and width < bits else field


def _with_bit(value: int, position: int, bit: int) -> int:
    return value & ~(1 << position) | bit << position


def _sign_bits(value: int, bits: int) -> int:
    """Return how many bits from the top are like the sign; -1 if all are (s_cls)."""
    changed = value ^ (((1 << bits) - 1) if value >> (bits - 1) else 0)
    return bits - changed.bit_length() if changed else -1


def _lowest(value: int) -> int:
    return (value & -value).bit_length() - 1 if value else -1


_SHIFTS = {
    "s_lshl_b32": _scc_if_nonzero(32, lambda a, b: a << (b & 31), (32, 32)),
    "s_lshr_b32": _scc_if_nonzero(32, lambda a, b: a >> (b & 31), (32, 32)),
    "s_ashr_i32": _scc_if_nonzero(32, lambda a, b: signed(a) >> (b & 31), (32, 32)),
    "s_lshl_b64": _scc_if_nonzero(64, lambda a, b: a << (b & 63), (64, 32)),
    "s_lshr_b64": _scc_if_nonzero(64, lambda a, b: a >> (b & 63), (64, 32)),
    "s_ashr_i64": _scc_if_nonzero(64, lambda a, b: signed(a, 64) >> (b & 63), (64, 32)),
    "s_bfe_u32": _scc_if_nonzero(32, lambda a, b: _field(a, b, 32, is_signed=False), (32, 32)),
    "s_bfe_i32": _scc_if_nonzero(32, lambda a, b: _field(a, b, 32, is_signed=True), (32, 32)),
    "s_bfe_u64": _scc_if_nonzero(64, lambda a, b: _field(a, b, 64, is_signed=False), (64, 32)),
    "s_bfe_i64": _scc_if_nonzero(64, lambda a, b: _field(a, b, 64, is_signed=True), (64, 32)),
    "s_bfm_b32": _without_scc(lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    "s_bfm_b64": _without_scc(lambda a, b: ((1 << (a & 63)) - 1) << (b & 63), (32, 32), 64),
    "s_brev_b32": _without_scc(lambda a: int(f"{a:032b}"[::-1], 2), (32,)),
    "s_brev_b64": _without_scc(lambda a: int(f"{a:064b}"[::-1], 2), (64,), 64),
    **{
        f"s_bitset{n}_b{bits}": replace(
            _without_scc(lambda a, old, n=n, bits=bits: _with_bit(old, a & (bits - 1), n), (32, bits), bits), accumulates=True
        )
        for n in (0, 1)
        for bits in (32, 64)
    },
    **{
        f"s_lshl{n}_add_u32": _carrying(lambda a, b, n=n: (a << n) + b) for n in (1, 2, 3, 4)
    },
}  # fmt: skip
_ARITHMETIC = {
    "s_add_u32": _carrying(lambda a, b: a + b),
    "s_sub_u32": _carrying(lambda a, b: a - b),
    "s_addc_u32": _carrying(lambda a, b, scc: a + b + scc, reads_scc=True),
    "s_subb_u32": _carrying(lambda a, b, scc: a - b - scc, reads_scc=True),
    "s_add_i32": _overflowing(lambda a, b: a + b),
    "s_sub_i32": _overflowing(lambda a, b: a - b),
    "s_mul_i32": _without_scc(lambda a, b: a * b),
    "s_mul_hi_u32": _without_scc(lambda a, b: a * b >> 32),
    "s_mul_hi_i32": _without_scc(lambda a, b: signed(a) * signed(b) >> 32),
    "s_abs_i32": _scc_if_nonzero(32, lambda a: abs(signed(a)), (32,)),
    "s_absdiff_i32": _scc_if_nonzero(32, lambda a, b: abs(signed(a - b & 0xFFFFFFFF)), (32, 32)),
    "s_cls_i32": _without_scc(lambda a: _sign_bits(a, 32), (32,)),
    "s_cls_i32_i64": _without_scc(lambda a: _sign_bits(a, 64), (64,)),
    "s_min_u32": _min_max(lambda a, b: a < b),
    "s_max_u32": _min_max(lambda a, b: a >= b),
    "s_min_i32": _min_max(lambda a, b: signed(a) < signed(b)),
    "s_max_i32": _min_max(lambda a, b: signed(a) >= signed(b)),
    "s_sext_i32_i8": _without_scc(lambda a: signed(a & 0xFF, 8), (32,)),
    "s_sext_i32_i16": _without_scc(lambda a: signed(a & 0xFFFF, 16), (32,)),
    "s_bcnt1_i32_b32": _scc_if_nonzero(32, lambda a: a.bit_count(), (32,)),
    "s_bcnt1_i32_b64": _scc_if_nonzero(32, lambda a: a.bit_count(), (64,)),
    "s_bcnt0_i32_b32": _scc_if_nonzero(32, lambda a: 32 - a.bit_count(), (32,)),
    "s_bcnt0_i32_b64": _scc_if_nonzero(32, lambda a: 64 - a.bit_count(), (64,)),
    "s_ctz_i32_b32": _without_scc(_lowest, (32,)),
    "s_ctz_i32_b64": _without_scc(_lowest, (64,)),
    "s_clz_i32_u32": _without_scc(lambda a: 32 - a.bit_length() if a else -1, (32,)),
    "s_clz_i32_u64": _without_scc(lambda a: 64 - a.bit_length() if a else -1, (64,)),
    "s_pack_ll_b32_b16": _without_scc(lambda a, b: (a & 0xFFFF) | (b & 0xFFFF) << 16),
    "s_pack_lh_b32_b16": _without_scc(lambda a, b: (a & 0xFFFF) | (b & 0xFFFF0000)),
    "s_pack_hh_b32_b16": _without_scc(lambda a, b: a >> 16 | (b & 0xFFFF0000)),
    "s_pack_hl_b32_b16": _without_scc(lambda a, b: a >> 16 | (b & 0xFFFF) << 16),
}  # fmt: skip
_MOVES = {
    "s_getpc_b64": ScalarOp(result=64, sources=(), evaluate=lambda: (PROGRAM_COUNTER, None)),
    **{f"s_mov_b{n}": ScalarOp(result=n, sources=(n,), evaluate=lambda a: (a, None), bitwise=True) for n in (32, 64)},
    **{
        f"s_cselect_b{n}": ScalarOp(
            result=n, sources=(n, n), evaluate=lambda a, b, scc: (a if scc else b, None), reads_scc=True
        )
        for n in (32, 64)
    },
    **{
        f"s_bitcmp{n}_b{bits}": ScalarOp(
            result=0, sources=(bits, 32), evaluate=lambda a, b, n=n, bits=bits: (0, int(a >> (b & (bits - 1)) & 1 == n))
        )
        for n in (0, 1)
        for bits in (32, 64)
    },
    **{
        f"s_cmov_b{n}": ScalarOp(
            result=n, sources=(n, n), evaluate=lambda a, old, scc: (a if scc else old, None), reads_scc=True, accumulates=True
        )
        for n in (32, 64)
    },
    **{f"s_not_b{n}": _logic(n, lambda a: ~a, 1) for n in (32, 64)},
}  # fmt: skip
LOGIC: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b), "xnor": lambda a, b: ~(a ^ b),
    "and_not1": lambda a, b: a & ~b, "or_not1": lambda a, b: a | ~b,
}  # fmt: skip
OPS: dict[str, ScalarOp] = {
    **_SHIFTS,
    **_ARITHMETIC,
    **_MOVES,
    **FLOATS,
    **_comparisons(),
    **{f"s_{name}_b{n}": _logic(n, function) for n in (32, 64) for name, function in LOGIC.items()},
}
"""Scalar operations by mnemonic."""
