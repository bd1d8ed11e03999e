"""Find the experiments told in lists: below a heading that says what became of all (`What didn't work`), and in labelled parts
(`Change: ...`, `Result: ...`, `Decision: kept`) that repeat below one heading or stand inside an item.
"""

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import plain_text
from expctl.imported.bullets import ABOUT_EXPERIMENTS, MEASURED
from expctl.imported.document import Line, Row, Ruling, Section
from expctl.imported.fields import Field, field_of, words_of
from expctl.imported.groups import (
    ENDS,
    MEANINGS,
    MEASURED_SHARE,
    NOT_KEPT,
    NOT_REJECTED,
    SEVERAL,
    THINGS,
    ruling_of_items,
    verdict_of,
)
from expctl.imported.headings import PART, title_and_name
from expctl.imported.items import is_listed, outer_items, parted, tree
from expctl.imported.likeness import may_be_the_same
from expctl.imported.verdicts import Dialect, means_by_map, rulings
from expctl.imported.vocabulary import DECIDED, MARKED, MARKS, PATTERNS

# `Failed` alone may be about tests.
NAMES_THINGS = re.compile(rf"\b(?:{THINGS}|{SEVERAL}|what|things)\b|{ENDS.pattern}", re.IGNORECASE)
FILE = re.compile(r"[`*]*[\w./-]+\.\w{1,5}[`*]*", re.ASCII)
TITLE_MAX = 120
LISTED_MIN = 4
# Below such a heading each item was tried, measured or not.
ALL_TRIED = re.compile(
    r"\b(?:tried|attempted|attempts|do(?:[ -]not|n.?t)[ -](?:try|re-?(?:try|run|peat|visit)))\b", re.IGNORECASE
)
LABELLED = re.compile(
    r"(?P<indent>\s*)(?:[-*+]\s+)?(?:\*\*|__)?(?P<label>[A-Za-z][A-Za-z ]{0,24}?)(?:\*\*|__)?:(?:\*\*|__)?\s+(?P<words>\S.*)"
)
BEGINS = frozenset(("change", "change attempt", "idea", "attempt", "attempted", "tried", "optimization", "optimisation"))
DECIDES = frozenset(("decision", "verdict", "outcome", "status", "disposition", "ruling"))
MEASURES = frozenset(("result", "results", "measured", "measurement", "impact", "effect"))
EXPLAINS = frozenset(("why", "reason", "rationale", "lesson", "root cause"))
CONTINUED = re.compile(r"\s+[^\s*+-]")
AT_LEAST = 2
# `Tested and rejected:` before a list
LEADS = re.compile(
    r"[*_]*(?:(?:also|things|ideas|what we) )?(?:tried|tested|attempted|measured|benchmarked),? (?:and|but|then|and then)"
    r" (?P<verdict>rejected|reverted|discarded|abandoned|dropped)(?: \([^()]*\))?:[*_]*",
    re.IGNORECASE,
)


def read_led(section: Section, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield an experiment for each item of a list that a line such as `Tested and rejected:` leads in, as `read_list` does."""
    for at, line in enumerate(section.lines):
        if not (found := LEADS.fullmatch(line.text.strip())):
            continue
        listed = itertools.takewhile(is_listed, section.lines[at + 1 :])
        title = f"tried and {found['verdict']}"
        led = dataclasses.replace(section, title=title, under="", lines=tuple(listed))
        yield from read_list(led, {title: found["verdict"].lower()}, rows)


def read_list(section: Section, ruled: Mapping[str, str], rows: Sequence[Row]) -> Iterator[Row]:
    """Yield an experiment for each item of `section` where its heading, or the one above, is `ruled`: says what became of all.

    Each item says what was tried before a colon or a dash, or in bold; and a third of them has a figure, or most of at least
    four begin in bold, where the heading doesn't say that all were tried, and failed. What tells of one of
    `rows`, or of another verdict, is left out.
    """
    inherits = section.under in ruled and ruling_of_items(section.title) is verdict_of(ruled[section.under])
    heading = section.under if inherits else section.title
    words = ruled.get(heading, "")
    verdict = verdict_of(words)
    tried = verdict is Verdict.REJECT and ALL_TRIED.search(section.title) is not None
    if verdict is None or not (tried or NAMES_THINGS.search(heading) or words in MEANINGS):
        return
    found = [(number, parted(text)) for number, text in outer_items(section, paragraphs=False)]
    told = [(number, title, rest) for number, (title, rest) in found if (rest or tried) and len(title) <= TITLE_MAX]
    bold = sum(text.startswith(("**", "__", "`")) for _, text in outer_items(section, paragraphs=False))
    listed = tried or (verdict is Verdict.REJECT and bold >= LISTED_MIN and bold > len(told) / 2)
    if not listed and sum(bool(MEASURED.search(f"{title} {rest}")) for _, title, rest in told) < MEASURED_SHARE * len(told):
        return
    against = NOT_KEPT if verdict is Verdict.KEEP else NOT_REJECTED
    for number, title, rest in told:
        change, name = title_and_name(title)
        other = {Verdict.KEEP, Verdict.REJECT} - {verdict}
        decided = any(found in other and pattern.search(rest) for found, pattern in PATTERNS)
        part = PART.fullmatch(title) or (tried and field_of(f"{title}: {rest}"))
        if part or decided or against.search(rest) or not change or any(may_be_the_same(title, row.change) for row in rows):
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


def read_marked(section: Section, title: str) -> Iterator[Row]:
    """Yield an experiment for each item of a list that begins with a check mark or a cross, where most items do, and a word for
    what was undone (`reverted`) bears out most crosses. An item with words against its mark is left out. The headings,
    or the `title` of the document, must be about experiments.
    """
    if not ABOUT_EXPERIMENTS.search(f"{section.title} {section.under} {title}"):
        return
    listed = list(outer_items(section, paragraphs=False))
    marked = [(line, text[0], text[1:].lstrip("\ufe0f *_")) for line, text in listed if MARKS.match(text)]
    crosses = [text for _, mark, text in marked if MARKED[mark] is Verdict.REJECT]
    borne = sum(bool(DECIDED.search(text) and NOT_KEPT.search(text)) for text in crosses)
    if len(marked) < LISTED_MIN or 2 * len(marked) <= len(listed) or not crosses or 2 * borne <= len(crosses):
        return
    for number, mark, text in marked:
        against = NOT_KEPT if MARKED[mark] is Verdict.KEEP else NOT_REJECTED
        change, name = title_and_name(parted(text)[0])
        if change and len(crosses) < len(marked) and not against.search(text):
            yield Row(
                line=number,
                name=name,
                rulings=(Ruling(verdict=MARKED[mark], kind=None, words=mark),),
                change=plain_text(change),
                result=plain_text(parted(text)[1]),
                why="",
                date="",
                figures=(),
                table=section.line,
            )


@dataclass(slots=True, kw_only=True)
class _Entry:
    line: int
    parts: dict[str, list[str]] = field(default_factory=dict)

    def words(self, labels: frozenset[str]) -> str:
        return "; ".join(text for label, texts in self.parts.items() if label in labels for text in texts)


def read_entries(section: Section, lines: Sequence[Line], dialect: Dialect) -> list[Row]:
    """Return an experiment for each run of labelled lines in `lines` that says what was changed and what was decided.

    At least two must do so: one alone is told by its heading. A run with two decisions, or an uncertain one, is left out.
    """
    entries = [entry for entry in _entries(lines) if sum(len(entry.parts.get(label, ())) for label in DECIDES) == 1]
    found = []
    for entry in entries:
        words = entry.words(DECIDES)
        made = rulings(words, dialect)
        change, name = title_and_name(entry.words(BEGINS))
        if isinstance(made, tuple) and change:
            found.append(
                Row(
                    line=entry.line,
                    name=name,
                    rulings=made,
                    change=plain_text(change),
                    result=plain_text(entry.words(MEASURES)),
                    why=plain_text(entry.words(EXPLAINS) or words),
                    date="",
                    figures=(),
                    table=section.line,
                )
            )
    return found if len(entries) >= AT_LEAST else []


def _entries(lines: Sequence[Line]) -> Iterator[_Entry]:
    """Yield the runs of labelled lines: each begins with a label of BEGINS, and ends before the next one."""
    entry: _Entry | None = None
    last: list[str] = []
    for line in lines:
        labelled = LABELLED.fullmatch(line.text)
        if labelled and not labelled["indent"]:
            label = labelled["label"].lower()
            if label in BEGINS:
                if entry:
                    yield entry
                entry = _Entry(line=line.number)
            last = entry.parts.setdefault(label, []) if entry else []
            last.append(labelled["words"])
        elif last and CONTINUED.match(line.text):
            last[-1] += " " + line.text.strip()
        else:
            last = []
    if entry:
        yield entry


def read_nested(section: Section, lines: Sequence[Line], dialect: Dialect) -> Iterator[tuple[Row, frozenset[int]]]:
    """Yield an experiment for each item of a list inside which one part is labelled as its decision, and all lines of it."""
    for item in (each for outer in tree(lines) for each in outer.all()):
        parts = [(field_of(each.text), words_of(each.text)) for each in item.inside]
        decided = [words for field, words in parts if field is Field.DECISION]
        made = rulings(decided[0], dialect) if len(decided) == 1 and field_of(item.text) in (None, Field.CHANGE) else None
        if not isinstance(made, tuple) or not (DECIDED.search(decided[0]) or means_by_map(decided[0], dialect)):
            continue
        title, rest = parted(words_of(item.text) if field_of(item.text) else item.text)
        change, name = title_and_name(title)
        told = {field: "; ".join(words for kind, words in parts if kind is field) for field in (Field.RESULT, Field.WHY)}
        row = Row(
            line=item.line,
            name=name,
            rulings=made,
            change=plain_text(change or title),
            result=plain_text(told[Field.RESULT] or rest),
            why=plain_text(told[Field.WHY] or decided[0]),
            date="",
            figures=(),
            table=section.line,
        )
        yield row, frozenset(each.line for each in item.all())
