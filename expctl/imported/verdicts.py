"""Recognise verdicts as people write them: `KEEP baseline`, `discard`, `Reverted: 3 % slower`, `REJECT config / KEEP infra`."""

import functools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Ruling
from expctl.imported.vocabulary import (
    ANSWERS,
    BASELINE,
    BITS,
    BROKE,
    CLAUSE,
    DECIDED,
    FORBIDDEN,
    GOOD,
    JOINED,
    KEEPS_OLD,
    KEEPS_OTHER,
    KEPT_ASIDE,
    KEPT_ELSE,
    KINDS,
    LATER,
    LEAD,
    LEFT_OFF,
    MARKED,
    MARKS,
    NO_FAULT,
    NOT_OF_NOUN,
    OF_ANOTHER,
    OPEN,
    PARTS,
    PASSED,
    PATTERNS,
    PENDING,
    RESULT_OF_TEST,
    RULED,
    SEEN_ONLY,
    SUCCEEDED,
    TAKEN_OUT,
    UNDONE,
    is_hedged,
    opens_with_hedge,
)


class Pending(StrEnum):
    """Placeholder for the verdict of an experiment that is planned or running."""

    NO_VERDICT_YET = "no verdict yet"
    BASELINE = "a baseline, and no change: --map WORDS=KEEP takes it in"


SHORT, FEW = 60, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a column's cells state verdicts. `answers`: yes and no are verdicts; `bits`: 1 and 0 are; `marks`: check marks are.

    `tests`: the column says which tests passed, so `failed` is no verdict; `outcomes`: `better` and `worse` are verdicts there.
    `meanings` are verdicts by words that the user gave, in small letters; None stands for an experiment without a verdict yet.
    `inside`: these words count wherever they stand in a cell, else where it begins.
    """

    answers: bool = True
    bits: bool = False
    marks: bool = True
    tests: bool = False
    outcomes: bool = False
    inside: bool = False
    meanings: Mapping[str, Verdict | None] = field(default_factory=dict)


PLAIN = Dialect()


def rulings(text: str, dialect: Dialect = PLAIN) -> tuple[Ruling, ...] | Pending | None:
    """Return the verdict that the cell `text` states, or two for `REJECT config / KEEP infra`. Returns Pending if the
    experiment isn't finished, and None if the verdict is uncertain, contradictory or not recognised. So is `neutral` alone: to
    some it is INCONCLUSIVE, to others nothing changed.
    """
    found = _rulings(text, dialect)
    flat = isinstance(found, tuple) and found[0].verdict is Verdict.INCONCLUSIVE and not OPEN.search(text)
    return None if flat and _meant(_plain(text), dialect) is None else found


def _rulings(text: str, dialect: Dialect) -> tuple[Ruling, ...] | Pending | None:
    plain = _without_orders(_plain(text), dialect)
    meant = _meant(plain, dialect)
    if meant is not None:
        return meant
    found, recognised = _verdicts(plain, dialect)
    answer = ANSWERS.get(_clauses(plain)[0].lower()) if dialect.answers else None
    if not found and (answer or BASELINE.fullmatch(plain)):
        return (_ruling(answer, _bare(text)),) if answer else Pending.BASELINE
    if not found:
        waits = PENDING.search(plain) if len(plain) <= SHORT else PENDING.match(plain)
        return Pending.NO_VERDICT_YET if waits or not plain.strip("-–—? ") else None
    parts = [part for part in PARTS.split(plain) if part and not any(other.match(part) for other in KEPT_ELSE)]
    each = [_verdicts(part, dialect)[0] for part in parts]
    two = len(found) == len(parts) == 2 and all(part.count("(") == part.count(")") for part in parts)
    if two and all(len(verdicts) == 1 for verdicts in each) and all(map(_starts_with_verdict, parts)):
        hedged = is_hedged(recognised) or any(OF_ANOTHER.match(part) and not part[:2].isupper() for part in parts)
        return None if hedged else tuple(_ruling(v.pop(), part) for v, part in zip(each, parts, strict=True))
    if (first := _of_first_clause(plain, dialect)) is not None:
        return (_ruling(first, _bare(text)),)
    if Verdict.KEEP in found and (KEEPS_OTHER.match(plain) or KEPT_ASIDE.search(plain) or BROKE.search(plain)):
        return None
    if found - SEEN_ONLY == {Verdict.REJECT} and UNDONE.search(plain):
        found = {Verdict.REJECT}  # `neutral, reverted`: what was seen, and what was done
    if found == {Verdict.KEEP, Verdict.REJECT} and TAKEN_OUT.match(plain):
        found = {Verdict.REJECT}
    if len(found) != 1 or is_hedged(recognised) or (SUCCEEDED.search(plain) and Verdict.KEEP not in found):
        return None
    later = ((clause, word) for clause in _clauses(plain)[1:] for word in DECIDED.finditer(clause))
    if any(OF_ANOTHER.match(clause, word.start()) for clause, word in later):
        return None
    sure = decides(plain) if len(plain) > SHORT else DECIDED.search(plain) or MARKS.search(plain) or len(plain.split()) <= FEW
    return (_ruling(found.pop(), _bare(text)),) if sure else None


def speaks_of_verdicts(text: str, dialect: Dialect = PLAIN) -> bool:
    """Return whether a cell may belong to a verdict column, even if its verdict is uncertain or contradictory."""
    plain = _plain(text)
    if len(text) <= SHORT and (_verdicts(plain, dialect)[0] or PENDING.search(plain) or BASELINE.fullmatch(plain)):
        return True
    return rulings(text, dialect) is not None


def spelled_out(cell: str) -> str:
    """Return a cell such as `discard_timing` with its words apart: in other text, `drop_path` is a name."""
    return cell.replace("_", " ") if JOINED.fullmatch(cell) else cell


def tells_tests(cells: list[str]) -> bool:
    """Return whether a column says which tests passed: then `failed` is the result of a test, and no verdict."""
    return any(PASSED.match(_plain(cell)) for cell in cells)


def is_answer(text: str) -> bool:
    """Return whether a cell holds nothing but yes, no, or a check mark: in a table of features that is no verdict."""
    plain = _plain(text).lower().rstrip(".! ")
    return plain in ANSWERS or (bool(MARKS.search(plain)) and not re.search(r"\w", MARKS.sub("", plain)))


def opens_with_verdict(text: str, dialect: Dialect = PLAIN) -> Verdict | None:
    """Return the verdict whose word begins `text`, e.g. REJECT for `Reverted: slower`; None if no verdict does, or an uncertain
    one.
    """
    return _of_first_clause(_without_orders(_plain(text), dialect), dialect)


def _without_orders(plain: str, dialect: Dialect) -> str:
    """Return a text without the sentences after its verdict that say what must not be done now."""
    rest = FORBIDDEN.sub("", plain)
    return rest if _verdicts(rest, dialect)[0] else plain


def _meant(plain: str, dialect: Dialect) -> tuple[Ruling, ...] | Pending | None:
    if not dialect.meanings:
        return None
    clause = _clauses(plain)[0] if plain else ""
    for words in (plain, clause):
        key = said_as(words)
        if key in dialect.meanings:
            return _by_map(dialect.meanings[key], plain)
    found = _said_inside(plain, dialect.meanings) if dialect.inside else set()
    opens = _of_first_clause(plain, PLAIN) if found else None
    return _by_map(found.pop(), plain) if len(found) == 1 and opens in {None, *found} else None


def means_by_map(text: str, dialect: Dialect) -> bool:
    """Return whether a cell is, or begins with, words of which the user said what they mean."""
    return _meant(_plain(text), dialect) is not None


def said_as(words: str) -> str:
    """Return words as they are compared with those that a user gave: small letters, and no marks around them."""
    return " ".join(words.replace("*", "").replace("`", "").lower().split()).rstrip(".:!,; ")


def _by_map(verdict: Verdict | None, words: str) -> tuple[Ruling, ...] | Pending:
    return Pending.NO_VERDICT_YET if verdict is None else (_ruling(verdict, words),)


def _said_inside(plain: str, meanings: Mapping[str, Verdict | None]) -> set[Verdict | None]:
    """Return what the words of the user mean in the first clause of `plain` that has some; longer words come first."""
    pattern = _any_of(tuple(sorted(meanings, key=len, reverse=True)))
    for clause in (plain, *_clauses(plain)):
        found = {meanings[said_as(match[0])] for match in pattern.finditer(clause)}
        if len(found) == 1 or (found and clause is not plain):
            return found
    return set()


@functools.lru_cache(maxsize=8)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for any of `words`, the first that fits; letters don't go on before and behind it."""
    bounded = (
        (r"(?<![\w-])" if re.match(r"\w", each, re.ASCII) else "")
        + r"\s+".join(map(re.escape, each.split()))
        + (r"(?![\w-])" if re.search(r"\w$", each, re.ASCII) else "")
        for each in words
    )
    return re.compile("|".join(bounded), re.IGNORECASE)


def _of_first_clause(plain: str, dialect: Dialect) -> Verdict | None:
    """Return the verdict that the first clause begins with; None where it is uncertain, or later clauses take it back."""
    clauses = _clauses(plain)
    found, recognised = _verdicts(clauses[0], dialect)
    if len(found) == 2 and found & SEEN_ONLY and DECIDED.search(clauses[0]):
        found = found - SEEN_ONLY  # `mixed but kept`
    answer = dialect.answers and clauses[0].lower() in ANSWERS
    if len(found) != 1 or not (answer or _starts_with_verdict(clauses[0])) or is_hedged(recognised):
        return None
    (verdict,) = found
    if verdict is Verdict.KEEP and (KEEPS_OTHER.match(clauses[0]) or KEPT_ASIDE.search(clauses[0]) or BROKE.search(plain)):
        return None
    if len(clauses) > 1 and opens_with_hedge(clauses[1]):
        return None
    return None if any(_takes_back(verdict, clause) for clause in clauses[1:]) else verdict


def _takes_back(verdict: Verdict, clause: str) -> bool:
    """Return whether a later clause decides otherwise than `verdict`: `kept, later reverted`."""
    word = DECIDED.search(clause)
    if verdict is Verdict.INCONCLUSIVE and word and re.match(r"not|never", word[0], re.IGNORECASE):
        return False  # `inconclusive, not kept`
    if verdict is not Verdict.KEEP and KEPT_ASIDE.match(clause):
        return False
    if not word or LEFT_OFF.match(clause[word.start() :]) or (verdict is not Verdict.KEEP and KEEPS_OLD.match(clause)):
        return False
    other = {found for found, pattern in PATTERNS if pattern.fullmatch(word[0])} or {Verdict.KEEP}
    undone = verdict is Verdict.KEEP and UNDONE.search(clause)
    alone = not re.search(r"\w", clause[: word.start()]) and NOT_OF_NOUN.match(clause[word.end() :])
    return verdict not in other and bool(undone or LATER.search(clause) or alone)


def decides(text: str) -> bool:
    """Return whether a text says in a clause of its own what was decided: `..., so reverted`."""
    for clause in _clauses(_plain(text)):
        word = DECIDED.search(clause)
        if word and (re.fullmatch(LEAD, clause[: word.start()], re.IGNORECASE)):
            return True
    return False


def first_clause(text: str) -> str:
    """Return the first clause of a cell, which a user may say the meaning of; the whole cell where it has but one."""
    plain = _bare(text)
    return _clauses(plain)[0] if plain and not plain.startswith("(") else plain


def _clauses(plain: str) -> list[str]:
    return [clause.strip() for clause in CLAUSE.split(plain) if clause.strip()] or [""]


def _plain(text: str) -> str:
    return NO_FAULT.sub("", _bare(text)).strip()


def _bare(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("*", "").replace("`", "").replace("\ufe0f", "").strip()


def _verdicts(text: str, dialect: Dialect) -> tuple[set[Verdict], str]:
    """Return the set of verdicts named in `text`, and the text with the placeholder RULED for each word that names one."""
    plain = text.lower().rstrip(".! ")
    answer = (ANSWERS.get(plain) if dialect.answers else None) or (BITS.get(plain) if dialect.bits else None)
    if answer:
        return {answer}, RULED
    rest = RESULT_OF_TEST.sub("", text) if dialect.tests else text
    words: set[Verdict] = set()
    marks = {MARKED[mark] for mark in MARKS.findall(rest)}
    rest = MARKS.sub(RULED, rest)
    for verdict, pattern in PATTERNS:
        rest, times = pattern.subn(RULED, rest)
        if times:
            words.add(verdict)
    if words == {Verdict.INVALID} and marks == {Verdict.REJECT}:
        return words, rest  # `❌ OOM`
    if marks == {Verdict.KEEP} and not words and not GOOD.match(rest.replace(RULED, "")):
        return set(), rest  # `✅ done`
    return (words | marks if dialect.marks or words else set()), rest


def _starts_with_verdict(part: str) -> bool:
    at = start.end() if (start := re.match(LEAD, part, re.IGNORECASE)) else 0
    return bool(MARKS.match(part)) or any(pattern.match(part, at) for _, pattern in PATTERNS)


def _ruling(verdict: Verdict, words: str) -> Ruling:
    kind = next((kind for kind, pattern in KINDS if pattern.search(words)), None)
    return Ruling(verdict=verdict, kind=kind, words=words)
