"""What the audit of a hand-kept ledger asks about: kinds of errors, and remarks, which are questions until accepted."""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

LINE = re.compile(r"line \d+")


class Flaw(StrEnum):
    """Kinds of errors in a hand-kept ledger, e.g. a figure above the GPU's peak, or an id used twice."""

    IMPOSSIBLE = "impossible figure"
    UNIT_SLIP = "unit slip"
    CONTRADICTION = "figures contradict each other"
    NOISE = "verdict inside the noise"
    REUSED_ID = "id used twice"
    STALE = "stale section"
    KEPT_REGRESSION = "kept regression"
    REJECTED_GAIN = "rejected gain"
    TWICE = "row entered twice"
    MISSING = "missing ids"
    NOT_FLAT = "called flat, but it isn't"
    OWN_WORDS = "against its own words"
    CONFOUNDED = "confounded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A question about line `line` of the ledger; `rows` are ids of the table rows concerned, () for text outside tables."""

    flaw: Flaw
    line: int
    rows: tuple[str, ...]
    text: str

    @property
    def key(self) -> str:
        """Return six hex digits by which a person accepts the remark; they change with its words, and not with its line."""
        words = f"{self.flaw} {' '.join(self.rows)} {LINE.sub('line', self.text)}"
        return hashlib.sha256(words.encode()).hexdigest()[:6]
