"""Evaluates a comparison in `depends_on` with another experiment's result: true, false or not known yet.

    verdict                 KEEP, REJECT, INCONCLUSIVE or NO-OP          (== and != only)
    target                  the target that decided                     (== and != only)
    effect.SIZE             the gain at a size of the KPI, in percent; SIZE may be `objective`
    effect.SIZE.low, .high  the ends of its 95 % interval
    build.NAME              a fact of the candidate's build (vgpr, lds, ...) for the target that decided
    profile.NAME            a fact of the candidate's profile on that target
    build.TARGET.NAME, profile.TARGET.NAME    the same for another target

NAME is the fact's name in upper or lower case, with `_` for anything but letters and digits. NAME_baseline is the baseline's
figure and NAME_ratio the candidate's divided by it, unless a fact has that very name.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Fact, Record
from expctl.domain.queue.depends_on import AllOf, Comparison, Condition, Operator
from expctl.domain.verdict.side import Side

KNOWN = "verdict, target, effect.SIZE, effect.SIZE.low, effect.SIZE.high, build.NAME, profile.NAME"
ASKABLE = tuple(verdict.value for verdict in Verdict if verdict is not Verdict.INVALID)
WORDS = ("verdict", "target")
ENDS = {"low": "low_percent", "high": "high_percent"}

Profile = Mapping[str, Sequence[Fact]]
"""Facts by key of profile.json: `baseline`, `candidate`, and `TARGET baseline`, `TARGET candidate` for guards."""


class Truth(StrEnum):
    """Truth of a condition in `depends_on`: it holds, it isn't known yet (`OPEN`), or it can never hold (`NEVER`)."""

    HOLDS = "holds"
    OPEN = "open"
    NEVER = "never"


class Answer(Struct, frozen=True):
    """Whether a condition of `depends_on` holds; `why` says which result was found, or which is still missing."""

    truth: Truth
    why: str


class Concluded(Struct, frozen=True):
    """The result of an experiment with a final verdict: its record and its profile."""

    record: Record
    profile: Profile


class Pending(Struct, frozen=True):
    """Stands for the result of an experiment that has no final verdict yet; `why` says what it waits for."""

    why: str


class Hopeless(Struct, frozen=True):
    """Stands for the result of an experiment that will never have a final verdict; `why` gives the reason."""

    why: str


Result = Concluded | Pending | Hopeless


def fault_of(comparison: Comparison, sizes: Sequence[str], targets: Sequence[str]) -> str:
    """Return why a comparison can never be evaluated, or "" if it can. It may name something that is not in `sizes` or
    `targets`, or compare a number with a word.
    """
    names, value = comparison.names, comparison.value
    is_word = isinstance(value, str)
    shape = (names[0], len(names))
    if shape not in {("verdict", 1), ("target", 1), *((kind, n) for kind in ("effect", "build", "profile") for n in (2, 3))}:
        return f"expected one of {KNOWN}, found {'.'.join(names)!r}"
    if names[0] in WORDS and (not is_word or comparison.operator not in (Operator.EQUAL, Operator.UNEQUAL)):
        return f"expected {names[0]} with == or != and a word, found {comparison.operator} {value}"
    if names[0] not in WORDS and is_word:
        return f"expected a number to compare {'.'.join(names)} with, found {value!r}"
    if names[0] == "verdict" and value not in ASKABLE:
        return f"expected a final verdict, one of {', '.join(ASKABLE)}, found {value!r}"
    if names[0] == "target" and value not in targets:
        return f"expected a target of protocol.yaml, one of {', '.join(targets)}, found {value!r}"
    if names[0] == "effect" and names[1] not in ("objective", *sizes):
        return f"expected objective or a size of the KPI ({', '.join(sizes)}), found {names[1]!r}"
    if names[0] == "effect" and len(names) == 3 and names[2] not in ENDS:
        return f"expected low or high, found {names[2]!r}"
    if names[0] in ("build", "profile") and len(names) == 3 and names[1] not in targets:
        return f"expected a target of protocol.yaml, one of {', '.join(targets)}, found {names[1]!r}"
    return ""


def answer(condition: Condition, results: Mapping[str, Result]) -> Answer:
    """Return whether a condition of `depends_on` holds. `results` are by experiment id; one that is missing is not finished
    yet.
    """
    if isinstance(condition, Comparison):
        return _compare(condition, results.get(condition.experiment, Pending(f"there is no {condition.experiment}")))
    answers = [answer(part, results) for part in condition.parts]
    decides, otherwise = (Truth.NEVER, Truth.HOLDS) if isinstance(condition, AllOf) else (Truth.HOLDS, Truth.NEVER)
    for truth in (decides, Truth.OPEN):
        found = [each.why for each in answers if each.truth is truth]
        if found:
            return Answer(truth, "; ".join(dict.fromkeys(found)))
    return Answer(otherwise, "; ".join(dict.fromkeys(each.why for each in answers)))


def _compare(comparison: Comparison, result: Result) -> Answer:
    if not isinstance(result, Concluded):
        return Answer(Truth.OPEN if isinstance(result, Pending) else Truth.NEVER, result.why)
    found = _value(comparison.names, result)
    left = f"{comparison.experiment}.{'.'.join(comparison.names)}"
    if found is None:
        return Answer(Truth.NEVER, f"{left} is not known: {comparison.experiment} ended in {result.record.verdict} without it")
    if isinstance(found, str):
        holds = (found == comparison.value) is (comparison.operator is Operator.EQUAL)
        how = f"{comparison.experiment} ended in {found}" if comparison.names == ("verdict",) else f"{left} is {found}"
        return Answer(Truth.HOLDS if holds else Truth.NEVER, how)
    holds = _orders(found, comparison.operator, float(comparison.value))
    return Answer(Truth.HOLDS if holds else Truth.NEVER, f"{left} is {found:.6g}")


def _orders(left: float, operator: Operator, right: float) -> bool:
    return {
        Operator.EQUAL: left == right,
        Operator.UNEQUAL: left != right,
        Operator.LESS: left < right,
        Operator.AT_MOST: left <= right,
        Operator.MORE: left > right,
        Operator.AT_LEAST: left >= right,
    }[operator]


def _value(names: Sequence[str], result: Concluded) -> str | float | None:
    record = result.record
    match names:
        case ("verdict",):
            return record.verdict.value
        case ("target",):
            return record.target
        case ("effect", size, *end):
            estimate = next((each for each in record.estimates if each.size == size), None)
            return None if estimate is None else float(getattr(estimate, ENDS[end[0]] if end else "effect_percent"))
        case ("build", *where, name):
            target = where[0] if where else record.target
            sides = {side: record.artifacts.get(side, {}).get(target) for side in Side}
            return _figure(name, {side: made.facts if made else () for side, made in sides.items()})
        case ("profile", *where, name):
            prefix = f"{where[0]} " if where and where[0] != record.target else ""
            return _figure(name, {side: result.profile.get(f"{prefix}{side}", ()) for side in Side})
    return None


def _figure(name: str, facts: Mapping[Side, Sequence[Fact]]) -> float | None:
    values = {side: {plain_name(fact.name): fact.value for fact in found} for side, found in facts.items()}
    before, after, wanted = values[Side.BASELINE], values[Side.CANDIDATE], plain_name(name)
    if wanted in after:
        return after[wanted]
    if wanted.endswith("_baseline"):
        return before.get(wanted.removesuffix("_baseline"))
    stem = wanted.removesuffix("_ratio")
    if stem != wanted and stem in after and before.get(stem):
        return after[stem] / before[stem]
    return None


def plain_name(name: str) -> str:
    """Return the name of a build or profile figure as conditions spell it: `LDS passes` becomes `lds_passes`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
