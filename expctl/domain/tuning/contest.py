"""One contest of a tuning: a finalist against the current config, at all shapes of one bucket, by the full verdict."""

from collections.abc import Sequence

from msgspec import Struct

from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.protocol.model import Benchmark, KeepRule, Size
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session
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

    @property
    def sizes(self) -> dict[str, str]:
        """Return what a worker of the candidate is asked for, by shape."""
        return {shape: f"{shape}@{self.config}" for shape in self.bucket.shapes}


def plan_for(benchmark: Benchmark, keep: KeepRule, shapes: Sequence[str]) -> Plan:
    """Return the plan by which shapes of equal weight are judged: that of `benchmark` and `keep`, without rescuers."""
    return Plan.of(with_shapes(benchmark, shapes), keep, Mode.GAIN)


def with_shapes(benchmark: Benchmark, shapes: Sequence[str]) -> Benchmark:
    """Return `benchmark` with these shapes of equal weight as its sizes."""
    weights = [1.0 / len(shapes)] * len(shapes)
    sizes = tuple(Size(name=shape, weight=weight) for shape, weight in zip(shapes, weights, strict=True))
    values = {name: getattr(benchmark, name) for name in Benchmark.__struct_fields__}
    return Benchmark(**{**values, "sizes": sizes})


def answer_of(samples: Sequence[Sample], plan: Plan) -> Decision | MeasureMore:
    """Return the verdict of a contest so far, or how many more rounds it needs, as for every experiment."""
    return judge(samples, plan, Kind.CONFIG) if samples else MeasureMore(rounds_left=3, session=Session.SEARCH)
