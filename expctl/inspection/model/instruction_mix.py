"""Count the instructions of AMD assembly by class, each once as it is written, however often it is executed.

Every instruction is in exactly one class. Mnemonics are those of gfx9 to gfx12: `ds_read_b128` and `ds_load_b128` count alike.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from expctl.gpu.loops import Flow, loops_of


class InstructionClass(StrEnum):
    """Classes of instructions, in the order in which reports list them."""

    MATRIX = "matrix"
    """The instructions v_wmma, v_swmmac, v_mfma and v_smfmac."""
    PERMUTE = "v_perm"
    CONVERT = "v_cvt"
    DUAL = "v_dual"
    """The instructions v_dual_*, each of which does two operations."""
    LANE = "lane moves"
    """The instructions v_readlane and v_writelane, which also carry spilled scalars, and accumulator moves on CDNA."""
    VECTOR = "other vector ALU"
    GLOBAL_LOAD_128 = "global load b128"
    GLOBAL_LOAD = "global load narrow"
    GLOBAL_STORE_128 = "global store b128"
    GLOBAL_STORE = "global store narrow"
    ATOMIC = "atomic"
    LDS_LOAD_128 = "LDS load b128"
    LDS_LOAD = "LDS load narrow"
    LDS_STORE_128 = "LDS store b128"
    LDS_STORE = "LDS store narrow"
    LDS_LANE = "LDS permute"
    """The instructions ds_bpermute, ds_permute and ds_swizzle, which exchange lanes without memory."""
    SCRATCH = "scratch"
    """Accesses to spilled registers and private arrays."""
    SCALAR_LOAD = "scalar load"
    SCALAR = "scalar ALU"
    BRANCH = "branch"
    WAIT = "wait"
    BARRIER = "barrier"
    PRIORITY = "s_setprio"
    HINT = "hint"
    """Instructions without effect on results: s_delay_alu, s_clause, s_nop, cache control, ..."""
    OTHER = "other"


_WIDE = r"(?:b128|dwordx4)\b"
_MEMORY = r"(?:global|flat|buffer|tbuffer)"
_CLASSES = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"v_(?:wmma|swmmac|mfma|smfmac)_", InstructionClass.MATRIX),
        (r"v_perm_b32", InstructionClass.PERMUTE),
        (r"v_cvt_", InstructionClass.CONVERT),
        (r"v_dual_", InstructionClass.DUAL),
        (r"v_(?:readlane|writelane|readfirstlane|accvgpr_\w+)", InstructionClass.LANE),
        (r"v_", InstructionClass.VECTOR),
        (rf"(?:{_MEMORY}|ds|image)_\w*(?:atomic|add_rtn|cmpst|cmpstore)", InstructionClass.ATOMIC),
        (r"scratch_", InstructionClass.SCRATCH),
        (r"buffer_(?:gl\w*_inv|inv|wbl2|wbinv\w*)|global_(?:inv|wb|wbinv)\b", InstructionClass.HINT),
        (rf"{_MEMORY}_load_{_WIDE}", InstructionClass.GLOBAL_LOAD_128),
        (rf"{_MEMORY}_load", InstructionClass.GLOBAL_LOAD),
        (rf"{_MEMORY}_store_{_WIDE}", InstructionClass.GLOBAL_STORE_128),
        (rf"{_MEMORY}_store", InstructionClass.GLOBAL_STORE),
        (r"ds_(?:b?permute|swizzle)", InstructionClass.LDS_LANE),
        (r"ds_(?:load|read)_b128", InstructionClass.LDS_LOAD_128),
        (r"ds_(?:load|read)", InstructionClass.LDS_LOAD),
        (r"ds_(?:store|write)_b128", InstructionClass.LDS_STORE_128),
        (r"ds_(?:store|write)", InstructionClass.LDS_STORE),
        (r"ds_", InstructionClass.ATOMIC),
        (r"s_(?:buffer_)?load_", InstructionClass.SCALAR_LOAD),
        (r"s_(?:c?branch|setpc|swappc|call|endpgm)", InstructionClass.BRANCH),
        (r"s_wait", InstructionClass.WAIT),
        (r"s_barrier", InstructionClass.BARRIER),
        (r"s_setprio", InstructionClass.PRIORITY),
        (r"s_(?:delay_alu|clause|nop|set_inst_prefetch|inst_prefetch|sendmsg|sleep|code_end|trap|icache|dcache|prefetch)",
         InstructionClass.HINT),
        (r"s_", InstructionClass.SCALAR),
    )
)  # fmt: skip


_ENDS = frozenset(("s_branch", "s_endpgm", "s_endpgm_saved", "s_setpc_b64"))
"""After these, control does not go on with the next instruction."""
_PAIR = re.compile(r"s\[(\d+):\d+\]$")
_FAR = re.compile(r"\(([\w.$]+)-\.Lpost_getpc\d+\)&4294967295$")
_FAR_MOST = 4
"""How many instructions before `s_setpc_b64` a far branch is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One instruction in line `line`, counted from 1; `operands` is the text after the mnemonic, without the comment."""

    line: int
    mnemonic: str
    operands: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The code of one function; `labels` maps a name to the index of the statement that follows it."""

    statements: tuple[Statement, ...]
    labels: Mapping[str, int]


def class_of(mnemonic: str) -> InstructionClass:
    """Return the class of an instruction; OTHER for an unknown one, so that totals are complete."""
    return next((kind for pattern, kind in _CLASSES if pattern.match(mnemonic)), InstructionClass.OTHER)


def counts(statements: Sequence[Statement]) -> dict[str, int]:
    """Return the number of instructions per class, in the order of classes; classes without any are left out."""
    found = Counter(class_of(each.mnemonic) for each in statements)
    return {kind.value: found[kind] for kind in InstructionClass if found[kind]}


def hot_loop(body: Body) -> tuple[Statement, ...]:
    """Return the statements of the loop that probably takes most of the time, in the order of the text; () if there is no loop.
    It is a guess: nothing is executed.

    Of the loops it is the one with the most matrix instructions that no loop within it has; among equals, the shortest.
    Without matrix instructions it is the longest of those that have no loop within.
    """
    return tuple(body.statements[index] for index in sorted(hottest(body)))


def hottest(body: Body) -> frozenset[int]:
    """Return the indices of the statements of `hot_loop`."""
    loops = loops_of(flows(body))
    own = {loop: loop.difference(*(inner for inner in loops if inner < loop)) for loop in loops}
    return max(loops, key=lambda loop: _weight(body, loop, own[loop]), default=frozenset())


def flows(body: Body) -> list[Flow]:
    """Return where control goes after each statement."""
    return [_flow(body, index) for index in range(len(body.statements))]


def _flow(body: Body, index: int) -> Flow:
    statement = body.statements[index]
    if class_of(statement.mnemonic) is not InstructionClass.BRANCH:
        return Flow()
    label = _far_label(body, index) if statement.mnemonic == "s_setpc_b64" else statement.operands
    return Flow(target=body.labels.get(label), goes_on=statement.mnemonic not in _ENDS)


def _far_label(body: Body, index: int) -> str:
    """Return the label of a branch that is too far for `s_branch`: its distance is added to what s_getpc_b64 gave, in the two
    registers that `s_setpc_b64` then takes. "" for a return.
    """
    registers = _PAIR.match(body.statements[index].operands)
    if registers is None:
        return ""
    before = reversed(body.statements[max(0, index - _FAR_MOST) : index])
    added = (_FAR.search(each.operands) for each in before if each.operands.startswith(f"s{registers[1]},"))
    return next((found[1] for found in added if found is not None), "")


def _weight(body: Body, loop: frozenset[int], own: frozenset[int]) -> tuple[int, bool, int]:
    matrix = sum(class_of(body.statements[index].mnemonic) is InstructionClass.MATRIX for index in own)
    return matrix, own == loop, -len(loop) if matrix else len(loop)
