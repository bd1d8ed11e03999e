"""A proposal: what somebody wants to try, before anything was measured."""

import functools
import re
from enum import StrEnum

from msgspec import Struct

from expctl.domain.errors import Misused

# Names of folders and files, and the next one is a number more: nine digits are plenty.
ID_PATTERN = re.compile(r"P\d{1,9}[a-z]?(-[A-Z]\d{0,9}[a-z]?)?", re.ASCII)


class Kind(StrEnum):
    """What a proposal is about. An `analysis` can never become code."""

    PERF = "perf"
    SIMPLIFY = "simplify"
    CONFIG = "config"
    INFRA = "infra"
    ANALYSIS = "analysis"


class Mode(StrEnum):
    """The keep rule: a gain beyond noise, a gain that pays for more complex code, or nothing worse than a small budget."""

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
    """What the proposer expects, so that the outcome can be held against it.

    `gain_percent` is (low, high) of the weighted KPI; negative is slower.
    """

    verdict: Verdict
    gain_percent: tuple[float, float] | None = None
    text: str = ""


class Until(StrEnum):
    """What a probe waits for."""

    COMPILES = "compiles"
    INTERPRETS = "interprets"


class Probe(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A snippet that fails for as long as the reason of a failure holds: `source` is HIP, or a file of the repository with it.

    The rule that carries it is open again once it compiles for `arch`, or once the interpreter takes all of its machine code.
    """

    source: str
    arch: str = "gfx1151"
    until: Until = Until.COMPILES


class Proposal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """experiment.yaml, typed. `depends_on` names experiments that must have ended in KEEP.

    What a REJECT of it shall forbid besides the patch itself: `forbids` are regular expressions over added lines, comments
    left out; `probe` says when that is over.
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


def check_id(text: str) -> str:
    """Return `text` when it is an experiment id such as P15, P8b or P6-A; raise Misused otherwise."""
    if not ID_PATTERN.fullmatch(text):
        raise Misused(
            "this is not an experiment id",
            code="not-an-experiment-id",
            expected="P and a number of at most 9 digits, then at most one small letter and one part like -A2: P15, P8b, P6-A",
            found=repr(text[:60]),
            hint="expctl status lists the experiments",
        )
    return text


@functools.cache  # ten thousand ids are sorted many times
def id_order(text: str) -> tuple[int, str]:
    """Sort key of ids by number, then by the rest: P2 < P6 < P6-A < P10."""
    if text[1:].isdecimal() and text[0] == "P":  # ten thousand look like that
        return (int(text[1:]), text)
    digits = re.match(r"P(\d+)", text)
    return (int(digits[1]) if digits else 0, text)
