"""One round on a machine that is held and watched: measured and timed."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from expctl.domain.protocol.model import Benchmark
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side, round_effects
from expctl.ports.context import Context, Tools


def measure_round(
    context: Context, equipment: Tools, benchmark: Benchmark, *, cwd: Path, artifacts: Mapping[Side, Path], number: int
) -> tuple[Sample, ...] | Failed:
    """The samples of round `number`; what foreign work disturbed is tainted. Raises Busy when the machine stays noisy."""
    started = context.clock.monotonic_s()
    samples = equipment.steps.measure(benchmark, cwd=cwd, artifacts=artifacts, round=number, progress=context.progress)
    if isinstance(samples, Failed):
        return samples
    round_effects(samples)  # a malformed round is our bug, found here rather than when deciding
    ms = round(1000 * (context.clock.monotonic_s() - started))
    return tuple(replace(each, round_ms=ms) for each in samples)
