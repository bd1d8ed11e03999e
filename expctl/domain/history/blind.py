"""Blind slots: experiments whose true effect is known, which a queue measures without knowing it. How often are they kept?"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Estimate, Procedure
from expctl.domain.history.comparability import Comparability, changes
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.verdict.exact_tests import most_share

FILE = "blind.jsonl"
FOLDER = "experiments/blind"
EVIDENCE_LETTERS = 16


class Truth(StrEnum):
    """What a blind slot's candidate is: the baseline itself (null), or the baseline with a planted slow-down (slow)."""

    NULL = "null"
    SLOW = "slow"

    @property
    def words(self) -> str:
        """Say what was measured, e.g. `HEAD against itself`."""
        return "HEAD against itself" if self is Truth.NULL else "HEAD against itself with a planted slow-down"


class BlindSlot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of experiments/blind.jsonl: the truth about a blind slot, and what the measurement made of it.

    `head` is the baseline commit, `ground` the conditions of the measurement; `artifacts` are the SHA-256 of both builds. The
    samples with `samples_sha256` lie in the file `evidence`. `slower_percent` is the planted slow-down.
    """

    date: str
    target: str
    truth: Truth
    verdict: Verdict
    reasons: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    procedure: Procedure
    head: str
    ground: Comparability
    artifacts: tuple[str, str]
    samples_sha256: str
    slower_percent: float = 0.0

    @property
    def evidence(self) -> str:
        """Path of the slot's samples. Named by their hash, so that two branches can be merged without a clash."""
        return f"{FOLDER}/{self.samples_sha256[:EVIDENCE_LETTERS]}.jsonl"


class BlindRates(Struct, frozen=True, kw_only=True):
    """How often blind slots of a target's current epoch (comparable conditions, the same decision rule) were kept.

    `..._most_percent` are one-sided 95 % upper bounds of the rates. `false_keeps` are the numbers of the slots that were kept,
    from 1 in the order of the file. `earlier` counts slots of other epochs, of which `earlier_kept` were kept.
    """

    target: str
    nulls: int
    nulls_kept: int
    nulls_kept_most_percent: float
    slow: int
    slow_kept: int
    slow_kept_most_percent: float
    false_keeps: tuple[int, ...]
    earlier: int
    earlier_kept: int


def blind_rates(slots: Sequence[BlindSlot], conditions: Mapping[str, Comparability]) -> tuple[BlindRates, ...]:
    """Return the rates of each target of `conditions` (those of its next run) that has any blind slot."""
    numbered = list(enumerate(slots, start=1))
    by_target = {name: [each for each in numbered if each[1].target == name] for name in conditions}
    return tuple(_rates(name, found, conditions[name]) for name, found in by_target.items() if found)


def rates_text(rates: BlindRates) -> str:
    """Return rates in words, e.g. `0 of 34 nulls kept (at most 8.4 %), 12 of 12 slow-downs not kept (at least 77.9 %)`."""
    parts = []
    if rates.nulls:
        parts.append(f"{rates.nulls_kept} of {rates.nulls} nulls kept (at most {rates.nulls_kept_most_percent:.1f} %)")
    if rates.slow:
        least = f"{100 - rates.slow_kept_most_percent:.1f} %"
        parts.append(f"{rates.slow - rates.slow_kept} of {rates.slow} slow-downs not kept (at least {least})")
    words = ", ".join(parts) or "none in this epoch"
    kept = f", {rates.earlier_kept} kept" if rates.earlier_kept else ""
    return words + (f"; {rates.earlier} in other epochs{kept}" if rates.earlier else "")


def false_keep_text(rates: BlindRates) -> str:
    """Return a warning that blind slots of the current epoch were kept; "" if none was."""
    if not rates.false_keeps:
        return ""
    named = ", ".join(map(str, rates.false_keeps[-3:]))
    slots = f"slot {named} was" if len(rates.false_keeps) == 1 else f"slots {named} were"
    return f"blind {slots} kept on {rates.target} without a gain: machine or harness is not to be trusted"


def _rates(target: str, found: Sequence[tuple[int, BlindSlot]], ground: Comparability) -> BlindRates:
    now = [(number, slot) for number, slot in found if _is_current(slot, ground)]
    nulls, slow = ([slot for _, slot in now if slot.truth is truth] for truth in Truth)
    return BlindRates(
        target=target,
        nulls=len(nulls),
        nulls_kept=_kept(nulls),
        nulls_kept_most_percent=_most_percent(nulls),
        slow=len(slow),
        slow_kept=_kept(slow),
        slow_kept_most_percent=_most_percent(slow),
        false_keeps=tuple(number for number, slot in now if slot.verdict is Verdict.KEEP),
        earlier=len(found) - len(now),
        earlier_kept=_kept(slot for _, slot in found) - _kept(slot for _, slot in now),
    )


def _is_current(slot: BlindSlot, ground: Comparability) -> bool:
    return slot.procedure.boundaries == VERSION and not changes(slot.ground, ground)


def _kept(slots: Iterable[BlindSlot]) -> int:
    return sum(slot.verdict is Verdict.KEEP for slot in slots)


def _most_percent(slots: Sequence[BlindSlot]) -> float:
    return round(100 * most_share(_kept(slots), len(slots)), 4)
