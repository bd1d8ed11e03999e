"""The events of a run. Each is one line of its journal."""

from msgspec import Struct

from expctl.domain.experiment.control_result import ControlResult
from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.record import Artifact, Fact, Waiver
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.machine.first_run import FirstRun
from expctl.domain.verdict.samples import Sample, Side


class Begun(Struct, frozen=True, kw_only=True):
    """A run was started on the baseline commit `base`.

    `content` is the hash of the proposal; `again` is True for a replication. `guards` are further targets that must build and
    pass their tests, `absent` targets that this machine can't use. `simplify_used_percent` is the sum of the losses by kept
    simplifications in this epoch, `calibrated` the calibrated noise. `waivers` are the reasons why the patch runs although
    do-not-repeat rules match it. `extends`, if not empty, is the commit with the undecided record and the samples that this run
    continues. `device`, if not empty, is the device of a fleet that measures: no other goes on with the run.
    `card`, if not empty, is the only one of the machine's that it is measured on (`gate: cards: own`).
    `kept_by`, if not empty, is the name by whose gain the change was kept beside an older baseline (Plan.kept_by).
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
    device: str = ""
    card: str = ""
    kept_by: str = ""


class Contradicted(Struct, frozen=True, kw_only=True):
    """A second device, which the protocol asks for, did not confirm the gain; `why` is what it has found."""

    why: str


class Noted(Struct, frozen=True, kw_only=True):
    """A sentence on how the run came about that its record has to tell, e.g. which device of a fleet measured."""

    text: str


class Pinned(Struct, frozen=True, kw_only=True):
    """The candidate was committed, and the git ref refs/expctl/<id> was set to that commit."""

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
    """The candidate's test on `target` (empty: the timed one) ended. `fault` means that the harness failed."""

    ok: bool
    fault: bool
    cases: int
    summary: str
    duration_s: float
    target: str = ""


class Measured(Struct, frozen=True, kw_only=True):
    """One complete round was measured, with times of baseline and candidate.

    `control` is what the measuring path has shown before it; only the first round of each process has it. `burn_in` is how the
    burn-in before it ended; only the first round of a confirmation, or one after a break, has it. `first_runs` are those of the
    builds that had filled a compiler's cache before it.
    """

    round: int
    samples: tuple[Sample, ...]
    control: ControlResult | None = None
    burn_in: BurnIn | None = None
    first_runs: tuple[FirstRun, ...] = ()


class MeasureFailed(Struct, frozen=True, kw_only=True):
    """The benchmark failed. `blames_candidate` is True if the candidate's outputs were wrong, False if harness or machine
    failed.
    """

    reason: str
    blames_candidate: bool


class Profiled(Struct, frozen=True, kw_only=True):
    """Baseline or candidate was profiled on one target, with figures (`facts`) or a `failure`. Profiles never decide a verdict.

    `remark` says which part of the profile failed, if one did. `why`, for the candidate, names the likely cause of the
    difference.
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
    """`branch` ("": the one on which the run began) is about to be moved from the commit `head` to the commit `commit`."""

    head: str
    commit: str
    branch: str = ""


class Published(Struct, frozen=True, kw_only=True):
    """The branch was moved to `commit`; the run has ended."""

    commit: str


Event = (
    Begun
    | Noted
    | Contradicted
    | Pinned
    | Built
    | BuildFailed
    | Tested
    | Measured
    | MeasureFailed
    | Profiled
    | Invalidated
    | Publishing
    | Published
)
