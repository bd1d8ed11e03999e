"""Check a kernel at the described shapes and at drawn ones, and shrink the shape that shows a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from expctl.check.case import Case, refusal
from expctl.check.case_file import Description
from expctl.check.findings import Finding
from expctl.check.fuzz import Shapes, drawn_shapes, shrunk
from expctl.check.kernel_file import KernelFile, named
from expctl.check.resolved import BadShapes
from expctl.check.runner import ENDLESS, KernelRunner, Trial
from expctl.domain.text import plain_text
from expctl.gfx11.text.errors import BadLaunch

UNLAUNCHABLE = (BadShapes, BadLaunch)
"""What drawn shapes may raise where described ones don't: they are skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is tried: `orders` of waves and workgroups for each shape, `fuzz_shapes` drawn shapes beside the described one.
    `seed` seeds inputs, orders and shapes. `patience` multiplies the work after which a loop is taken to be endless.
    """

    orders: int = 3
    fuzz_shapes: int = 0
    seed: int = 0
    patience: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The result of a check. `findings` are those at `shapes`: the described ones or, where a fault was shrunk, the smallest
    that show it; then `drawn` are those that showed it first. `notes` are no faults.
    """

    file: str
    kernel: str
    symbol: str
    arch: str
    compiler: str
    orders: int
    seed: int
    launches: int
    shapes: Shapes
    drawn: Shapes | None
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def examine(
    file: KernelFile, description: Description, plan: Plan, kernel: str = "", tell: Callable[[str], None] = lambda _: None
) -> tuple[Examined, Trial]:
    """Launch one kernel of a file at the described shapes, then at drawn ones up to the first that shows a fault, and shrink
    that. Return the result, and the trial at the described shapes. `tell` is called with what is launched next. Raises Refused
    for a description that doesn't fit the kernel, and for code that the interpreter doesn't know.
    """
    case = description.case
    signature = named(file, kernel or case.kernel)
    if plan.fuzz_shapes and not case.vary:
        raise refusal([("vary", "--fuzz-shapes draws shapes in the ranges that stand here, and none does")], description.where)
    runner = KernelRunner(file, description, signature, plan.seed, plan.patience, tell)
    try:
        first = runner.run(case.shapes, plan.orders)
    except BadShapes as error:
        raise refusal(error.problems, description.where, description.line) from error
    found, shapes, notes = (first, case.shapes, first.notes) if first.findings else _fuzzed(runner, case, plan, first)
    drawn = None
    if found.findings and plan.fuzz_shapes and all(each.kind != ENDLESS for each in found.findings):
        drawn, shapes = shapes, shrunk(shapes, case.vary, _shows(runner, found.findings[0]))
        smallest = runner.run(shapes, plan.orders)
        notes, found = (*notes, *_others(found, smallest, drawn)), smallest
    result = Examined(
        file=plain_text(str(file.file)),
        kernel=str(signature.cpp_name),
        symbol=signature.symbol,
        arch=file.arch,
        compiler=file.compiler,
        orders=found.orders,
        seed=plan.seed,
        launches=runner.launches,
        shapes=shapes,
        drawn=drawn,
        findings=found.findings,
        notes=(*runner.notes, *notes),
    )
    return result, first


def _fuzzed(runner: KernelRunner, case: Case, plan: Plan, first: Trial) -> tuple[Trial, Shapes, tuple[str, ...]]:
    """Return the first trial at drawn shapes that shows a fault, those shapes, and notes; else `first`, the described shapes,
    and notes.
    """
    skipped, notes = 0, list(first.notes)
    for drawn in drawn_shapes(case, plan.fuzz_shapes, plan.seed):
        try:
            trial = runner.run(drawn, plan.orders)
        except UNLAUNCHABLE:
            skipped += 1
            continue
        if trial.findings:
            return trial, drawn, tuple(notes)
        if not notes:
            notes = [f"{note} (at {_named(drawn)})" for note in trial.notes]
    if skipped:
        notes.append(f"{skipped} of the drawn shapes can't be launched: an extent, the grid or an argument has no value there")
    return first, case.shapes, tuple(notes)


def _others(shown: Trial, smallest: Trial, shapes: Shapes) -> Iterator[str]:
    """Yield a sentence for the findings `shown` at `shapes` that the smallest shape doesn't have."""
    known = {each.identity for each in smallest.findings}
    others = [each for each in shown.findings if each.identity not in known]
    if others:
        told = [
            f"{each.kind}{f' in {each.array}' if each.array else f' at {each.place}' if each.place else ''}" for each in others
        ]
        yield f"at {_named(shapes)} also: {'; '.join(told)}"


def _named(shapes: Shapes) -> str:
    return ", ".join(f"{name} = {extent}" for name, extent in shapes.items())


def _shows(runner: KernelRunner, finding: Finding) -> Callable[[Shapes], bool]:
    """Return a function that says whether a launch at some shapes has the same finding: its kind, and its lines or array."""

    def shows(shapes: Shapes) -> bool:
        try:
            found = runner.run(shapes, 1 + max(finding.orders)).findings
        except UNLAUNCHABLE:
            return False
        return finding.identity in {each.identity for each in found}

    return shows
