"""One tuning of one target: what it works with, and the journal by which it goes on after a kill."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol as Port
from typing import TypeVar

from expctl.domain.errors import Interrupted, Refused
from expctl.domain.experiment.record import Artifact
from expctl.domain.patch.sweep import Combination
from expctl.domain.protocol.model import Benchmark
from expctl.domain.protocol.tune import Tune
from expctl.domain.run.step_result import Failed
from expctl.domain.tuning.events import Shot, TuneEvent, TuningBegun
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.measuring.setup import Setup
from expctl.ports.proposers import Search

E = TypeVar("E")
Searching = Callable[[Tune, Sequence[Combination]], Search]
"""Returns the search over configs that a protocol's rule names."""


class TuneJournal(Port):
    """Keeps the events of unfinished tunings on disk, in order."""

    def unfinished(self) -> tuple[str, ...]: ...  # noqa: D102 - as the journal of runs
    def read(self, experiment: str) -> tuple[TuneEvent, ...]: ...  # noqa: D102 - as above
    def append(self, experiment: str, event: TuneEvent) -> None: ...  # noqa: D102 - as above
    def forget(self, experiment: str) -> None: ...  # noqa: D102 - as above


@dataclass(slots=True, kw_only=True)
class Session:
    """A tuning under way: the build of both sides, the configs that passed the gate, and the events so far."""

    setup: Setup
    rule: Tune
    shapes: tuple[str, ...]
    journal: TuneJournal
    key: str
    asked: str
    begun: TuningBegun
    search: Searching
    cwd: Path
    artifact: Artifact
    layouts: tuple[Path, ...]
    events: list[TuneEvent] = field(default_factory=list)
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    """Of all rounds so far, by the key of what they belong to."""

    def __post_init__(self) -> None:
        for event in self.journal.read(self.key):
            self._take(event)

    def add(self, event: TuneEvent) -> None:
        """Keep an event, on disk before anything follows from it."""
        self.journal.append(self.key, event)
        self._take(event)

    def _take(self, event: TuneEvent) -> None:
        self.events.append(event)
        for key, samples in event.samples.items() if isinstance(event, Shot) else ():
            self.samples.setdefault(key, []).extend(samples)

    def all(self, kind: type[E]) -> Iterator[E]:
        """Return the events of one type, in order."""
        return (event for event in self.events if isinstance(event, kind))

    def rounds(self, key: str) -> int:
        """Return how many rounds of one thing were measured."""
        return len({sample.round for sample in self.samples.get(key, ())})

    def round(self, benchmark: Benchmark, number: int) -> tuple[Sample, ...]:
        """Measure one round. Raises Refused if the benchmark fails, Busy if the machine stays noisy, Interrupted on a stop."""
        context = self.setup.context
        if context.stop_requested():
            raise Interrupted("the tuning was stopped; the same command goes on from there")
        sides = dict.fromkeys(Side, self.layouts)
        found = measure_round(context, self.setup.tools, benchmark, cwd=self.cwd, artifacts=sides, number=number)
        if isinstance(found, Failed):
            raise Refused(
                f"the benchmark of {self.setup.name} could not time what a tuning asks for",
                code="tune-benchmark-failed",
                expected="a script that times a size such as 64x512x128@1,8,2,2,8,2, of the configs in the build",
                found=found.reason,
                hint="docs/TUNE.md says what is asked; correct tune.configs in protocol.yaml, or the script, and commit",
            )
        return found

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Hold the quiet machine; no worker is left afterwards."""
        self.setup.context.progress.working("gate", "waiting for a quiet machine")
        with self.setup.tools.gate.measuring(self.setup.target):
            try:
                yield
            finally:
                self.setup.tools.steps.close()

    def told(self, name: str, text: str, seconds: float = 0.0) -> None:
        """Print one step."""
        self.setup.context.progress.step(name, text, round(seconds, 3))
