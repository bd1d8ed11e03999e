"""An experiment that ended INCONCLUSIVE in a world of fakes, and what may be done with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from expctl.adapters.codec.record_codec import record_bytes
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.model import Benchmark
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.run.experiment import Outcome, run_experiment
from expctl.ports.measuring import Progress
from tests.fakes.measuring import FakeSteps
from tests.fakes.stage import Stage

WILD = 6  # rounds, the most of the protocol's search


@dataclass
class NoisySteps(FakeSteps):
    """The first rounds scatter by `scatter`; later ones differ by `gain`, give or take a little."""

    scatter: float = 0.02
    gain: float = 0.01

    def measure(
        self,
        benchmark: Benchmark,
        *,
        cwd: Path,
        artifacts: Mapping[Side, Sequence[Path]],
        round: int,
        progress: Progress,
        forgives: bool = False,
    ) -> tuple[Sample, ...] | Failed:
        found = super().measure(benchmark, cwd=cwd, artifacts=artifacts, round=round, progress=progress, forgives=forgives)
        if isinstance(found, Failed):
            return found
        sign = 1 if round % 2 else -1
        slower = sign * self.scatter if round < WILD else sign * 0.0001 - self.gain
        return tuple(
            replace(each, ns=tuple(int(ns * (1 + slower)) for ns in each.ns)) if each.side is Side.CANDIDATE else each
            for each in found
        )


@dataclass
class Undecided:
    """A repository with an INCONCLUSIVE P1, its record and the commit that has it."""

    stage: Stage = field(default_factory=lambda: Stage(steps=NoisySteps()))

    def __post_init__(self) -> None:
        self.stage.queue("P1", "slow 999999")
        self.record = self.run().record
        self.head = self.stage.workspace.head()
        assert self.record.verdict is Verdict.INCONCLUSIVE, self.record.reasons

    @property
    def steps(self) -> NoisySteps:
        assert isinstance(self.stage.steps, NoisySteps)
        return self.stage.steps

    def run(self, **options: object) -> Outcome:
        return run_experiment(self.stage.context(), "P1", **options)  # type: ignore[arg-type]

    def file(self, name: str, commit: str = "") -> bytes:
        return self.stage.workspace.commits[commit or self.stage.workspace.head()].files[f"experiments/P1/{name}"]

    def edit_record(self, **changes: object) -> None:
        record = replace(self.record, **changes)
        self.head = self.stage.workspace.edit({"experiments/P1/record.json": record_bytes(record)})

    def stands(self) -> None:
        assert self.stage.workspace.head() == self.head
        assert self.stage.journal.unfinished() == ()
