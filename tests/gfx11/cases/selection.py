"""Which instruction LLVM's code generator picks for the IR of a case, its operands unknown: is it the same operation?"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.gfx11.cases.case import Case
from tests.gfx11.cases.folding import TARGET, type_of

_FUNCTION = re.compile(r"^f(\d+):(.*?)^\.Lfunc_end", re.MULTILINE | re.DOTALL)
_MNEMONIC = re.compile(r"(?:^\t|:: )([a-z]\w+)", re.MULTILINE)
OTHERWISE = re.compile(
    r"v_cmpx_|v_dual_|s_\w+_saveexec_|v_\w+rev_(?!b|i)|[vs]_mov|s_pack_|s_lshl\d_add_|s_bitcmp|s_cmpk_[gl]e_|s_(nand|nor|xnor)_"
    r"|v_cmp_(eq|ne)_i|s_cmp_(eq|lg)_i32|s_(add|mul|mov)k_"
)
"""What LLVM writes in other words: it has EXEC and pairs set up later, turns operands around, knows neither carries nor SCC
as results, and takes the one of two names for equality."""
BY_NAME = frozenset((
    "v_bfm_b32", "v_alignbyte_b32", "v_mad_i64_i32", "v_fma_f32", "v_fma_f16", "v_cvt_floor_i32_f32", "v_rcp_iflag_f32",
    "v_and_b16", "v_or_b16", "v_xor_b16", "v_cvt_i32_i16", "v_cvt_u32_u16", "v_pack_b32_f16", "v_pk_add_i16", "v_pk_sub_u16",
    "s_bfe_u64",    "s_bfe_i32", "s_bfe_i64", "s_bfm_b32", "s_bfm_b64",
    "s_min_f32", "s_max_f32", "s_min_f16", "s_max_f16", "s_fmamk_f32",
    "s_add_u32", "s_bcnt0_i32_b32", "s_bcnt0_i32_b64", "s_cselect_b64",
    "v_sqrt_f64", "v_fmamk_f16", "v_cvt_i16_f16", "v_cvt_u16_f16",
))  # fmt: skip
"""Likewise: a longer or another way, or code for machines with 16-bit registers."""


def function_of(number: int, case: Case) -> str:
    """Scalar sources come in scalar registers."""
    where = " inreg" if case.scalar else ""
    given = [f"{type_of(kind)}{where} %{name}" for name, kind in zip("abcdefgh", case.sources, strict=False)]
    lines = [f"define void @f{number}({', '.join([*given, 'ptr addrspace(1) %out'])}) {{", case.ir]
    for name, kind in zip("rst", case.results, strict=False):
        of, value = type_of(kind), f"%{name}"
        if of == "i1":
            lines.append(f"  %wide.{name} = zext i1 %{name} to i32")
            of, value = "i32", f"%wide.{name}"
        lines.append(f"  store volatile {of} {value}, ptr addrspace(1) %out")
    return "\n".join([*lines, "  ret void", "}"])


def selected(cases: Sequence[Case], folder: Path) -> set[str]:
    """The opcodes that LLVM uses for a case of theirs."""
    source, out = folder / "selection.ll", folder / "selection.s"
    source.write_text("\n".join(function_of(i, case) for i, case in enumerate(cases)))
    argv = [sys.executable, "-m", "ziglang", "clang", "-x", "ir", str(source), *TARGET, "-O2", "-S", "-o", str(out)]
    ran = subprocess.run(argv, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[:2000]
    found = set()
    for match in _FUNCTION.finditer(out.read_text()):
        used = {name.removesuffix("_e32").removesuffix("_e64") for name in _MNEMONIC.findall(match[2])}
        found |= {cases[int(match[1])].opcode} & used
    return found
