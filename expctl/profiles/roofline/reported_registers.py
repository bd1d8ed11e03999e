"""Correct the register counts that rocprofv3 reports: it misreads parts of the kernel descriptor on some GPUs.

rocprofv3 derives the VGPR count from the descriptor's accumulation offset on gfx90a and gfx94x, elsewhere from its granulated
count in steps of 4 registers (waves of 64 lanes) or 8 (waves of 32), which is half of the truth on some GPUs. On gfx908, where
accumulation VGPRs are a separate file, it prints one count for both. `RegisterRules` says what is corrected on which GPU. All
counts are allocated registers, i.e. rounded up. Sources: LLVM's AMDGPU usage guide (kernel descriptor), rocprofiler-sdk.
"""

from collections.abc import Iterable
from dataclasses import dataclass

SGPR_CONSTANT = 128
"""SGPR count that rocprofv3 always prints for gfx10 and later, where every wave has the same fixed set."""
WRAPPED_ABOVE = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers:
    """Registers per wave; `vgpr` includes accumulation registers (`agpr`). None is a count that isn't known."""

    vgpr: int | None
    agpr: int | None
    sgpr: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterRules:
    """Which corrections the register counts of one rocprofv3 profile need; `notes` tell the user about them.

    `halved`: VGPR counts are half the true ones. `accum_copied`: `agpr` repeats the count of `vgpr`. `split_unknown`: only the
    sum of both is right. `sgpr_unknown`: SGPR counts are wrong.
    """

    halved: bool = False
    accum_copied: bool = False
    split_unknown: bool = False
    sgpr_unknown: bool = False
    notes: tuple[str, ...] = ()


def register_rules(arch: str, counts: Iterable[tuple[int | None, int | None, int | None]]) -> RegisterRules:
    """Return which corrections the register counts of a rocprofv3 profile on the GPU `arch` need. `arch` is "" if the GPU isn't
    named. Each of `counts` is (architectural VGPRs, accumulation VGPRs, SGPRs) as reported.
    """
    known = [(vgpr, accum or 0, sgpr) for vgpr, accum, sgpr in counts if vgpr is not None]
    if not known:
        return RegisterRules()
    if arch == "gfx90a" or arch.startswith("gfx94"):
        note = f"registers: on {arch} rocprofv3's VGPR_Count wraps above {WRAPPED_ABOVE}; only arch + accumulation is right"
        return RegisterRules(split_unknown=True, notes=(f"{note}, and that sum is shown",))
    if arch == "gfx950":
        return _gfx950(known)
    if arch == "gfx908":
        note = "registers: on gfx908 rocprofv3 prints VGPR_Count again as Accum_VGPR_Count; not added, and shown as unknown"
        return RegisterRules(accum_copied=True, notes=(note,))
    if _at_least_gfx10(arch):
        notes = [f"registers: SGPR {SGPR_CONSTANT} is a constant of the tool on {arch}, not a count; shown as unknown"]
        if arch.startswith("gfx125"):
            notes.append(
                f"registers: on {arch} VGPRs may come in steps of 16 where the tool assumes 8: the truth may be twice as many"
            )
        return RegisterRules(sgpr_unknown=True, notes=tuple(notes))
    if not arch and all(sgpr == SGPR_CONSTANT for _, _, sgpr in known):
        note = f"registers: SGPR is {SGPR_CONSTANT} for every kernel, the tool's constant from gfx10 on; shown as unknown"
        return RegisterRules(sgpr_unknown=True, notes=(note,))
    wrong = "wrong on gfx90a and gfx94x above 128, half on gfx950, twice on gfx908"
    note = f"registers: the GPU isn't named, so VGPRs are the tool's: {wrong}"
    return RegisterRules() if arch else RegisterRules(notes=(note,))


def _gfx950(known: list[tuple[int, int, int | None]]) -> RegisterRules:
    """Return the corrections for gfx950, of which versions of rocprofv3 before 2026-05 report half the registers. gfx950
    allocates registers in steps of 8, so a count that is no multiple of 8 shows such a version.
    """
    if any((vgpr + accum) % 8 for vgpr, accum, _ in known):
        note = "registers: this rocprofv3 prints half the VGPRs of gfx950 (some counts are no multiple of 8); doubled"
        return RegisterRules(halved=True, notes=(f"{note}, with accumulation registers among them",))
    note = "registers: rocprofv3 before 2026-05 prints half the VGPRs of gfx950, and nothing in this file shows which it was"
    return RegisterRules() if any(accum for _, accum, _ in known) else RegisterRules(notes=(note,))


def corrected(how: RegisterRules, vgpr: int | None, accum: int | None, sgpr: int | None) -> Registers:
    """Return one kernel's register counts after the corrections `how`; None for counts that can't be known. `vgpr` is without
    accumulation registers (`accum`).
    """
    shown_sgpr = None if how.sgpr_unknown else sgpr
    if vgpr is None:
        return Registers(vgpr=None, agpr=accum, sgpr=shown_sgpr)
    if how.halved:
        return Registers(vgpr=2 * vgpr, agpr=None, sgpr=shown_sgpr)
    if how.accum_copied:
        return Registers(vgpr=vgpr, agpr=None, sgpr=shown_sgpr)
    total = vgpr + (accum or 0)
    return Registers(vgpr=total, agpr=None if how.split_unknown else accum, sgpr=shown_sgpr)


def _at_least_gfx10(arch: str) -> bool:
    digits = arch.removeprefix("gfx")
    return arch.startswith("gfx1") and len(digits) >= 4
