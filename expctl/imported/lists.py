"""Find lists whose heading says that all their items were given up, e.g. `What didn't work`."""

import re
from collections.abc import Iterator, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import plain_text
from expctl.imported.bullets import BULLET, MEASURED, items
from expctl.imported.document import Line, Row, Ruling, Section
from expctl.imported.groups import BRACKETS, GIVEN_UP, MEASURED_SHARE, THINGS, ruling_of
from expctl.imported.headings import title_and_name
from expctl.imported.likeness import may_be_the_same
from expctl.imported.verdicts import opens_with_verdict
from expctl.imported.vocabulary import PATTERNS

NAMES_THINGS = re.compile(rf"\b(?:{THINGS})\b", re.IGNORECASE)
# `**wider loads** (12 regs): ...` and `**wider loads:** ...` say in bold what was tried.
BOLD = re.compile(
    r"(?:\*\*|__)(?P<change>.+?)(?:\*\*|__)\s*(?:\([^()]*\))?\s*(?:[:.]|[-–—]+\s|(?<=[:.]\*\*)\s)\s*(?P<rest>\S.*)"
)


def read_list(section: Section, lines: Sequence[Line], rows: Sequence[Row]) -> Iterator[Row]:
    """Yield an experiment for each item below a heading that says that all were given up.

    Each says in bold what was tried, and a third of them has a figure. What tells of one of `rows`, or says that something was
    kept, is left out.
    """
    words = _given_up(section.title)
    outer = [line for line in lines if not (BULLET.fullmatch(line.text) and line.text[:1].isspace())]
    found = [(number, item) for number, text in items(outer) if (item := BOLD.fullmatch(text))]
    measured = sum(bool(MEASURED.search(item[0])) for _, item in found)
    if not words or measured < MEASURED_SHARE * len(found):
        return
    for number, item in found:
        change, name = title_and_name(item["change"])
        kept = any(verdict is Verdict.KEEP and pattern.search(item["rest"]) for verdict, pattern in PATTERNS)
        if kept or not change or any(may_be_the_same(item["change"], row.change) for row in rows):
            continue
        yield Row(
            line=number,
            name=name,
            rulings=(Ruling(verdict=Verdict.REJECT, kind=None, words=words),),
            change=plain_text(change),
            result=plain_text(item["rest"]),
            why="",
            date="",
            figures=(),
            table=section.line,
        )


def _given_up(heading: str) -> str:
    """Return the words of a heading that reject all below it; "" for others."""
    title = BRACKETS.sub("", heading).strip()
    found = GIVEN_UP.fullmatch(title) or (ruling_of(heading) if NAMES_THINGS.search(title) else None)
    given_up = found and (found.re is GIVEN_UP or opens_with_verdict(found["verdict"]) is Verdict.REJECT)
    return found["verdict"] if found and given_up else ""
