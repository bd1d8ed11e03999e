"""The events of a run. Each is one line of its journal."""

from msgspec import Struct

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.record import Artifact, Fact, Waiver
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.verdict.samples import Sample, Side


class Begun(Struct, frozen=True, kw_only=True):
    """A run was started on the baseline commit `base`. `content` is the hash of the proposal; `again`: it is a replication.

    `guards` are further targets that must build and pass their tests, `absent` targets that this machine can't use.
    `simplify_used_percent` is the sum of comparable losses by kept simplifications, `calibrated` the known noise, `waivers`
    say why do-not-repeat rules that match the patch let it run. `extends` is the commit with the undecided record and its
    samples that this run goes on from (empty: none).
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
    extends: str = ""


class Pinned(Struct, frozen=True, kw_only=True):
    """The candidate was committed, and the git ref refs/expctl/<id> points to it."""

    candidate: str
    tree: str
    patch_id: str


class Built(Struct, frozen=True, kw_only=True):
    """Baseline or candidate was built for one target."""

    side: Side
    target: str
    artifact: Artifact
    duration_s: float


class BuildFailed(Struct, frozen=True, kw_only=True):
    """Baseline or candidate could not be built for one target; `reason` is the compiler's first error."""

    side: Side
    target: str
    reason: str


class Tested(Struct, frozen=True, kw_only=True):
    """The candidate's test on `target` (empty: the timed one) ended. `fault`: the harness failed, not the candidate."""

    ok: bool
    fault: bool
    cases: int
    summary: str
    duration_s: float
    target: str = ""


class Measured(Struct, frozen=True, kw_only=True):
    """One complete round was measured, with times of baseline and candidate; `burn_in`: after a burn-in that ended so."""

    round: int
    samples: tuple[Sample, ...]
    burn_in: BurnIn | None = None


class MeasureFailed(Struct, frozen=True, kw_only=True):
    """The benchmark failed. `blames_candidate`: the candidate's outputs were wrong; otherwise harness or machine failed."""

    reason: str
    blames_candidate: bool


class Profiled(Struct, frozen=True, kw_only=True):
    """Baseline or candidate was profiled on one target, with figures (`facts`) or a `failure`. Profiles never decide a verdict.

    `remark` is about a part of the profile that failed. `why`, for the candidate, explains the difference to the baseline.
    """

    side: Side
    facts: tuple[Fact, ...]
    failure: str
    duration_s: float
    target: str = ""
    remark: str = ""
    why: str = ""


class Invalidated(Struct, frozen=True, kw_only=True):
    """The machine or the repository changed during the run, so it ends as INVALID."""

    reason: str


class Publishing(Struct, frozen=True, kw_only=True):
    """The branch is about to move from the commit `head` to `commit`, both of which exist."""

    head: str
    commit: str


class Published(Struct, frozen=True, kw_only=True):
    """The branch was moved to `commit`; the run has ended."""

    commit: str


Event = (
    Begun | Pinned | Built | BuildFailed | Tested | Measured | MeasureFailed | Profiled | Invalidated | Publishing | Published
)
