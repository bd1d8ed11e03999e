"""Find the lines of a hand-kept ledger that may be experiments though no verdict was understood: they are proposed to a person.

Headings below one heading, items of one list and rows of one table are of a kind: where one is an experiment, or enough tell an
outcome, all are asked about. What explains, plans or sums up is left out. A question costs a look, silence an experiment.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.bullets import ABOUT_EXPERIMENTS, LABEL
from expctl.imported.document import Document, Row, Section, Table
from expctl.imported.fields import field_of, tells_one
from expctl.imported.groups import ruled_sections, ruling_of_items
from expctl.imported.headings import PART, experiments_of, tails
from expctl.imported.heads import HEADS, MEANING, OF_CHANGES, Role
from expctl.imported.items import Item, outside_fences, parted, tree
from expctl.imported.outcomes import first_guess, tells_outcome, weigh
from expctl.imported.places import Place
from expctl.imported.rules import FORBIDS, row_of_rule
from expctl.imported.verdict_columns import FIRST, MEASURED, RULES, plain_head
from expctl.imported.vocabulary import DECIDED, MARKS

TEXT_MAX = 4000
TITLE_MAX = 300
SOME, MOST = 0.3, 0.5
WORDS = 4
SHORT_TITLE = 5
# What stands below such a heading, or anywhere below it, has not been done; below one with a few words of the second kind stands
# what explains or sums up.
PLANNED = re.compile(
    r"""\b(?:next\ (?:steps?|experiments?|ideas|up|actions?|candidates?|iterations?|session)|to-?do|future|roadmap|backlog|queue
    |not\ (?:yet\ )?(?:been\ )?(?:tried|tested|attempted|implemented)|(?:ideas|things|what)\ (?:to|for|would|we\ will)|open\ questions?
    |remaining\ (?:ideas|opportunities|work|steps)|untried|planned|plans?)\b|^\W*(?:next|follow-?ups?|upcoming)\b""",
    re.IGNORECASE | re.VERBOSE,
)
EXPLAINED = re.compile(
    r"""\b(?:lessons?|insights?|learnings?|learned|summary|conclusions?|setup|environment|how\ to|methodology|background|overview
    |glossary|legend|references?|appendix|goals?|rules?|protocol|criteria|gates?|usage|hardware|takeaways?|files?|structure
    |instructions?|contents?|notes?\ on|recommend\w*|status|principles?|current\ (?:state|best)|targets?|profil\w+|breakdown
    |commands?|key\ findings?|guiding|priorities|motivation|architecture|conventions?|validation|correctness|verification
    |implementation|expected|analysis)\b""",
    re.IGNORECASE | re.VERBOSE,
)
AT_START = re.compile(r"\W*(?:\d+\W+)?(?:(?:the|an?|initial|stock|original|first)\W+)*(?:baseline|reference)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]{2,}")
BOLD_LINE = re.compile(r"\W{0,6}(?:\*\*|__)(.+?)(?:\*\*|__)\s*(.*)")
SENTENCE = re.compile(r"(?<=[.!])\s+(?=\W*[A-Z])")
# `+3 %`, `-12 tok/s`, `1.5x`, `3.1 -> 2.9 ms`
CHANGED = re.compile(
    r"(?:^|[\s(*~≈:|])(?:[-+−±]\s?\d[\d.,]*|\d[\d.,]*)(?:\s?%|x\b|×)(?!\s?\d)|[-+−±]\d[\d.,]*\s?[a-zµμ]{1,6}\b"
    r"|\d\W{0,3}[a-zµμ]{0,6}(?:/[a-z]+)?\W{0,3}\s?(?:→|->|=>)\s?\W{0,3}\d",
    re.IGNORECASE,
)
# The word and the number, or the id, or the date, with which a heading begins that is one of many
COUNTED = re.compile(
    r"[\W_]*(?:(?P<word>[^\W\d_]+)?[\s#_-]{0,3}\d+(?:\.\d+)*[a-z]?\b|(?P<commit>`?[0-9a-f]{7,40}\b))(?!\s?(?:%|x\b|×|ms\b|us\b))",
    re.IGNORECASE | re.ASCII,
)
# Below such a head stands what was measured, or on what: no change.
OF_SIZES = frozenset(
    """metric metrics parameter param property resource dimension quantity batch size sizes shape context seq sequence length n m k
    path file files field counter gpu device hardware layer dataset command flag section workload workloads regime concurrency
    threads tokens test tests benchmark scenario platform""".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A place that may tell an experiment, and the verdict that its words let one guess (None: nobody knows)."""

    place: Place
    guess: Verdict | None


def candidates(document: Document, rows: Sequence[Row], known: Mapping[int, Place], read: set[int]) -> Iterator[Candidate]:
    """Yield the lines of `document` that may be experiments beside `rows`; `known` are its places by line, `read` the lines
    that were understood, of tables and of sections about their rows.
    """
    found = _Search(document, rows, read).found()
    lines = sorted(found.keys() & known.keys() - read - {row.line for row in rows})
    yield from (Candidate(place=known[line], guess=found[line]) for line in lines)


class _Search:
    """What is asked about in one document: `found` gives the guessed verdicts by line."""

    def __init__(self, document: Document, rows: Sequence[Row], read: set[int]) -> None:
        self.document, self.rows = document, rows
        self.lines = [section.line for section in document.sections]
        self.title_of = {section.line: section.title for section in document.sections}
        last: dict[str, int] = {}
        self.above: dict[int, int] = {}
        for section in document.sections:
            self.above[section.line] = last.get(section.under, 0) if section.under else 0
            last[section.title] = section.line
        self.taken = {row.line for row in rows} | (read & {line for line, title in self.title_of.items() if title})
        self.read = read
        self.about = bool(rows) or any(map(ABOUT_EXPERIMENTS.search, (document.name.replace("_", " "), *self.title_of.values())))
        self.rules = ruled_sections({document.title: ""})

    def found(self) -> dict[int, Verdict | None]:
        """Return the guessed verdicts of all lines that are asked about."""
        tables = {table.line: self._rows(table) for table in self.document.tables if table.line not in self.read}
        headings = self._headings()
        of_rows = {above for line, asked in tables.items() if len(asked) > 1 for above in self._path(line)}
        found = {
            line: guess
            for line, guess in headings.items()
            if line not in of_rows or _tells(self.title_of[line]) or _word(self.title_of[line])
        }
        inside = self.taken | set(found)
        for line, asked in tables.items():
            if not inside & set(self._path(line)) or sum(map(bool, asked.values())) >= MOST * len(asked) > 1:
                found |= asked
        return found | self._items(inside)

    def _section(self, line: int) -> int:
        index = bisect_right(self.lines, line)
        return self.lines[index - 1] if index else 0

    def _path(self, line: int) -> Iterator[int]:
        """Yield the lines of the headings above `line`, the innermost first."""
        at = self._section(line)
        while at:
            yield at
            at = self.above.get(at, 0)

    def _ruling(self, line: int) -> Verdict | None:
        """Return the verdict that the innermost heading at or above `line` which gives one gives to all below it."""
        titles = (self.title_of[at] for at in self._path(line))
        ruled = (title for title in titles if title != self.document.title or title in self.rules)
        return next((found for title in ruled if (found := ruling_of_items(title))), None)

    def _plans(self, line: int) -> bool:
        """Return whether the heading above `line` explains, or one of those above it plans."""
        titles = [self.title_of[at] for at in self._path(line)]
        titles = [title for title in titles if title != self.document.title]
        return any(map(PLANNED.search, titles)) or (bool(titles) and not self._ruling(line) and _holds_none(titles[0]))

    def _headings(self) -> dict[int, Verdict | None]:
        groups: dict[int, list[Section]] = {}
        for section in experiments_of(self.document.sections):
            if section.title and section.title != self.document.title:
                groups.setdefault(self.above.get(section.line, 0), []).append(section)
        with_tables = {self._section(table.line) for table in self.document.tables}
        words = Counter(_word(section.title) for members in groups.values() for section in members)
        found: dict[int, Verdict | None] = {}
        for above, members in groups.items():
            if above and self._plans(above):
                continue
            ruled = self._ruling(above) if above else None
            free = [each for each in members if each.line not in self.taken and self._may_be_one(each, with_tables)]
            told = {each.line for each in free if self.about and (_tells(each.title) or _told(each))}
            sure = told | {each.line for each in members if each.line in self.taken}
            many = len(sure) >= MOST * len(members)
            for each in free:
                word = _word(each.title)
                counted = self.about and word is not None and words[word] > 1 and (word or _outcome(each))
                if each.line in told or counted or ruled or (self.about and many):
                    found[each.line] = first_guess([*_ends(each.title), *_told_in(each), each.title]) or ruled
        # A heading of several is none itself.
        several = {self.above.get(line, 0) for line in (*found, *self.taken)}
        several |= {self._section(line) for line in self.taken if line not in self.title_of}
        return {line: guess for line, guess in found.items() if line not in several}

    def _may_be_one(self, section: Section, with_tables: set[int]) -> bool:
        title = section.title
        empty = not _text(section).strip() and section.line not in with_tables
        if PART.fullmatch(title) or FORBIDS.search(title) or AT_START.match(title) or empty:
            return False
        if any(map(weigh, _ends(title))):
            return True
        several = ruling_of_items(title) and len(tree(tuple(outside_fences(section.lines)))) > 1
        return not several and (bool(_word(title)) or not _holds_none(title))

    def _items(self, inside: set[int]) -> dict[int, Verdict | None]:
        found: dict[int, Verdict | None] = {}
        for section in self.document.sections:
            path = list(self._path(section.line))
            forbids = any(FORBIDS.search(self.title_of[at]) for at in path)
            ruled = self._ruling(section.line) or (Verdict.REJECT if forbids else None)
            if self._plans(section.line) or (not self.about and not ruled):
                continue
            lists = [tree(tuple(outside_fences(section.lines)))]
            while lists:
                listed = [item for item in lists.pop() if not field_of(item.text)]
                free = [item for item in listed if item.line not in self.taken and _may_be_tried(item.text)]
                free = [item for item in free if not (forbids and row_of_rule(item.text, self.rows))]
                some = self._some(free, listed, ruled=ruled is not None, taken=bool(inside & set(path)))
                found |= {item.line: ruled or first_guess(_slots(item.text)) for item in some}
                lists += (item.inside for item in listed if item not in some and item.inside and item.line not in self.taken)
        return found

    def _some(self, free: list[Item], listed: Sequence[Item], *, ruled: bool, taken: bool) -> list[Item]:
        """Return those of `free` that are asked about; `taken`: a heading above is read or asked about itself."""
        if taken:
            decided = [item for item in free if any(map(_decides, _slots(item.text)))]
            worded = [item for item in listed if tells_outcome(item.text[:TITLE_MAX])]
            return free if len(worded) > 1 and len(worded) > MOST * len(listed) else decided if len(decided) > 1 else []
        telling = {item.line for item in listed if item.line in self.taken or _tells(item.text)}
        many = len(telling) > 1 and len(telling) >= MOST * len(listed)
        return free if ruled or many else [item for item in free if item.line in telling]

    def _rows(self, table: Table) -> dict[int, Verdict | None]:
        """Return the rows of a table whose heading rules it, or in which some tell an outcome, or (in a document of experiments)
        that lists things in words with figures beside them.
        """
        plain = [plain_head(head) for head in table.heads]
        if RULES.search(table.section) or set(plain) & set(MEANING):
            return {}
        of = (Role.VERDICT, Role.RESULT, Role.WHY)
        rank = [next((n for n, role in enumerate(of) if head in HEADS[role]), len(of)) for head in plain]
        order = sorted(range(1, len(plain)), key=rank.__getitem__)
        rows = [row for row in table.rows if any(row.cells) and not any(map(FIRST.search, row.cells))]
        ruled = self._ruling(table.line)
        telling = sum(any(_tells(row.cells[at]) for at in order) for row in rows)
        some = telling > 1 and telling >= SOME * len(rows)
        worded = sum(bool(WORD.search(row.cells[0])) for row in rows) > MOST * len(rows)
        of_changes = any(head in OF_CHANGES or head in HEADS[Role.CHANGE] or head in HEADS[Role.NAME] for head in plain)
        measured = sum(any(MEASURED.search(cell) for cell in row.cells) for row in rows) > MOST * len(rows)
        listed = worded or of_changes
        lists = some or (listed and self.about and len(rows) > 1 and (measured or of_changes))
        if not ruled and (self._plans(table.line) or not lists or set(plain[0].split()) & OF_SIZES):
            return {}
        return {row.line: ruled or first_guess(row.cells[at] for at in order) for row in rows}


def _holds_none(title: str) -> bool:
    """Return whether a heading is that of plans, or a short one that of rules, summaries and their like."""
    found = EXPLAINED.search(title)
    few = len(title.split()) <= SHORT_TITLE and not _tells(title)
    return bool(PLANNED.search(title)) or (found is not None and (few or not title[: found.start()].strip("#*_ ")))


def _word(title: str) -> str | None:
    """Return the word before the number with which a heading begins, "" for a bare number, None where it begins with none, or
    with that of a chapter (`1.2`).
    """
    found = COUNTED.match(title)
    if found and not found["word"] and "." in found[0].strip("."):
        return None
    return (found["word"] or ("commit" if found["commit"] else "")).lower() if found else None


def _tells(text: str) -> bool:
    """Return whether a title, an item or a cell tells in its beginning or its end what came of something."""
    if len(text) <= TITLE_MAX:
        return bool(tells_outcome(text) or CHANGED.search(text))
    return tells_outcome(text[:TITLE_MAX]) or tells_outcome(text[-TITLE_MAX:]) or bool(CHANGED.search(text[:TITLE_MAX]))


def _decides(text: str) -> bool:
    return bool(MARKS.search(text) or DECIDED.search(text))


def _outcome(section: Section) -> bool:
    return tells_outcome(_text(section)[:TEXT_MAX]) or bool(CHANGED.search(_text(section)[:TEXT_MAX]))


def _told(section: Section) -> bool:
    return tells_one(outside_fences(section.lines)) and _outcome(section)


def _ends(title: str) -> list[str]:
    """Return the parts of a heading where its verdict may stand."""
    ends = (title[:1], title.rstrip("\ufe0f *_")[-1:])
    return [*(end for end in ends if MARKS.fullmatch(end)), *tails(title)]


def _text(section: Section) -> str:
    return "\n".join(line.text for line in outside_fences(section.lines))


def _told_in(section: Section) -> list[str]:
    """Return what a section says where its verdict may stand: labelled lines, bold words, and its last sentences."""
    lines = [line.text for line in outside_fences(section.lines) if line.text.strip()]
    labelled = [found[1] for line in lines if (found := LABEL.fullmatch(line))]
    bold = [found[1] for line in lines if (found := BOLD_LINE.match(line[:TEXT_MAX])) and tells_outcome(found[1])]
    return [*labelled, *bold, *reversed(lines[-3:]), " ".join(lines)[:TEXT_MAX]]


def _may_be_tried(text: str) -> bool:
    title, _ = parted(text)
    short = len(title.split()) <= WORDS
    return not (PART.fullmatch(title) or AT_START.match(title) or (short and _holds_none(title)))


def _slots(text: str) -> Iterable[str]:
    """Return the parts of an item where its verdict may stand, the surest first."""
    text = text[:TEXT_MAX]
    title, rest = parted(text)
    sentences = SENTENCE.split(rest)
    first = [title] if len(title.split()) <= WORDS else []
    return [*first, *tails(title), *tails(rest), sentences[0], sentences[-1], text]
