"""Run a kernel at given shapes in several orders of its waves and workgroups, and collect what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from expctl.check.buffers import Values, values_for
from expctl.check.case import Case, Role, refusal
from expctl.check.case_file import Description
from expctl.check.dtypes import values_of
from expctl.check.findings import Finding, FindingLog
from expctl.check.fit import guessed, misfits
from expctl.check.judge import changed_inputs, differing_orders, unexpected_outputs, unwritten_outputs, wrong_results
from expctl.check.kernel_file import KernelFile, Signature, lds_variables, short_name, text_of
from expctl.check.places import Places
from expctl.check.reference import expected_outputs
from expctl.check.resolved import Launch, resolve
from expctl.check.struct_layout import kernel_arguments
from expctl.gfx11.launch import Interpretation, Kernel, launch, load
from expctl.gfx11.machine.faults import Fault, FaultKind
from expctl.gfx11.text.errors import BadLaunch, Runaway, Unsupported

MOST_INSTRUCTIONS = 3_000_000
"""Instructions after which a wave is taken to be in an endless loop."""
MOST_WORK = 30_000_000
"""Work (Block.work) after which a workgroup is taken to be in an endless loop: from twenty seconds to minutes."""
ENDLESS = "endless loop"
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The findings and notes of one launch in several orders, and the outputs of the first order."""

    findings: tuple[Finding, ...]
    orders: int
    """How many were tried: after an endless loop no others."""
    notes: tuple[str, ...] = ()
    outputs: dict[str, Any] = field(default_factory=dict)
    written: Mapping[str, Any] = field(default_factory=dict)
    """Which elements of the arrays were written; empty beside findings."""


class KernelRunner:
    """A kernel with a description that fits it, ready to be launched at any shapes; `launches` counts its launches, `notes` are
    about all of them. `tell` is called with the order and the shapes before each launch. Raises Refused for a description that
    doesn't fit, and for code that the interpreter doesn't know.
    """

    def __init__(
        self,
        file: KernelFile,
        description: Description,
        kernel: Signature,
        seed: int,
        patience: int = 1,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._tell = tell
        self._description, self._signature, self._seed, self._patience = description, kernel, seed, patience
        if problems := list(misfits(self._case, kernel)):
            raise refusal(problems, description.where, description.line)
        self._places = Places(file.assembly, file.file)
        self._kernel = self._loaded(file)
        self._lds = cache(lambda: lds_variables(file, kernel))
        self.notes = (*file.notes, *guessed(self._case, kernel))
        self._begin = self._places.of_function(kernel.symbol, short_name(kernel))
        self.launches = 0

    @property
    def _case(self) -> Case:
        return self._description.case

    def run(self, shapes: Mapping[str, int], orders: int) -> Trial:
        """Launch the kernel at `shapes` in `orders` orders. Raises BadShapes, and Refused if the reference fails."""
        at = resolve(self._case, shapes)
        values = values_for(self._case, at, self._seed)
        expected = expected_outputs(self._description, values, at)
        log = FindingLog(case=self._case, launch=at, places=self._places, lds=self._lds)
        done: list[Interpretation] = []
        for order in range(orders):
            named = (f"{name} = {value}" for name, value in at.shapes.items())
            self._tell(", ".join([f"order {order + 1} of {orders}", *named]))
            if (run := self._run(at, values, order, log, expected)) is None:
                break
            done.append(run)
        if log.found:
            tried = min(len(done) + 1, orders)
            return Trial(findings=log.all(), orders=tried, outputs=self._outputs(done[0]) if done else {})
        notes = [*unwritten_outputs(self._case, done[0]), *differing_orders(self._case, expected, done)]
        if self._description.reference is not None:
            notes += unexpected_outputs(self._case, expected)
        outputs = self._outputs(done[0])
        return Trial(findings=(), orders=orders, notes=tuple(notes), outputs=outputs, written=done[0].written)

    def interpreted(self, shapes: Mapping[str, int]) -> Interpretation:
        """Launch the kernel once at `shapes`. Raises BadShapes, and Runaway for a wave that goes on without an end."""
        at = resolve(self._case, shapes)
        values = values_for(self._case, at, self._seed)
        return self._launched(at, kernel_arguments(self._case, self._signature, at, values), 0)

    def _launched(self, at: Launch, arguments: Mapping[str, Any], order: int) -> Interpretation:
        try:
            return launch(
                self._kernel, at.grid, at.block, arguments, order_seed=self._seed + order, dynamic_lds_bytes=at.dynamic_lds,
                most_instructions=MOST_INSTRUCTIONS * self._patience, most_work=MOST_WORK * self._patience,
            )  # fmt: skip
        except BadLaunch as error:
            error.where = error.where or self._description.where
            raise

    def _run(
        self, at: Launch, values: Values, order: int, log: FindingLog, expected: Mapping[str, Any]
    ) -> Interpretation | None:
        """Launch the kernel in one order and log what is wrong; None if it didn't end. After a trap no result counts."""
        self.launches += 1
        arguments = kernel_arguments(self._case, self._signature, at, values)
        try:
            found = self._launched(at, arguments, order)
        except Runaway as error:
            for fault in error.faults:
                log.fault(
                    order, fault.kind, fault.line, fault.other_line, fault.what, (fault.workgroup, fault.wave, fault.threads)
                )
            (line,), (done, _) = _NUMBER.findall(error.where), _NUMBER.findall(error.found)
            what = f"a wave goes on after {done} instructions: it loops, or waits for another wave"
            advice = f"if it is only long, try --patience {10 * self._patience}"
            log.fault(order, ENDLESS, int(line), 0, f"{what}; {advice}")
            return None
        faults = found.faults
        if stops := [each for each in faults if each.kind is FaultKind.TRAP]:
            faults = tuple(each for each in faults if each.kind is not FaultKind.DIVERGED)
        for fault in faults:
            _log(log, order, fault)
        verdicts = () if stops else (*changed_inputs(self._case, values, found), *wrong_results(self._case, expected, found))
        for verdict in verdicts:
            log.array(order, verdict.kind, verdict.array, verdict.what, self._begin)
        return found

    def _outputs(self, found: Interpretation) -> dict[str, Any]:
        outputs = [each for each in self._case.arguments if each.is_array and each.role is not Role.IN]
        return {each.name: values_of(found.outputs[each.name], each.dtype) for each in outputs}

    def _loaded(self, file: KernelFile) -> Kernel:
        try:
            return load(text_of(file), self._signature.symbol)
        except Unsupported as error:
            place = self._places.of(error.line) if self._places.has_lines else None
            error.where = f"{place} ({error.where})" if place else error.where
            raise


def _log(log: FindingLog, order: int, fault: Fault) -> None:
    log.fault(order, fault.kind, fault.line, fault.other_line, fault.what, (fault.workgroup, fault.wave, fault.threads))
