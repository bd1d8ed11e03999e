"""Find experiments that a hand-kept ledger tells outside tables: bullets with a verdict, and sections that end with one."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import plain_text
from expctl.imported.bullets import DECIDES, LABEL, MEASURED, read_bullets
from expctl.imported.document import Again, Document, Line, Row, Ruling, Section, Unread
from expctl.imported.fields import WHY_FAILED, decided_otherwise, is_broken, tells_one
from expctl.imported.groups import NOT_KEPT, NOT_REJECTED, of_several, ruled_sections, ruling_of_items, verdict_of
from expctl.imported.headings import (
    COUNTED,
    NUMBERED,
    Heading,
    experiments_of,
    marks_are_verdicts,
    outcomes_are_verdicts,
    read_heading,
)
from expctl.imported.items import outer_items, outside_fences
from expctl.imported.likeness import may_be_the_same
from expctl.imported.lists import read_entries, read_led, read_list, read_marked, read_nested
from expctl.imported.verdicts import Dialect, Pending, decides, opens_with_verdict, rulings
from expctl.imported.vocabulary import DECIDED, MARKS

ONLY_LABEL = re.compile(
    r"\s*(?:[-*+]\s+)?\W*(?:verdict|decision|outcome|status|conclusion|ruling)\s*(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*",
    re.IGNORECASE,
)
# The line below such a label: a bullet, or running text
BELOW = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?([^\s#|].*)")
TELLS_RESULT = re.compile(
    r"\s*(?:[-*+]\s+)?\W*(?:results?|measured|measurements?|impact|effect|numbers|ergebnis)\s*(?:\*\*|__)?\s*[:.]\s*(?:\*\*|__)?\s*(.*)",
    re.IGNORECASE,
)
TELLS_WHY = re.compile(
    r"\s*(?:[-*+]\s+)?\W*(?:why(?: [a-z ]+)?|reasons?|root cause|rationale|lesson|learning|grund)"
    r"\s*(?:\*\*|__)?\s*[:.]\s*(?:\*\*|__)?\s*(.*)",
    re.IGNORECASE,
)
# `- Cycles: 1657 (no change). Reverted.` below `- Change: ...`
TELLS_CHANGE = re.compile(
    r"\s*(?:[-*+]\s+)?\W*(?:changes?|what(?: changed)?|hypothesis|idea)\s*(?:\*\*|__)?\s*:", re.IGNORECASE
)
ENDS_WITH = re.compile(
    r"\s*[-*+]\s+\W*\w[\w ]{1,24}:\s.*[.;)]\s+((?:kept|retained|reverted|rejected|discarded|rolled back)\b[^.;]{0,40})[.\s]*",
    re.IGNORECASE,
)
# `3. Wider loads - failed` tells of the row 3 of a table, `Hypothesis 3 - wider loads` of the row H3 or 3.
LEADING_NUMBER = re.compile(r"\W*(?:([A-Za-z]+)\s+)?#?(\d+)\s*(?:[.):]|[-–—]+)\s+")
# A sentence of one word, in the section of an experiment with a number or an id
ONE_WORD = re.compile(
    r"(?:^|[.!)*]\s+)\W*(kept|retained|reverted|rejected|discarded|abandoned|rolled back)"
    r"(?: (?:\+|&|and) (?:committed|merged|pushed|reverted))?\.(?=\W*$)",
    re.IGNORECASE,
)
IN_LIST = re.compile(r"\s+\S|\d+[.)]\s")
LEADING_MARK = re.compile(r"^[^\w#]+")
SEEN = {Verdict.INVALID, Verdict.INCONCLUSIVE, Verdict.NO_OP}
# What a section below `Failed experiments` or `What worked` says where it is about one
TELLS_TRIED = re.compile(
    r"^\W*(?:what was tried|tried|change|idea|hypothesis|approach|result|results|why it \w+)\W*:", re.IGNORECASE | re.MULTILINE
)
# `Phase 2: deeper (2,177 -> 1,486 cycles), tasks 17-24`, `Cumulative: 3.2 -> 3.6`
OF_MANY = re.compile(
    r"^\W*(?:cumulative|combined|overall|total)\b"
    r"|\b(?:tasks|opts|optimi[sz]ations|experiments|iterations|iters|runs|items)\s+#?\d+\s*[-–—]\s*\d",
    re.IGNORECASE,
)
MARKED_MIN = 3
EXPLAINS = re.compile(r"\W*(?:legend|glossary|how to read)\b", re.IGNORECASE)
UNSURE = re.compile(r"\W*(?:inconclusive|undecided|unclear)\b", re.IGNORECASE)
# `**Attempted and reverted.**`, in a line of its own
TRIED_AND = re.compile(
    r"\s*(?:\*\*|__)(?:attempted|tried|implemented|built|tested|measured)(?: and|, then|,| then) (?:was )?(\w+(?: back)?)\W*",
    re.IGNORECASE,
)


def read_text(document: Document, rows: Sequence[Row], dialect: Dialect) -> list[Row | Unread | Again]:
    """Return the experiments told in bullets and sections, and those that wait for a verdict. A section about one of `rows`,
    the experiments of tables, tells no other, but the same Again. Lines in fences are not read.
    """
    found: list[Row | Unread | Again] = []
    names = {row.name for row in rows if row.name}
    marked = marks_are_verdicts(document.sections)
    marks = Counter(section.under for section in document.sections if marked and MARKS.match(section.title))
    outcomes = outcomes_are_verdicts(document.sections)
    told: set[str] = set()
    above = {section.title: section.under for section in document.sections}
    # A heading of others that state verdicts themselves is that of several: `Completed (merged to main)`
    stated = Counter(each.under for each in document.sections if DECIDED.search(each.title))
    groups_of = {title for title, times in stated.items() if times > 1}
    groups = ruled_sections({title: under for title, under in above.items() if title != document.title})
    whole_document = ruled_sections({document.title: ""})
    fails = any(DECIDES.search(line.text) for line in document.lines())
    for section in experiments_of(document.sections):
        if section.title == document.title and rows:
            continue  # what is said of the whole document
        if section.under in told and not DECIDED.search(section.title):
            continue  # a part of the experiment above it
        lines = tuple(outside_fences(section.lines))
        heading = read_heading(section.title, dialect, marked=marked, outcomes=outcomes)
        if section.title in groups_of or (of_several(section.title) and len(list(outer_items(section, paragraphs=False))) > 1):
            heading = None
        if heading and (same := _row_told_of(heading, section, rows)):
            told.add(section.title)
            found.append(_again(section, same, _section(section, heading, lines, dialect, among=True)))
            continue
        entries = read_entries(section, lines, dialect)
        if entries and not (heading and heading.words):
            found += entries
            continue
        nested = dict(read_nested(section, lines, dialect))
        if nested:
            found += nested
            inside = frozenset[int]().union(*nested.values())
            lines = tuple(line for line in lines if line.number not in inside)
        among = marks[section.under] >= MARKED_MIN
        one = heading and heading.name not in names and not nested
        whole = _section(section, heading, lines, dialect, among=among) if heading and one else None
        outer = [title for title in _outer(section.under, above) if title != document.title or title in whole_document]
        if isinstance(whole, Row) and any(_contradicts(each, title) for each in whole.rulings for title in outer):
            continue  # a KEEP below `What didn't work`
        ruled = next((title for title in outer if title in groups), "")
        if whole is None and ruled and heading:
            whole = _of_group(section, heading, lines, groups[ruled])
        elif whole is None and heading and set(outer) & set(whole_document):
            told_whole = tells_one(lines) or any(map(WHY_FAILED.match, _texts(lines)))
            whole = _of_group(section, heading, lines, whole_document[document.title]) if told_whole else None
        if whole:
            told.add(section.title)
        made = [whole] if whole else list(read_bullets(section, lines, dialect, rows, fails=fails))
        seen = {each.line for each in made}
        listed = (
            [
                *read_marked(section, document.title),
                *read_led(section, rows),
                *read_list(section, groups | whole_document, rows),
            ]
            if not whole
            else []
        )
        found += [*made, *{each.line: each for each in listed if each.line not in seen}.values()]
    return found


def _outer(title: str, above: Mapping[str, str]) -> list[str]:
    """Return `title` and the headings above it, the innermost first."""
    found: list[str] = []
    while title and title not in found:
        found.append(title)
        title = above.get(title, "")
    return found


def _contradicts(ruling: Ruling, heading: str) -> bool:
    return {ruling.verdict, ruling_of_items(heading)} == {Verdict.KEEP, Verdict.REJECT}


def _row_told_of(heading: Heading, section: Section, rows: Sequence[Row]) -> Row | None:
    """Return the row of a table with whose id or number a heading begins, where both speak of the same change."""
    number = LEADING_NUMBER.match(heading.title)
    names = {number[2], (number[1] or "")[:1].upper() + number[2]} if number else {heading.name}
    title = heading.title[number.end() :] if number else heading.title
    body = "" if number else _text(section.lines)
    return next((row for row in rows if row.name and row.name in names and may_be_the_same(title, row.change, body)), None)


def _again(section: Section, row: Row, told: Row | Unread | None) -> Again | Unread:
    """Return that `section` tells of `row` once more; where it states another verdict, nobody knows which one holds."""
    verdicts = [{each.verdict for each in made.rulings} for made in (row, told) if isinstance(made, Row)]
    text = plain_text(section.title)[:120]
    if len(verdicts) > 1 and verdicts[0] != verdicts[1]:
        why = f"it states {'/'.join(sorted(verdicts[1]))}, but the row of line {row.line} {'/'.join(sorted(verdicts[0]))}"
        return Unread(line=section.line, text=text, why=why)
    return Again(line=section.line, text=text, row=row.line)


def _section(
    section: Section, heading: Heading, lines: Sequence[Line], dialect: Dialect, *, among: bool
) -> Row | Unread | None:
    """Return the experiment that a whole section tells: its heading states a verdict, or one line is labelled as such.

    `among`: headings beside it begin with check marks too.
    """
    if EXPLAINS.match(section.title):
        return None
    labelled = list(_labelled(lines))
    stated = [text for text in labelled if _is_stated(text, dialect)]
    words = heading.words
    if not words and not labelled and (heading.name or NUMBERED.match(section.title)):
        outside = [line.text for line in lines if not IN_LIST.match(line.text)]
        stated = sorted({found[1].lower() for text in outside for found in ONE_WORD.finditer(text)})
    counted = heading.name or COUNTED.match(LEADING_MARK.sub("", section.title))
    numbered = bool(counted or NUMBERED.match(section.title))
    other = decided_otherwise(lines, experiment=numbered) if not words and not stated else None
    if not words:
        measured = sum(bool(TELLS_RESULT.fullmatch(line.text)) for line in lines)
        stated = [other.words] if other else stated
        if len(stated) != 1 or len(labelled) - len(stated) > 1 + measured:
            return None
        words = stated[0]
    outcome = Ruling(verdict=heading.verdict, kind=None, words=words) if heading.verdict else other
    made = (outcome,) if outcome else rulings(words, dialect)
    if not isinstance(made, tuple):
        why = made.value if made else f"{words!r} is not recognised as a verdict"
        return Unread(line=section.line, text=plain_text(section.title)[:120], why=why)
    verdicts = {each.verdict for each in made}
    if words.lower() == "failed" and is_broken(_joined(lines, TELLS_RESULT)):
        return None
    if not counted and (verdicts & SEEN or (words == section.title[:1] and not _tells_tried(lines, among=among))):
        return None  # `Events - OOM` and `✅ Quick install` are about something else
    told = [opens_with_verdict(text, dialect) for text in stated]
    told += [Verdict.INCONCLUSIVE for text in labelled if UNSURE.match(text)]
    if any(other and {other} != verdicts for other in told):
        return None  # the label takes back what the heading says
    return Row(
        line=section.line,
        name=heading.name,
        rulings=made,
        change=plain_text(heading.title),
        result=_joined(lines, TELLS_RESULT),
        why=_joined(lines, TELLS_WHY) or plain_text(words),
        date="",
        figures=(),
        table=section.line,
    )


def _tells_tried(lines: Sequence[Line], *, among: bool) -> bool:
    return bool(TELLS_TRIED.search(_text(lines)) or (among and MEASURED.search(_text(lines))))


def _of_group(section: Section, heading: Heading, lines: Sequence[Line], words: str) -> Row | None:
    """Return the experiment of a section below a heading such as `Failed experiments`, whose `words` rule it.

    It must say what was tried or measured, and nothing that may be another verdict.
    """
    text = _text(lines)
    verdict = verdict_of(words)
    if (
        OF_MANY.search(section.title)
        or verdict is None
        or not (
            TELLS_TRIED.search(text)
            or MEASURED.search(section.title)
            or WHY_FAILED.search(text)
            or ((heading.name or NUMBERED.match(section.title) or COUNTED.match(section.title)) and MEASURED.search(text))
        )
    ):
        return None
    against = (NOT_KEPT if verdict is Verdict.KEEP else NOT_REJECTED).search(f"{section.title}\n{text}")
    if against or (verdict is Verdict.REJECT and is_broken(_joined(lines, TELLS_RESULT))):
        return None
    return Row(
        line=section.line,
        name=heading.name,
        rulings=(Ruling(verdict=verdict, kind=None, words=words),),
        change=plain_text(heading.title),
        result=_joined(lines, TELLS_RESULT),
        why=_joined(lines, TELLS_WHY),
        date="",
        figures=(),
        table=section.line,
    )


def _texts(lines: Sequence[Line]) -> Iterator[str]:
    return (line.text for line in lines)


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(_texts(lines))


def _labelled(lines: Sequence[Line]) -> Iterator[str]:
    """Yield what lines labelled Verdict, Status or Decision say, be it in the line below."""
    changes = sum(bool(TELLS_CHANGE.match(line.text)) for line in lines)
    for line, below in itertools.zip_longest(lines, lines[1:]):
        found = (ENDS_WITH.fullmatch(line.text) if changes == 1 else None) or LABEL.fullmatch(line.text)
        item = BELOW.fullmatch(below.text) if below and ONLY_LABEL.fullmatch(line.text) else None
        told = TRIED_AND.fullmatch(line.text)
        if said := found or item or told:
            yield said[1]


def _is_stated(text: str, dialect: Dialect) -> bool:
    """Return whether a line labelled Verdict or Status says what was decided, and not only what was seen."""
    made = rulings(text, dialect)
    return isinstance(made, Pending) or (isinstance(made, tuple) and decides(text))


def _joined(lines: Sequence[Line], label: re.Pattern[str]) -> str:
    return plain_text("; ".join(found[1] for line in lines if (found := label.fullmatch(line.text)) and found[1]))
