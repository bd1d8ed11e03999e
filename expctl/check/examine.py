"""Run a kernel in several orders of its waves and workgroups, at one shape or many, and collect what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expctl.check.buffers import Values, values_for
from expctl.check.case import Case, Reference, Role, refusal
from expctl.check.case_file import Description, failed
from expctl.check.dtypes import values_of
from expctl.check.findings import Finding, FindingLog
from expctl.check.fit import misfits
from expctl.check.fuzz import Shapes, drawn_shapes, shrunk
from expctl.check.judge import changed_inputs, differing_orders, unwritten_outputs, wrong_results
from expctl.check.kernel_file import KernelFile, Signature, named, short_name
from expctl.check.places import Places
from expctl.check.resolved import BadShapes, Launch, resolve
from expctl.domain.errors import Refused
from expctl.domain.text import plain_text
from expctl.gfx11.launch import Interpretation, Kernel, launch, load
from expctl.gfx11.text.errors import Runaway, Unsupported

MOST_INSTRUCTIONS = 3_000_000
"""Instructions after which a wave is taken to be in an endless loop."""
ENDLESS = "endless loop"
_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is tried: `orders` of waves and workgroups for each shape, `fuzz_shapes` drawn shapes beside the described one.
    `seed` seeds inputs, orders and shapes.
    """

    orders: int = 3
    fuzz_shapes: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The result of a check. `findings` are of the launch at `shapes`; where a drawn shape showed a fault, these are the
    smallest that show it, and `drawn` is the shape that showed it first. `notes` are no faults.
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


@dataclass(slots=True, kw_only=True)
class Shot:
    """One launch in several orders: its findings, notes, and the outputs of the first order."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    outputs: dict[str, Any] = field(default_factory=dict)


class Examination:
    """A kernel with a description that fits it, ready to be launched at any shapes. Raises Refused for one that doesn't, and
    for code that the interpreter doesn't know.
    """

    def __init__(self, file: KernelFile, description: Description, plan: Plan, kernel: str = "") -> None:
        self.file, self.description, self.plan = file, description, plan
        self.case: Case = description.case
        self.signature: Signature = named(file, kernel or self.case.kernel)
        if problems := list(misfits(self.case, self.signature)):
            raise refusal(problems, description.where, description.line)
        self.places = Places(file.assembly, file.file)
        self.kernel = self._loaded()
        self.launches = 0

    def examine(self) -> tuple[Examined, Shot]:
        """Launch the kernel at the described shapes, then at drawn ones up to the first that shows a fault, and shrink that.
        Return the result, and the launch at the described shapes.
        """
        case, plan = self.case, self.plan
        try:
            first = self.shoot(case.shapes)
        except BadShapes as error:
            raise refusal(error.problems, self.description.where, self.description.line) from error
        found, shapes, notes = first, case.shapes, list(first.notes)
        skipped = 0
        for drawn in drawn_shapes(case, plan.fuzz_shapes, plan.seed) if not first.findings else ():
            try:
                found, shapes = self.shoot(drawn), drawn
            except BadShapes:
                skipped += 1
            if found.findings:
                break
        if skipped:
            notes.append(
                f"{skipped} of the drawn shapes can't be launched: an extent, the grid or an argument has no value there"
            )
        drawn_first = None
        if found.findings and plan.fuzz_shapes and case.vary:
            smallest = shrunk(shapes, case.vary, self._shows(found.findings))
            drawn_first, shapes, found = shapes, smallest, self.shoot(smallest)
        result = Examined(
            file=plain_text(str(self.file.file)),
            kernel=str(self.signature.cpp_name),
            symbol=self.signature.symbol,
            arch=self.file.arch,
            compiler=self.file.compiler,
            orders=plan.orders,
            seed=plan.seed,
            launches=self.launches,
            shapes=shapes if found.findings else case.shapes,
            drawn=drawn_first,
            findings=found.findings,
            notes=tuple(notes),
        )
        return result, first

    def shoot(self, shapes: Mapping[str, int], orders: int = 0) -> Shot:
        """Launch the kernel at `shapes` in `orders` orders (0: those of the plan). Raises BadShapes."""
        at = resolve(self.case, shapes)
        values = values_for(self.case, at, self.plan.seed)
        expected = self._expected(values, at)
        log = FindingLog(case=self.case, launch=at, places=self.places)
        runs = [self._run(at, values, order, log, expected) for order in range(orders or self.plan.orders)]
        done = [run for run in runs if run is not None]
        if not done:
            return Shot(findings=log.all())
        quiet = not log.found
        notes = [*unwritten_outputs(self.case, done[0])] if quiet else []
        notes += differing_orders(self.case, done) if quiet and not expected else []
        return Shot(findings=log.all(), notes=tuple(notes), outputs=self._outputs(done[0]))

    def _run(
        self, at: Launch, values: Values, order: int, log: FindingLog, expected: Mapping[str, Any]
    ) -> Interpretation | None:
        """Launch the kernel in one order and log what is wrong; None if it didn't end."""
        self.launches += 1
        try:
            found = launch(
                self.kernel, at.grid, at.block, values, order_seed=self.plan.seed + order, dynamic_lds_bytes=at.dynamic_lds,
                most_instructions=MOST_INSTRUCTIONS,
            )  # fmt: skip
        except Runaway as error:
            what = f"a wave goes on after {MOST_INSTRUCTIONS} instructions: it loops, or waits for another wave"
            log.fault(order, ENDLESS, int(_LINE.findall(error.where)[0]), 0, what)
            return None
        for fault in found.faults:
            log.fault(order, fault.kind, fault.line, fault.other_line, fault.what)
        begin = self.places.of_function(self.signature.symbol, short_name(self.signature))
        for verdict in (*changed_inputs(self.case, values, found), *wrong_results(self.case, expected, found)):
            log.array(order, verdict.kind, verdict.array, verdict.what, begin)
        return found

    def _shows(self, findings: tuple[Finding, ...]) -> Any:
        """Return a function that says whether a launch at some shapes has a fault of the first one's kind and place."""

        def same(each: Finding) -> tuple[str, str]:
            return each.kind, str(each.place)

        def shows(shapes: Shapes) -> bool:
            try:
                return same(findings[0]) in map(same, self.shoot(shapes, 1 + max(findings[0].orders)).findings)
            except BadShapes:
                return False

        return shows

    def _expected(self, values: Values, at: Launch) -> dict[str, Any]:
        """Return what the reference expects; nothing without one. Raises Refused if it fails or its arrays don't fit."""
        if self.description.reference is None:
            return {}
        arrays = {
            each.name: values_of(value, each.dtype)
            for each in self.case.arguments
            if isinstance(value := values[each.name], np.ndarray)
        }
        found = _called(self.description.reference, arrays, at, self.description)
        return {name: self._fitting(name, array, at) for name, array in found.items()}

    def _fitting(self, name: str, array: Any, at: Launch) -> Any:
        wanted = at.extents.get(name) if name in {x.name for x in self.case.arguments if x.role is not Role.IN} else None
        given = np.asarray(array)
        if wanted is None or given.size != np.prod(wanted, dtype=int):
            raise Refused(
                f"what the reference expects of {plain_text(str(name))} fits no output of the kernel",
                code="reference-misfits",
                expected=f"{list(wanted)} elements" if wanted is not None else "the name of an array that is out or inout",
                found=f"an array of {list(given.shape)}",
                where=self.description.where,
                hint="return a dict from names of outputs to arrays of their shapes",
            )
        return given.reshape(wanted)

    def _outputs(self, found: Interpretation) -> dict[str, Any]:
        outputs = [each for each in self.case.arguments if each.is_array and each.role is not Role.IN]
        return {each.name: values_of(found.outputs[each.name], each.dtype) for each in outputs}

    def _loaded(self) -> Kernel:
        if not self.file.assembly:
            raise Refused(
                "a code object can't be interpreted: there is no disassembler here",
                code="code-object-without-text",
                expected="its assembly, as NAME.s or NAME.amdgcn beside it",
                found="machine code alone",
                where=plain_text(str(self.file.file)),
                hint="give the source, or the text that clang -S or Triton wrote",
            )
        try:
            return load(self.file.assembly, self.signature.symbol)
        except Unsupported as error:
            place = self.places.of(error.line) if self.places.has_lines else None
            error.where = f"{place} ({error.where})" if place else error.where
            raise


def _called(reference: Reference, arrays: dict[str, Any], at: Launch, description: Description) -> Mapping[str, Any]:
    if description.path is None:
        return reference(arrays, dict(at.shapes))
    try:
        return dict(reference(arrays, dict(at.shapes)))
    except Exception as error:
        raise failed(error, description.path, description.where) from error


def examine(file: KernelFile, description: Description, plan: Plan, kernel: str = "") -> tuple[Examined, Shot]:
    """Check one kernel of a file; see Examination."""
    return Examination(file, description, plan, kernel).examine()
