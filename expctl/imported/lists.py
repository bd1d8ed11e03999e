"""Find lists whose heading says what became of all their items, e.g. `What didn't work`."""

import re
from collections.abc import Iterator, Mapping, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import plain_text
from expctl.imported.bullets import MEASURED
from expctl.imported.document import Row, Ruling, Section
from expctl.imported.groups import ENDS, MEANINGS, MEASURED_SHARE, NOT_KEPT, NOT_REJECTED, THINGS, ruling_of_items, verdict_of
from expctl.imported.headings import PART, title_and_name
from expctl.imported.items import outer_items, parted
from expctl.imported.likeness import may_be_the_same
from expctl.imported.vocabulary import PATTERNS

# `Failed` alone may be about tests.
NAMES_THINGS = re.compile(rf"\b(?:{THINGS}|what|things)\b|{ENDS.pattern}", re.IGNORECASE)
FILE = re.compile(r"[`*]*[\w./-]+\.\w{1,5}[`*]*", re.ASCII)
TITLE_MAX = 120
LISTED_MIN = 4


def read_list(section: Section, ruled: Mapping[str, str], rows: Sequence[Row]) -> Iterator[Row]:
    """Yield an experiment for each item of `section` where its heading, or the one above, is `ruled`: says what became of all.

    Each item says what was tried before a colon or a dash, or in bold; and a third of them has a figure, or most of at least
    four begin in bold. What tells of one of `rows`, or of another verdict, is left out.
    """
    inherits = section.under in ruled and ruling_of_items(section.title) is verdict_of(ruled[section.under])
    heading = section.under if inherits else section.title
    words = ruled.get(heading, "")
    verdict = verdict_of(words)
    if verdict is None or not (NAMES_THINGS.search(heading) or words in MEANINGS):
        return
    found = [(number, parted(text)) for number, text in outer_items(section, paragraphs=False)]
    told = [(number, title, rest) for number, (title, rest) in found if rest and len(title) <= TITLE_MAX]
    bold = sum(text.startswith(("**", "__", "`")) for _, text in outer_items(section, paragraphs=False))
    listed = verdict is Verdict.REJECT and bold >= LISTED_MIN and bold > len(told) / 2
    if not listed and sum(bool(MEASURED.search(f"{title} {rest}")) for _, title, rest in told) < MEASURED_SHARE * len(told):
        return
    against = NOT_KEPT if verdict is Verdict.KEEP else NOT_REJECTED
    for number, tried, rest in told:
        change, name = title_and_name(tried)
        other = {Verdict.KEEP, Verdict.REJECT} - {verdict}
        decided = any(found in other and pattern.search(rest) for found, pattern in PATTERNS)
        if (
            PART.fullmatch(tried)
            or decided
            or against.search(rest)
            or not change
            or any(may_be_the_same(tried, row.change) for row in rows)
        ):
            continue
        yield Row(
            line=number,
            name=name,
            rulings=(Ruling(verdict=verdict, kind=None, words=words),),
            change=plain_text(change),
            result=plain_text(rest),
            why="",
            date="",
            figures=(),
            table=section.line,
        )
