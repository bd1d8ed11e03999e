"""The events of a run: the lines of its journal."""

from msgspec import Struct

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.record import Artifact, Fact, Waiver
from expctl.domain.verdict.samples import Sample, Side


class Begun(Struct, frozen=True, kw_only=True):
    """A run was opened on a baseline (`base`). `content` is the hash of the proposal's files, `again` marks a replication.

    `simplify_used_percent` is the cost of the epoch's simplifications so far, `calibrated` the known noise, `waivers` the
    do-not-repeat rules that let the patch pass.
    """

    id: str
    target: str
    guards: tuple[str, ...]
    absent: tuple[str, ...]
    base: str
    branch: str
    content: str
    again: bool
    date: str
    simplify_used_percent: float = 0.0
    calibrated: Calibrated | None = None
    waivers: tuple[Waiver, ...] = ()


class Pinned(Struct, frozen=True, kw_only=True):
    """The candidate was committed, and refs/expctl/<id> points to it."""

    candidate: str
    tree: str
    patch_id: str


class Built(Struct, frozen=True, kw_only=True):
    """A build succeeded."""

    side: Side
    target: str
    artifact: Artifact
    duration_s: float


class BuildFailed(Struct, frozen=True, kw_only=True):
    """A build failed. `reason` is the compiler's first error."""

    side: Side
    target: str
    reason: str


class Tested(Struct, frozen=True, kw_only=True):
    """The test step of one target ended (of the deciding one where none is named).

    `fault`: the harness failed, not the candidate.
    """

    ok: bool
    fault: bool
    cases: int
    summary: str
    duration_s: float
    target: str = ""


class Measured(Struct, frozen=True, kw_only=True):
    """One complete round was measured."""

    round: int
    samples: tuple[Sample, ...]


class MeasureFailed(Struct, frozen=True, kw_only=True):
    """The benchmark step failed. `blames_candidate`: the candidate's outputs were wrong; else the harness or machine failed."""

    reason: str
    blames_candidate: bool


class Profiled(Struct, frozen=True, kw_only=True):
    """The profile step of one target ended for one side, with facts or a failure. It never decides.

    `remark` is about a part of the step that failed. The candidate's event explains in `why` the difference to the baseline.
    """

    side: Side
    facts: tuple[Fact, ...]
    failure: str
    duration_s: float
    target: str = ""
    remark: str = ""
    why: str = ""


class Invalidated(Struct, frozen=True, kw_only=True):
    """The machine or the repository changed during the run."""

    reason: str


class Publishing(Struct, frozen=True, kw_only=True):
    """The branch is about to move from `head` to `commit`, both of which exist."""

    head: str
    commit: str


class Published(Struct, frozen=True, kw_only=True):
    """The branch has moved."""

    commit: str


Event = (
    Begun | Pinned | Built | BuildFailed | Tested | Measured | MeasureFailed | Profiled | Invalidated | Publishing | Published
)
