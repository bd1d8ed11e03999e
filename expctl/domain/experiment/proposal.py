"""The types of a proposal: the change that somebody wants to try, before any measurement."""

from enum import StrEnum

from msgspec import Struct

# Ids name folders and files, and the next id is one higher: nine digits suffice.


class Kind(StrEnum):
    """Subject of a proposal. An `analysis` can never become code."""

    PERF = "perf"
    SIMPLIFY = "simplify"
    CONFIG = "config"
    INFRA = "infra"
    ANALYSIS = "analysis"


class Mode(StrEnum):
    """What a KEEP requires: a gain beyond noise, a gain that pays for more complex code, or a loss within a small budget."""

    GAIN = "gain"
    GAIN_COSTLY = "gain-costly"
    SIMPLIFY = "simplify"


class Verdict(StrEnum):
    """How an experiment ended. Every verdict has reasons with numbers."""

    KEEP = "KEEP"
    REJECT = "REJECT"
    INCONCLUSIVE = "INCONCLUSIVE"
    NO_OP = "NO-OP"
    INVALID = "INVALID"


class Prediction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outcome that the proposer expects.

    `gain_percent` is (low, high) of the weighted KPI; negative is slower.
    """

    verdict: Verdict
    gain_percent: tuple[float, float] | None = None
    text: str = ""


class Until(StrEnum):
    """What ends a rule with a probe: the probe's snippet compiles, or an interpreter accepts its machine code."""

    COMPILES = "compiles"
    INTERPRETS = "interprets"


class Probe(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A code snippet that fails as long as the reason of a do-not-repeat rule holds: `source` is HIP code or a path.

    The rule ends once the snippet compiles for `arch`, or once the interpreter accepts all of its machine code.
    """

    source: str
    arch: str = "gfx1151"
    until: Until = Until.COMPILES


class Proposal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of experiment.yaml. `depends_on` are conditions on other experiments (queue/depends_on.py).

    `forbids` are regular expressions over added code lines that a REJECT of the proposal shall forbid besides the patch itself;
    `probe` tells when the rule that it leaves ends.
    """

    id: str
    title: str
    kind: Kind
    hypothesis: str
    prediction: Prediction
    mode: Mode = Mode.GAIN
    depends_on: tuple[str, ...] = ()
    precondition: str = ""
    forbids: tuple[str, ...] = ()
    probe: Probe | None = None
