"""Measure one round: both builds, interleaved, on a locked machine that is watched for other processes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from expctl.domain.protocol.model import Benchmark
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side, round_effects
from expctl.ports.context import Context, Tools


def measure_round(
    context: Context,
    tools: Tools,
    benchmark: Benchmark,
    *,
    cwd: Path,
    artifacts: Mapping[Side, Sequence[Path]],
    number: int,
    forgives: bool = False,
) -> tuple[Sample, ...] | Failed:
    """Run the benchmark in `cwd` on both builds, interleaved; return the samples of round `number`.

    `artifacts` has the files of each side's layouts. A sample that a foreign process disturbed says so in `taints`. Returns
    Failed if the benchmark fails; if `forgives`, not for wrong results of the candidate. Raises Busy if others disturb it.
    """
    started = context.clock.monotonic_s()
    samples = tools.steps.measure(
        benchmark, cwd=cwd, artifacts=artifacts, round=number, progress=context.progress, forgives=forgives
    )
    if isinstance(samples, Failed):
        return samples
    round_effects(samples)  # raises MalformedRound now rather than when deciding
    ms = round(1000 * (context.clock.monotonic_s() - started))
    return tuple(replace(each, round_ms=ms) for each in samples)
