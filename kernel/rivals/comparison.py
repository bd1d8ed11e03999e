"""Compares the formulations at one size: makes each, checks it, times all in turns, lists their kernels."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch._inductor.config as inductor

from kernel.operator.launches import config_on
from kernel.rivals import listing, timing
from kernel.rivals.autotune import Backend, Tuning, noted
from kernel.rivals.formulations import LIBRARY_PRODUCT, MAX_AUTOTUNE, Formulation, Product, Role, formulations
from kernel.rivals.listing import Listing
from kernel.rivals.operands import OperandSet, Size, cast_bytes, draw, relative_error, work_dtype
from kernel.runtime.library import format_config

SEED = 7
MOST_ERROR = 0.01
"""Relative L2 error beyond which a formulation computes something else."""


@dataclass(slots=True)
class Entry:
    """One formulation at one size, as docs/RIVALS.md says: ns of a product in each turn, or why there are none."""

    name: str
    role: Role
    ns: list[float] = field(default_factory=list)
    absent: str = ""
    rel_l2: float | None = None
    config: str = ""
    listing: Listing | None = None
    remark: str = ""
    cast_bytes: int = 0
    chosen: str = ""
    backends: list[Backend] = field(default_factory=list)
    tried_us: dict[str, float] = field(default_factory=dict)
    code_objects: dict[str, list[str]] = field(default_factory=dict)

    def note(self, tuning: Tuning) -> None:
        """Take over what was noted while the product was compiled."""
        self.chosen, self.backends, self.tried_us = tuning.chosen, tuning.backends(), tuning.tried_us


class Comparison:
    """All formulations on one device. Profiles go to the folder `out`; other processes help by `script` with `words`."""

    def __init__(self, device: torch.device, out: Path, script: Path, words: Sequence[str]) -> None:
        self._device, self._work, self._out = device, work_dtype(device), out
        self._script, self._words = script, tuple(words)

    def at(self, size: Size, rounds: int) -> list[Entry]:
        """Compare at `size`. A formulation that can't be made, or that computes something else, says why in `absent`."""
        torch._dynamo.reset()  # each size is compiled for itself
        sets = draw(size, self._device, SEED)
        entries = [Entry(each.name, each.role) for each in formulations()]
        made: dict[str, tuple[Product, timing.Turn]] = {}
        for formulation, entry in zip(formulations(), entries, strict=True):
            try:
                made[entry.name] = self._made(formulation, entry, size, sets)
            except RuntimeError as error:
                entry.absent = _first_line(error)
        times = timing.rounds({name: turn for name, (_, turn) in made.items()}, rounds, SEED)
        for number, entry in enumerate(entries):
            if not entry.absent:
                entry.ns = times[entry.name]
                self._list(entry, made[entry.name][0], sets, size, f"{size.name.replace(' ', '_')}.{number}")
        return entries

    def only(self, name: str, size: Size) -> None:
        """Compute the products of the formulation `name`, for a profiler that runs this process."""
        sets = draw(size, self._device, SEED)
        (formulation,) = (each for each in formulations() if each.name == name)
        listing.passes(formulation.make(size, self._device, self._work), sets)
        torch.cuda.synchronize()

    def _made(
        self, formulation: Formulation, entry: Entry, size: Size, sets: Sequence[OperandSet]
    ) -> tuple[Product, timing.Turn]:
        with noted(formulation.mode == MAX_AUTOTUNE) as tuning, inductor.patch({"cpp.enable_kernel_profile": True}):
            product = formulation.make(size, self._device, self._work)
            found = product(sets[0])
        if formulation.mode:
            entry.note(tuning)
        if formulation.role is Role.OURS:
            entry.config = format_config(config_on(self._device, size.m, size.n, size.k))
        else:
            by_itself = cast_bytes(size, self._work, result=not formulation.mode)
            entry.cast_bytes = 0 if formulation.role is Role.WALL else by_itself
        if formulation.is_whole:
            entry.rel_l2 = relative_error(found, sets[0])
            if not entry.rel_l2 <= MOST_ERROR:
                raise RuntimeError(f"computes something else: relative L2 error {entry.rel_l2:.2g}")
        turn = timing.WallTurn if self._device.type == "cpu" else timing.GraphTurn
        return product, turn(product, sets)

    def _list(self, entry: Entry, product: Product, sets: Sequence[OperandSet], size: Size, folder: str) -> None:
        if self._device.type == "cpu":
            entry.listing = listing.on_cpu(product, sets)
            return
        words = [*self._words, "--sizes", size.text, "--only", entry.name]
        products = listing.PASSES * len(sets)
        entry.listing = _listed(entry, lambda: listing.by_rocprof(self._script, words, self._out, folder, products)) or _listed(
            entry, lambda: listing.on_gpu(product, sets, self._out, folder)
        )
        if entry.name == LIBRARY_PRODUCT and torch.version.hip is None:
            self._find_code_objects(entry, size)

    def _find_code_objects(self, entry: Entry, size: Size) -> None:
        """Ask in a process of its own: the driver is called in ways that torch doesn't use."""
        argv = [sys.executable, str(self._script), *self._words, "--sizes", size.text, "--code-objects"]
        try:
            *_, last = listing.process(argv).splitlines()
            entry.code_objects = json.loads(last)
        except (RuntimeError, ValueError) as error:
            entry.remark = f"the driver doesn't say what lies beside its kernel: {error}"


def _first_line(error: RuntimeError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


def _listed(entry: Entry, how: Callable[[], Listing | None]) -> Listing | None:
    """Return the listing that `how` makes; where it fails, None, and a remark in `entry`."""
    try:
        return how()
    except RuntimeError as error:
        entry.remark = _first_line(error)
        return None
