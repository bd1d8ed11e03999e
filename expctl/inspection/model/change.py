"""The difference between two builds (a and b) of a kernel, figure by figure."""

from collections.abc import Mapping
from dataclasses import dataclass

from expctl.inspection.model.report import FileReport, KernelReport

FIGURES = ("vgpr", "sgpr", "lds_bytes", "scratch_bytes", "spills", "code_bytes", "occupancy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure in builds a and b; `delta` is b - a, `percent` is 100 delta / a. `delta` and `percent` are None where a build
    lacks the figure, `percent` also where a is 0.
    """

    name: str
    a: float | None
    b: float | None
    delta: float | None
    percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelChange:
    """What changed in a kernel between two builds; `a` and `b` are its names in them. `same_code` tells whether the machine
    code is equal, None if unknown.
    """

    a: str
    b: str
    same_code: bool | None
    limiter_a: str | None
    limiter_b: str | None
    figures: tuple[Change, ...]
    instructions: tuple[Change, ...]
    hot_loop: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionChange:
    """The differences between two inspected files a and b: kernels in both, and the names of kernels in only one."""

    a: FileReport
    b: FileReport
    kernels: tuple[KernelChange, ...]
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]


def change_between(a: FileReport, b: FileReport) -> InspectionChange:
    """Compare the reports of two files. Kernels are paired by name. Those without a namesake are paired in order, provided that
    both files have equally many of them.
    """
    right = {each.name: each for each in b.kernels}
    pairs = [(each, right[each.name]) for each in a.kernels if each.name in right]
    left_over = [each for each in a.kernels if each.name not in right]
    known = {each.name for each in a.kernels}
    right_over = [each for each in b.kernels if each.name not in known]
    if len(left_over) == len(right_over):
        pairs += zip(left_over, right_over, strict=True)
        left_over, right_over = [], []
    return InspectionChange(
        a=a,
        b=b,
        kernels=tuple(_kernel_change(*pair) for pair in pairs),
        only_in_a=tuple(each.name for each in left_over),
        only_in_b=tuple(each.name for each in right_over),
    )


def _kernel_change(a: KernelReport, b: KernelReport) -> KernelChange:
    return KernelChange(
        a=a.name,
        b=b.name,
        same_code=None if a.code_hash is None or b.code_hash is None else a.code_hash == b.code_hash,
        limiter_a=a.limiter,
        limiter_b=b.limiter,
        figures=tuple(change_of(name, getattr(a, name), getattr(b, name)) for name in FIGURES),
        instructions=_changes(a.instructions, b.instructions),
        hot_loop=_changes(a.hot_loop, b.hot_loop),
    )


def _changes(a: Mapping[str, int] | None, b: Mapping[str, int] | None) -> tuple[Change, ...]:
    """Return the change of each class's count and then of the total; `a` and `b` map instruction class to count. Returns () if
    either is None, i.e. if the instructions of that build were not counted.
    """
    if a is None or b is None:
        return ()
    classes = [*a, *(name for name in b if name not in a)]
    each = tuple(change_of(name, a.get(name, 0), b.get(name, 0)) for name in classes)
    return (*each, change_of("all", sum(a.values()), sum(b.values())))


def change_of(name: str, a: float | None, b: float | None) -> Change:
    """Return the change of one figure from a to b."""
    delta = None if a is None or b is None else b - a
    return Change(name=name, a=a, b=b, delta=delta, percent=100 * delta / a if delta is not None and a else None)
