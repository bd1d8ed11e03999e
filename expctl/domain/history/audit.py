"""Types of the result of an audit, which measures kept changes together again and compares with the gains in their records."""

import re

from msgspec import Struct, field

from expctl.domain.experiment.figures import interval_text
from expctl.domain.experiment.findings import audit_opening
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE, Estimate
from expctl.domain.history.kept_changes import Promise

NAMED_MAX = 12
RECORDED = re.compile(
    r"Audit of (?P<target>.+?), epoch (?P<epoch>\d+): [0-9a-f]+ against the first baseline [0-9a-f]+ measures"
    r" (?P<effect>[-+][\d.]+) % \[(?P<low>[-+][\d.]+), (?P<high>[-+][\d.]+)\];"
)
"""The text that `finding_text` writes, up to the measured effect."""
SAME_CODE = "the same machine code; nothing was timed"


class CommitComparison(Struct, frozen=True, kw_only=True):
    """Commit `after` measured against commit `before`. If `verdict` is None, `note` says why nothing was measured."""

    before: str
    after: str
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    note: str = ""

    @property
    def fault(self) -> str:
        """Why the comparison says nothing about the two commits (nothing was measured, or it is INVALID); empty if it does."""
        if self.verdict is None:
            return self.note
        return self.reasons[0] if self.verdict is Verdict.INVALID else ""

    @property
    def same_code(self) -> bool:
        """Whether nothing was measured because both commits have the same machine code."""
        return self.verdict is None and self.note == SAME_CODE

    @property
    def undecided(self) -> bool:
        """Whether the comparison was measured and ended neither in KEEP nor in REJECT."""
        return not self.fault and self.verdict not in (Verdict.KEEP, Verdict.REJECT)

    @property
    def objective(self) -> Estimate | None:
        """The measured effect on the objective (weighted mean over the problem sizes); None where it was not measured."""
        return next((each for each in self.estimates if each.size == OBJECTIVE), None)


class LeftOut(Struct, frozen=True, kw_only=True):
    """HEAD measured against HEAD without one kept change, which shows the gain that this change contributes today. `needed_by`
    is the first later change that can't be applied without it; in that case nothing was measured.
    """

    name: str
    title: str
    promise: Promise | None
    contest: CommitComparison
    needed_by: str = ""


class Probe(Struct, frozen=True, kw_only=True):
    """One step of a bisection: `contest` compares HEAD with the commit after the first `layers` kept changes. `lost` says that
    the changes after that commit gain less together than `promise`, the combination of their recorded gains.
    """

    layers: int
    promise: Promise
    lost: bool
    contest: CommitComparison


class Bisection(Struct, frozen=True, kw_only=True):
    """A search for the kept change (`culprit`) at which a recorded gain was lost; `culprit` is empty if none was found.

    `own` compares the commit of the culprit with the one before it. `stopped` says why the search ended without a result, e.g.
    at a commit that doesn't build.
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
        """The first step, which compares HEAD with the commit before all kept changes; None if it gave no usable result."""
        return self.probes[0] if self.probes and not self.probes[0].contest.fault else None


class Audit(Struct, frozen=True, kw_only=True):
    """The result of an audit: HEAD measured against the first baseline with comparable figures (`whole`), and more on request.

    `layers` are the names of the changes kept since that baseline, `promise` is the combination of their recorded gains.
    `falls_short` says that the measured gain is smaller than that.
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
    """Return the text of the finding that `expctl audit --record` stores for `audit`, which must have been measured."""
    effect = audit.whole.objective
    measured = interval_text(effect.effect_percent, effect.low_percent, effect.high_percent) if effect else "nothing"
    short = ": less than they promised" if audit.falls_short else ""
    lost = f"; the gain was lost at {audit.bisection.culprit}" if audit.bisection and audit.bisection.culprit else ""
    more = f" and {len(audit.layers) - NAMED_MAX} more" if len(audit.layers) > NAMED_MAX else ""
    names = ", ".join(audit.layers[:NAMED_MAX]) + more
    return (
        f"{audit_opening(audit.target, audit.epoch)}{audit.head[:12]} against the first baseline {audit.first[:12]}"
        f" measures {measured}; the changes between ({names}) add up to {audit.promise.words}{short}{lost}."
    )


def audited_effect(text: str) -> tuple[str, int, tuple[float, float, float]] | None:
    """Return target, epoch and measured effect (percent, with its interval) of a finding that `finding_text` wrote.

    None for any other text, and for an audit that measured nothing.
    """
    found = RECORDED.match(text)
    if found is None:
        return None
    return found["target"], int(found["epoch"]), (float(found["effect"]), float(found["low"]), float(found["high"]))
