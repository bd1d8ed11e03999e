"""Find tables whose heading says what became of all their experiments, e.g. `Rejected experiments`."""

import dataclasses
import re
from collections.abc import Iterable

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.bullets import ALONE, DID
from expctl.imported.document import Table
from expctl.imported.verdicts import opens_with_verdict

HEAD = "verdict"
DONE = "accepted|adopted|kept|retained|landed|shipped|merged|rejected|reverted|discarded|abandoned|dropped|failed"
THINGS = (
    "changes|experiments|optimi[sz]ations|attempts|ideas|approaches|candidates|hypotheses|variants|techniques|kernels|levers"
    "|improvements|wins|speed-?ups|tweaks|fixes"
)
# `Rejected decode changes`, `Kept ideas and what they taught us`, `Rejected`, `Rejected in this round`
BEFORE = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:\w+ and )?(?P<verdict>{DONE})"
    rf"(?: (?:\w+ )?(?:{THINGS})\b.*|(?: (?:in|on|by|for|after) .*)?\W*)",
    re.IGNORECASE,
)
# `Experiments that were rejected`, `What we tried and reverted`
AFTER = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:{THINGS}|what)\b(?: (?:that|which|we|was|were|tried|tested|measured|and|then|got))*"
    rf" (?P<verdict>{DONE})\W*",
    re.IGNORECASE,
)
# `Changes that helped (applied)`
APPLIED = re.compile(rf"\W*(?:{THINGS})\b[^()]*\((?:all )?(?P<verdict>applied|{DONE})\)\W*", re.IGNORECASE)
# `Notable discards`
NOUNS = re.compile(r"\W*(?:\w+ ){0,3}(?P<verdict>discard|reject|revert)(?:s|ions|als)\W*", re.IGNORECASE)
# Heads of what was changed, below such headings alone
GAINED = frozenset(("fix", "improvement", "win", "speedup", "tweak"))
# `What didn't work`, `Ideas that failed, and why`
GIVEN_UP = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:what|things|{THINGS})(?: (?:that|which|we tried))?"
    r" (?P<verdict>failed|(?:did(?:n.?t| not)|does(?:n.?t| not)) (?:work|help|pay(?: off)?))(?:,? and why)?\W*",
    re.IGNORECASE,
)
WORKED = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:what|things|{THINGS})(?: (?:that|which))? (?:worked|helped|paid off)\W*", re.IGNORECASE
)
BRACKETS = re.compile(r"\s*\([^()]*\)")
BOTH = re.compile(rf"\b(?:{DONE})\b", re.IGNORECASE)
MEASURED_SHARE = 1 / 3
# `Successful experiments` were kept where another heading says that others were not.
SUCCESS = re.compile(rf"\W*(?P<verdict>successful|winning) (?:\w+ )?(?:{THINGS})\W*", re.IGNORECASE)
MEANINGS = {"successful": Verdict.KEEP, "winning": Verdict.KEEP}


def ruled_by_heading(
    table: Table, tried: frozenset[str], measured: re.Pattern[str], others: Iterable[str] = ()
) -> Table | None:
    """Return `table` with a column of the verdict that its heading gives to all rows; None where the heading gives none.

    The words of the verdict may be such as MEANINGS explains. `others` are all headings of the document.

    Only a table with a head of `tried` (such as `experiment`) is one of experiments, and only where a third of its rows has a
    figure, which `measured` finds. A row that itself tells of another decision gets an empty cell.
    """
    found = ruling_of(table.section)
    success = SUCCESS.fullmatch(table.section)
    given = (opens_with_verdict(each["verdict"]) for each in map(ruling_of, others) if each)
    if success and Verdict.REJECT in given:
        found = success
    words = found["verdict"].lower() if found else ""
    figures = sum(any(map(measured.search, row.cells)) for row in table.rows)
    if not words or len(set(BOTH.findall(table.section.lower()))) > 1 or figures < MEASURED_SHARE * len(table.rows):
        return None
    if not any(" ".join(head.lower().split()) in tried | GAINED for head in table.heads):
        return None
    against = {Verdict.KEEP, Verdict.REJECT} - {opens_with_verdict(words) or MEANINGS.get(words)}
    rows = tuple(
        dataclasses.replace(row, cells=(*row.cells, "" if against & {*map(_decision, row.cells)} else words))
        for row in table.rows
    )
    return dataclasses.replace(table, heads=(*table.heads, HEAD), rows=rows)


def ruling_of(heading: str) -> re.Match[str] | None:
    """Return what a heading such as `Rejected experiments` gives to all below it, as the group `verdict`; None for others."""
    title = BRACKETS.sub("", heading).strip()
    return BEFORE.fullmatch(title) or AFTER.fullmatch(title) or APPLIED.fullmatch(heading) or NOUNS.fullmatch(title)


def ruled_sections(titles: Iterable[str]) -> dict[str, str]:
    """Return the words that headings such as `Failed experiments` give to all sections below them, by heading.

    `Kept experiments` and `What worked` give one only where another heading says that others failed.
    """
    found = {title: _of_sections(title) for title in titles}
    failed = any(opens_with_verdict(words) is Verdict.REJECT for words in found.values())
    return {title: words for title, words in found.items() if words and (failed or opens_with_verdict(words) is Verdict.REJECT)}


def _of_sections(heading: str) -> str:
    title = BRACKETS.sub("", heading).strip()
    if len(set(BOTH.findall(title.lower()))) > 1 and not re.search(r"failed|rejected", title, re.IGNORECASE):
        return ""
    if WORKED.fullmatch(title):
        return "successful"
    if GIVEN_UP.fullmatch(title):
        return "failed"
    found = SUCCESS.fullmatch(title) or ruling_of(heading)
    return found["verdict"].lower() if found else ""


def _decision(cell: str) -> Verdict | None:
    """Return the verdict that begins a cell; None where the word tells the change, as in `Removed the lock`."""
    did = DID.match(cell)
    return None if did and not ALONE.match(cell[did.end() :]) else opens_with_verdict(cell)
