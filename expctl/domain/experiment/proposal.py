"""The types of experiment.yaml: a change that somebody proposes, before any measurement."""

from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """What a proposal is about. The patch of an `analysis` is measured but never merged into the branch."""

    PERF = "perf"
    SIMPLIFY = "simplify"
    CONFIG = "config"
    INFRA = "infra"
    ANALYSIS = "analysis"


class Mode(StrEnum):
    """What a KEEP requires: a gain, a larger gain (for more complex code), or (simplify) no more than a small loss."""

    GAIN = "gain"
    GAIN_COSTLY = "gain-costly"
    SIMPLIFY = "simplify"


class Verdict(StrEnum):
    """How an experiment ended. NO-OP: the machine code is unchanged. INVALID: machine or harness failed, not the candidate."""

    KEEP = "KEEP"
    REJECT = "REJECT"
    INCONCLUSIVE = "INCONCLUSIVE"
    NO_OP = "NO-OP"
    INVALID = "INVALID"


class Prediction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result that the proposer expects. `gain_percent` is a range (low, high) for the objective; below 0 is slower."""

    verdict: Verdict
    gain_percent: tuple[float, float] | None = None
    text: str = ""


class Until(StrEnum):
    """When a rule with a code snippet (`Probe`) ends: when the snippet compiles, or when the gfx11 interpreter runs it."""

    COMPILES = "compiles"
    INTERPRETS = "interprets"


class Probe(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A code snippet (`source`: HIP code or a path) that fails as long as the reason of a do-not-repeat rule holds. The rule
    ends when the snippet compiles for `arch`, or when the gfx11 interpreter knows all instructions in it.
    """

    source: str
    arch: str = "gfx1151"
    until: Until = Until.COMPILES


class Proposal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of experiment.yaml. `depends_on` are conditions on other experiments, e.g. `P15` (it must be kept first).

    If the proposal is rejected, its do-not-repeat rule also forbids added lines that match the regular expressions `forbids`
    (only in the region `within`: `load` is a function, `load loop` its loops, `loop` any),
    with `refuses_near` also changes that are close to it by what they compile to, and ends once `probe` succeeds.
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
    within: str = ""
    refuses_near: bool = False
    probe: Probe | None = None
