"""One contest of a tuning: a finalist against the current config, at all shapes of one bucket, by the full verdict."""

from collections.abc import Sequence

from msgspec import Struct

from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.protocol.model import Benchmark, KeepRule
from expctl.domain.tuning.benchmark import with_shapes
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample
from expctl.domain.verdict.sequential_test import Decision, MeasureMore


class Bucket(Struct, frozen=True, kw_only=True):
    """A bucket of a table that is tuned: its file and name, and the shapes of the list that are looked up there (MxNxK)."""

    file: str
    name: str
    shapes: tuple[str, ...]

    @property
    def key(self) -> str:
        """Return a text that names the bucket, such as `DEFAULT.json M_LEQ_16`."""
        return f"{self.file} {self.name}"


class Contest(Struct, frozen=True, kw_only=True):
    """A finalist `config` against what the bucket has now."""

    bucket: Bucket
    config: str

    @property
    def key(self) -> str:
        """Return a text that names the contest."""
        return f"{self.bucket.key} {self.config}"


def plan_for(benchmark: Benchmark, keep: KeepRule, shapes: Sequence[str]) -> Plan:
    """Return the plan by which shapes of equal weight are judged, by the limits of a target's `benchmark` and `keep`."""
    return Plan.of(with_shapes(benchmark, shapes), keep, Mode.GAIN)


def answer_of(samples: Sequence[Sample], plan: Plan) -> Decision | MeasureMore:
    """Return the verdict on `samples` of shapes, or how many more rounds are needed, as for every experiment."""
    return judge(samples, plan, Kind.CONFIG)
