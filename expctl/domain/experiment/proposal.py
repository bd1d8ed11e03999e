"""The types of a proposal: the change that somebody wants to try, before any measurement."""

import functools
import re
from enum import StrEnum

from msgspec import Struct

from expctl.domain.errors import Misused

# Ids name folders and files, and the next id is one higher: nine digits suffice.
ID_PATTERN = re.compile(r"P\d{1,9}[a-z]?(-[A-Z]\d{0,9}[a-z]?)?", re.ASCII)


class Kind(StrEnum):
    """Subject of a proposal. An `analysis` can never become code."""

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
    """The outcome that the proposer expects.

    `gain_percent` is (low, high) of the weighted KPI; negative is slower.
    """

    verdict: Verdict
    gain_percent: tuple[float, float] | None = None
    text: str = ""


class Until(StrEnum):
    """The event that a probe waits for."""

    COMPILES = "compiles"
    INTERPRETS = "interprets"


class Probe(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A snippet that fails as long as a rule's reason holds: `source` is HIP, or the path of a file with it.

    The rule opens once the snippet compiles for `arch`, or once the interpreter accepts all of its machine code.
    """

    source: str
    arch: str = "gfx1151"
    until: Until = Until.COMPILES


class Proposal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of experiment.yaml. `depends_on` are conditions on other experiments (queue/depends_on.py).

    `forbids` are regular expressions over added code lines that a REJECT of the proposal shall forbid besides the patch itself;
    `probe` tells when its rule ends.
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
    """Return `text` if it is an experiment id such as P15, P8b or P6-A; raise Misused otherwise."""
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
    """Return the sort key of an id, by number, then by the rest: P2 < P6 < P6-A < P10."""
    if text[1:].isdecimal() and text[0] == "P":  # the usual form, and ids are sorted by the ten thousand
        return (int(text[1:]), text)
    digits = re.match(r"P(\d+)", text)
    return (int(digits[1]) if digits else 0, text)
