"""What an audit found: contests between commits of one epoch, and what they say of the stack."""

from msgspec import Struct, field

from expctl.domain.experiment.findings import audit_opening
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE, Estimate
from expctl.domain.history.kept_changes import Promise

NAMED_MAX = 12


class CommitComparison(Struct, frozen=True, kw_only=True):
    """`after` measured against `before` by the verdict engine. Without a verdict `note` says why nothing was measured."""

    before: str
    after: str
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    note: str = ""

    @property
    def fault(self) -> str:
        """Why it says nothing of the two commits; empty when it does."""
        if self.verdict is None:
            return self.note
        return self.reasons[0] if self.verdict is Verdict.INVALID else ""

    @property
    def undecided(self) -> bool:
        """Was it measured without an answer?"""
        return not self.fault and self.verdict not in (Verdict.KEEP, Verdict.REJECT)

    @property
    def objective(self) -> Estimate | None:
        """The effect on the KPI, if it was measured."""
        return next((each for each in self.estimates if each.size == OBJECTIVE), None)


class LeftOut(Struct, frozen=True, kw_only=True):
    """HEAD against HEAD without one layer: what that layer still gives."""

    name: str
    title: str
    promise: Promise | None
    contest: CommitComparison


class Probe(Struct, frozen=True, kw_only=True):
    """One step of a bisection: did what came after the first `layers` keep its promise?"""

    layers: int
    promise: Promise
    lost: bool
    contest: CommitComparison


class Bisection(Struct, frozen=True, kw_only=True):
    """`culprit` is the layer at which a gain was lost, empty where none was. `own` is that layer alone, against the state
    before it. `stopped` says why a search ended without an answer: a state that can't be measured is neither good nor bad.
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
        """The answer about all layers together; None where there is none."""
        return self.probes[0] if self.probes and not self.probes[0].contest.fault else None


class Audit(Struct, frozen=True, kw_only=True):
    """HEAD against the first baseline of the epoch, and what was asked for beyond it. Whether it `falls_short` of the promise
    is for the bisection to say, where there is one: it asks the verdict engine. Without it, intervals are held together.
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
    """The sentence that `--record` keeps. Only a measured audit has one."""
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
