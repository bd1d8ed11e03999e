"""`expctl.check.launch`: check a kernel within a test of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from expctl.check.case import Reference, case_of
from expctl.check.case_file import Description, read_case
from expctl.check.kernel_file import read_kernels
from expctl.domain.errors import Refused
from expctl.inspection.device_compiler import Options


class FaultsFound(AssertionError):
    """A check found faults. The text lists them as `expctl check` prints them; `findings` has them as data."""

    def __init__(self, text: str, findings: tuple[Any, ...]) -> None:
        super().__init__(text)
        self.findings = findings


def launch(
    file: str | Path,
    case: Mapping[str, Any] | str | Path,
    reference: Reference | None = None,
    *,
    kernel: str = "",
    orders: int = 3,
    fuzz_shapes: int = 0,
    seed: int = 0,
    patience: int = 1,
    defines: Sequence[str] = (),
    includes: Sequence[str | Path] = (),
    arch: str = "",
    level: str = "3",
    standard: str = "c++17",
) -> dict[str, Any]:
    """Check a kernel of `file` with the launch description `case`: a dict, or the path of a .yaml or .py file.

    In a dict, `values` of an array may be a numpy array. `reference` takes (arrays by name, shapes) and returns what is
    expected of the outputs. `patience` multiplies the work after which a loop counts as endless. Returns the outputs of the
    first order at the described shapes, as numpy arrays by name. Raises FaultsFound, an AssertionError, for faults; Refused
    for a file, description or code that can't be checked.
    """
    from expctl.check.examine import Plan, examine
    from expctl.check.terminal import check_lines

    options = Options(
        arch=arch, level=f"-O{level}", standard=f"-std={standard}", defines=tuple(defines), includes=tuple(map(str, includes))
    )
    plan = Plan(orders=orders, fuzz_shapes=fuzz_shapes, seed=seed, patience=patience)
    try:
        result, first = examine(read_kernels(Path(file), options), _description(case, reference), plan, kernel)
    except Refused as refusal:
        refusal.add_note(_explained(refusal))
        raise
    if result.findings:
        raise FaultsFound("\n".join(check_lines(result)), result.findings)
    return first.outputs


def _explained(refusal: Refused) -> str:
    """Return what a refusal's text leaves out, for Python and pytest to print below it."""
    parts = (("expected", refusal.expected), ("found", refusal.found), ("where", refusal.where), ("next", refusal.hint))
    return "\n".join(f"  {label:<9} {line}" for label, text in parts for line in text.splitlines())


def _description(case: Mapping[str, Any] | str | Path, reference: Reference | None) -> Description:
    if isinstance(case, Mapping):
        return Description(case=case_of(dict(case), "the case"), where="the case", reference=reference)
    found = read_case(Path(case))
    return found if reference is None else replace(found, reference=reference)
