"""Results of an audit: measured comparisons between commits of one epoch, against the effects recorded for them."""

from msgspec import Struct, field

from expctl.domain.experiment.findings import audit_opening
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE, Estimate
from expctl.domain.history.kept_changes import Promise

NAMED_MAX = 12


class CommitComparison(Struct, frozen=True, kw_only=True):
    """Commit `after` measured against commit `before`. Without a verdict, `note` says why nothing was measured."""

    before: str
    after: str
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    note: str = ""

    @property
    def fault(self) -> str:
        """Why the comparison shows nothing about the two commits; empty when it shows something."""
        if self.verdict is None:
            return self.note
        return self.reasons[0] if self.verdict is Verdict.INVALID else ""

    @property
    def undecided(self) -> bool:
        """Was the comparison measured and stayed undecided?"""
        return not self.fault and self.verdict not in (Verdict.KEEP, Verdict.REJECT)

    @property
    def objective(self) -> Estimate | None:
        """The effect on the weighted objective, if it was measured."""
        return next((each for each in self.estimates if each.size == OBJECTIVE), None)


class LeftOut(Struct, frozen=True, kw_only=True):
    """HEAD compared with HEAD without one kept change: what that change still gains."""

    name: str
    title: str
    promise: Promise | None
    contest: CommitComparison


class Probe(Struct, frozen=True, kw_only=True):
    """One step of a bisection: did the kept changes after the first `layers` lose the gain that their records promise?"""

    layers: int
    promise: Promise
    lost: bool
    contest: CommitComparison


class Bisection(Struct, frozen=True, kw_only=True):
    """A search for the kept change at which a recorded gain was lost: `culprit`, empty where none was found.

    `own` compares the culprit with the state before it. `stopped` says why the search ended without an answer: a state that
    can't be measured is neither good nor bad.
    """

    probes: tuple[Probe, ...]
    culprit: str = ""
    title: str = ""
    commit: str = ""
    promise: Promise = field(default_factory=Promise)
    own: CommitComparison | None = None
    stopped: str = ""

    @property
    def whole(self) -> Probe | None:
        """The step about all kept changes together; None where it has no answer."""
        return self.probes[0] if self.probes and not self.probes[0].contest.fault else None


class Audit(Struct, frozen=True, kw_only=True):
    """The result of an audit: HEAD compared with the first baseline of the epoch, and the requested further comparisons.

    `falls_short` (less than the records promise) comes from the bisection where there is one, else from the `whole` comparison.
    """

    target: str
    epoch: int
    first: str
    head: str
    date: str
    layers: tuple[str, ...]
    promise: Promise
    whole: CommitComparison
    falls_short: bool
    left_out: tuple[LeftOut, ...] = ()
    bisection: Bisection | None = None
    finding: str = ""


def finding_text(audit: Audit) -> str:
    """Return the text of the finding that `expctl audit --record` keeps. The audit must have been measured."""
    effect = audit.whole.objective
    measured = (
        f"{effect.effect_percent:+.2f} % [{effect.low_percent:+.2f}, {effect.high_percent:+.2f}]" if effect else "nothing"
    )
    short = ": less than they promised" if audit.falls_short else ""
    lost = f"; the gain was lost at {audit.bisection.culprit}" if audit.bisection and audit.bisection.culprit else ""
    more = f" and {len(audit.layers) - NAMED_MAX} more" if len(audit.layers) > NAMED_MAX else ""
    names = ", ".join(audit.layers[:NAMED_MAX]) + more
    return (
        f"{audit_opening(audit.target, audit.epoch)}{audit.head[:12]} against the first baseline {audit.first[:12]}"
        f" measures {measured}; the changes between ({names}) add up to {audit.promise.words}{short}{lost}."
    )
