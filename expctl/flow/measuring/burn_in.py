"""Bring a GPU to a steady clock and temperature before a confirmation, where the protocol asks for that."""

from pathlib import Path

from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.protocol.model import Benchmark
from expctl.ports.context import Context, Tools


def burn_in(context: Context, tools: Tools, benchmark: Benchmark, *, cwd: Path, artifact: Path) -> BurnIn | None:
    """Run the benchmark on the baseline's build `artifact` in `cwd`, uncounted, until the GPU is steady or the protocol's time
    is over. Return how it ended; None without `benchmark.burn_in`.
    """
    if benchmark.burn_in is None:
        return None
    context.progress.working("burn-in", f"the baseline, until the GPU is steady or for {benchmark.burn_in.most_s:g} s")
    found = tools.steps.burn_in(benchmark, cwd=cwd, artifact=artifact, progress=context.progress)
    context.progress.step("burn-in", f"the confirmation begins {found}")
    return found
