"""Which vector registers an instruction reads, and which it overwrites, from the text of its operands.

A register counts as two halves, because some instructions write one half and keep the other. A set of halves is an int: bit 2 n
is the low half of register n, bit 2 n + 1 its high half.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from expctl.inspection.model.instruction_mix import Statement

_NAMED = re.compile(r"\bv(?:(\d+)(?:\.([lh]))?\b|\[(\d+):(\d+)\])")
_ALL = (1 << 512) - 1
_LOW, _HIGH = _ALL // 3, _ALL // 3 * 2
_MEMORY = r"(?:global|flat|scratch|t?buffer|image)_"
_READS_ALL = re.compile(rf"v_cmpx_|exp\b|{_MEMORY}(?:store|atomic)|ds_(?!\w*(?:load|read|permute|swizzle|_rtn|append|consume))")
"""Instructions whose first operand is no result."""
_RETURNS = re.compile(r"(?:global|flat)_atomic\w*.*\bglc\b")
_READS_RESULT = re.compile(r"fmac|v_mac_|dot2acc|dot2c_|v_swap|buffer_atomic")
_FULL_DPP = re.compile(r"row_mask:0xf bank_mask:0xf bound_ctrl:1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The halves of registers that an instruction reads, and those whose old value ends with it."""

    reads: int = 0
    kills: int = 0


def access_of(statement: Statement) -> Access:
    """Return what an instruction does to vector registers. Where lanes may keep the old value of its result (DPP, v_writelane),
    nothing is overwritten.
    """
    first, _, second = statement.operands.partition("::")
    found = _single(statement.mnemonic, first)
    if not second:
        return found
    mnemonic, _, operands = second.strip().partition(" ")
    other = _single(mnemonic, operands)
    return Access(reads=found.reads | other.reads, kills=found.kills | other.kills)


def registers_in(halves: int) -> int:
    """Return how many registers have a half in a set of halves."""
    return ((halves | halves >> 1) & _LOW).bit_count()


def _single(mnemonic: str, operands: str) -> Access:
    if mnemonic.startswith("s_"):
        return Access()
    first, _, rest = operands.partition(",")
    result, others = _halves(first), _halves(rest)
    if mnemonic.startswith("v_swap"):
        return Access(reads=result | others, kills=result | others)
    if _READS_ALL.match(mnemonic) and not _RETURNS.match(f"{mnemonic} {operands}"):
        return Access(reads=result | others)
    if mnemonic.startswith("v_movrels"):
        others = _ALL & ~((others & -others) - 1)
    reads = others | result if _READS_RESULT.search(mnemonic) else others
    return Access(reads=reads, kills=result & _written(mnemonic, operands))


def _halves(text: str) -> int:
    found = 0
    for one, half, begin, end in _NAMED.findall(text):
        if half:
            found |= 1 << 2 * int(one) + (half == "h")
        else:
            first, last = int(one or begin), int(one or end)
            found |= (1 << 2 * (last + 1)) - (1 << 2 * first)
    return found


def _written(mnemonic: str, operands: str) -> int:
    """Return which halves of its result an instruction overwrites in every active lane."""
    if mnemonic.startswith(("v_writelane", "v_movreld", "v_movrelsd")):
        return 0
    if mnemonic.startswith("v_permlane"):  # op_sel: read inactive lanes too, or write 0 in place of what can't be read
        return _ALL if "op_sel" in operands else 0
    if "_dpp" in mnemonic:
        return _ALL if _FULL_DPP.search(operands) else 0
    if "mixhi" in mnemonic or "_d16_hi" in mnemonic:
        return _HIGH
    return _LOW if "_d16" in mnemonic else _ALL
