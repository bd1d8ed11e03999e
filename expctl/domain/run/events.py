"""What has happened in a run: the lines of its journal."""

from dataclasses import dataclass

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.record import Artifact, Fact, Waiver
from expctl.domain.verdict.samples import Sample, Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The run was opened: on this baseline, for this target, with these guards, for this content of the proposal.

    `simplify_used_percent` is what the simplifications of the epoch had cost by then, `calibrated` the noise that was known,
    `waivers` the do-not-repeat rules that let the patch pass.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """The candidate is a commit and refs/expctl/<id> points at it."""

    candidate: str
    tree: str
    patch_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A build ended in an artifact."""

    side: Side
    target: str
    artifact: Artifact
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFailed:
    """A build ended without one. `reason` is the compiler's first error."""

    side: Side
    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """The test step of one target ended (of the deciding one where none is named). `fault`: the harness failed, not the
    candidate.
    """

    ok: bool
    fault: bool
    cases: int
    summary: str
    duration_s: float
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One whole round."""

    round: int
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureFailed:
    """The benchmark step failed. `blames_candidate`: its timed outputs were wrong; else the harness or the machine."""

    reason: str
    blames_candidate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiled:
    """What the profile step of one target found for one side, or why it found nothing. It never decides.

    `remark` is about a part that failed; `why`, with the candidate, what made the difference, where the profiles say.
    """

    side: Side
    facts: tuple[Fact, ...]
    failure: str
    duration_s: float
    target: str = ""
    remark: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidated:
    """The machine or the repository changed under the run."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """Intent: the branch is about to move from `head` to `commit`, both of which exist."""

    head: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The branch has moved."""

    commit: str


Event = (
    Begun | Pinned | Built | BuildFailed | Tested | Measured | MeasureFailed | Profiled | Invalidated | Publishing | Published
)
