"""Splits a profile step into several commands, because the counters may not fit into one pass of the profiler."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from expctl.domain.protocol.step import Step

ROCPROF, NCU = "rocprofv3", "ncu"
COUNTERS_PER_PASS = 6
"""Limit of rocprofv3: it refuses a pass with more counters of one hardware block than that has registers."""
COUNTER = re.compile(r"[A-Za-z][A-Za-z0-9_.:]*")
SUMMARIES = ("--stats", "-S", "--summary")


def profiler_of(step: Step) -> str:
    """Return the profiler that the step's command starts, `rocprofv3` or `ncu`; empty for any other command."""
    name = PurePath(step.argv[0]).name if step.argv else ""
    return name if name in (ROCPROF, NCU) else ""


def passes_of(step: Step) -> tuple[Step, ...]:
    """Split a profile step into one step per pass: for rocprofv3 one without counters, then one per six counters. For ncu it is
    a single step with all counters.
    """
    profiler, plain = profiler_of(step), replace(step, counters=())
    if not step.counters or not profiler:
        return (plain,)
    if profiler == NCU:
        return (replace(plain, argv=(step.argv[0], "--metrics", ",".join(step.counters), *step.argv[1:])),)
    own, command = _split(step.argv)
    kept = [word for word in own[1:] if word not in SUMMARIES]
    groups = [step.counters[i : i + COUNTERS_PER_PASS] for i in range(0, len(step.counters), COUNTERS_PER_PASS)]
    return (plain, *(replace(plain, argv=(own[0], "--pmc", *group, *kept, *command)) for group in groups))


def counter_faults(step: Step) -> list[str]:
    """Return one sentence for each mistake in the `counters` of a profile step."""
    if not step.counters:
        return []
    found = [
        f"counters: expected the name of a counter such as SQ_WAVES, found {each!r}"
        for each in step.counters
        if not COUNTER.fullmatch(each)
    ]
    if not profiler_of(step):
        found.append(f"counters: expected {ROCPROF} or {NCU} as the first word of argv, found {' '.join(step.argv[:1])!r}")
    elif profiler_of(step) == ROCPROF and "--" not in step.argv:
        found.append(f"counters: expected '--' in argv, between the options of {ROCPROF} and the profiled command")
    return found


def _split(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split a command at `--` into the profiler and its options, and the profiled command, which begins with that `--`."""
    at = argv.index("--")
    return argv[:at], argv[at:]
