"""Find the lines of a hand-kept ledger that may be experiments though no verdict was understood: they are proposed to a person.

Headings below one heading, items of one list and rows of one table are of a kind: where one is an experiment, or enough tell an
outcome, all are asked about. What explains, plans or sums up is left out. A question costs a look, silence an experiment.
"""

import itertools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from expctl.domain.experiment.proposal import Verdict
from expctl.imported import signs
from expctl.imported.bullets import ABOUT_EXPERIMENTS
from expctl.imported.document import Document, Row, Section, Table
from expctl.imported.fields import field_of
from expctl.imported.groups import of_one, ruled_sections, ruling_of_items, verdict_of
from expctl.imported.headings import PART, experiments_of
from expctl.imported.heads import HEADS, MEANING, OF_CHANGES, Role
from expctl.imported.items import Item, outside_fences, tree
from expctl.imported.outcomes import first_guess, tells_outcome, weigh
from expctl.imported.places import Place
from expctl.imported.rules import FORBIDS, row_of_rule
from expctl.imported.signs import (
    AT_START,
    OF_SIZES,
    PLANNED,
    TELLS_TRIED,
    TITLE_MAX,
    WORD,
    counting_word,
    decides,
    ends,
    holds_none,
    may_be_tried,
    slots,
    tells,
    tells_outcome_of,
    text_of,
    told_in,
    told_whole,
)
from expctl.imported.sure import decided_in, sure_of_row, sure_of_text
from expctl.imported.verdict_columns import FIRST, MEASURED, RULES, plain_head

SOME, MOST = 0.3, 0.5
# A heading of several experiments.
SEVERAL = re.compile(
    r"\b(?:experiments|ideas|attempts|improvements|things|tweaks|commits|optimi[sz]ations|changes|approaches|candidates|decisions|lessons?|findings|insights)\b",
    re.IGNORECASE,
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
        self.document = document
        self.lost = [row for row in rows if any(each.verdict is not Verdict.KEEP for each in row.rulings)]
        self.lines = [section.line for section in document.sections]
        self.title_of = {section.line: section.title for section in document.sections}
        last: dict[str, int] = {}
        self.above: dict[int, int] = {}
        for section in document.sections:
            self.above[section.line] = last.get(section.under, 0) if section.under else 0
            last[section.title] = section.line
        # A heading that stands below several others (`Commands`) tells a part of each.
        over: dict[str, set[int]] = {}
        for line, title in self.title_of.items():
            over.setdefault(title.lower() if not (ruling_of_items(title) or TELLS_TRIED.search(title)) else "", set()).add(
                self.above[line]
            )
        self.parts = {line for line, title in self.title_of.items() if title and len(over.get(title.lower(), ())) > 1}
        self.wholes = {self.above[line] for line in self.parts} - {0}
        self.taken = {row.line for row in rows} | (read & {line for line, title in self.title_of.items() if title})
        self.read = read
        named = (document.name.rpartition(".")[0].replace("_", " "), document.title)
        of_title = any(
            (ABOUT_EXPERIMENTS.search(title) or signs.ABROAD.search(title)) and not signs.RELEASES.search(title)
            for title in named
        )
        self.about = bool(rows) or of_title or any(map(TELLS_TRIED.search, self.title_of.values()))
        self.closes = self.about or signs.closes_several(document)
        self.rules = ruled_sections({document.title: ""})
        below = {section.title: section.under for section in document.sections if section.title != document.title}
        self.words = ruled_sections(below)
        rules = {
            title: title in self.rules or (title != document.title and not of_one(title)) for title in self.title_of.values()
        }
        self.ruling_of = {title: ruling_of_items(title) if ruling else None for title, ruling in rules.items()}

    def found(self) -> dict[int, Verdict | None]:
        """Return the guessed verdicts of all lines that are asked about."""
        tables = {table.line: self._rows(table) for table in self.document.tables if table.line not in self.read}
        headings = self._headings()
        of_rows = {above for line, asked in tables.items() if len(asked) > 1 for above in self._path(line)}
        of_rows -= {line for line in of_rows if tells(self.title_of[line]) or counting_word(self.title_of[line]) is not None}
        outcomes = {section.line for section in self.document.sections if tells_outcome_of(section)}
        # Where rows and the heading above them may be meant, both are asked about.
        found = {line: guess for line, guess in headings.items() if line not in of_rows - outcomes}
        inside = self.taken | (set(found) - of_rows)
        for line, asked in tables.items():
            if not inside & set(self._path(line)) or sum(map(bool, asked.values())) >= MOST * len(asked) > 1:
                found |= asked
        items = self._items(inside)
        asked = found | items
        told = {line for line, guess in asked.items() if guess} | self.taken
        holding = {self._section(line) for line in told if line not in self.title_of}
        return {line: None if line in holding or self._is_against(line, guess) else guess for line, guess in asked.items()}

    def _is_against(self, line: int, guess: Verdict | None) -> bool:
        """Return whether a verdict contradicts that of a heading above `line`."""
        above = self.above[line] if line in self.above else self._section(line)
        return guess is not None and {guess, self._ruling(above)} == {Verdict.KEEP, Verdict.REJECT}

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
        return next((found for at in self._path(line) if (found := self.ruling_of[self.title_of[at]])), None)

    def _sure_ruling(self, line: int, between: Set[int] = frozenset()) -> Verdict | None:
        """Return the verdict that the words of a heading at or above `line` give to all below it, where no experiment that was
        read stands between, nor one of the lines `between`; None without such.
        """
        path = itertools.takewhile(lambda at: at not in self.taken and at not in between, self._path(line))
        words = next((self.words[title] for at in path if (title := self.title_of[at]) in self.words), "")
        return verdict if words and (verdict := verdict_of(words)) == self._ruling(line) else None

    def _plans(self, line: int) -> bool:
        """Return whether the heading above `line` explains, or one of those above it plans."""
        titles = [self.title_of[at] for at in self._path(line)]
        titles = [title for title in titles if title != self.document.title]
        if not titles or ruling_of_items(titles[0]):
            return False
        return self._planned(line) or (not self._ruling(line) and holds_none(titles[0]))

    def _planned(self, line: int) -> bool:
        return any(PLANNED.search(self.title_of[at]) for at in self._path(line) if self.title_of[at] != self.document.title)

    def _headings(self) -> dict[int, Verdict | None]:
        groups: dict[int, list[Section]] = {}
        for section in experiments_of(self.document.sections):
            if section.title and section.title != self.document.title:
                groups.setdefault(self.above.get(section.line, 0), []).append(section)
        with_tables = {self._section(table.line) for table in self.document.tables}
        words = Counter(counting_word(section.title) for members in groups.values() for section in members)
        found: dict[int, Verdict | None] = {}
        for above, below in groups.items():
            # What was decided all the same is no plan.
            planned = above and self._plans(above)
            members = [each for each in below if not planned or self._carried_out(each)]
            ruled = self._ruling(above) if above else None
            free = [
                each for each in members if each.line not in self.taken | self.parts and self._may_be_one(each, with_tables)
            ]
            told = {
                each.line
                for each in free
                if self.about and (tells(each.title) or ruling_of_items(each.title) or told_whole(each))
            }
            told |= {each.line for each in free if self._closed(each.title)}
            told |= self.wholes & {each.line for each in free if self.about}
            sure = told | {each.line for each in members if each.line in self.taken}
            many, some = len(sure) >= MOST * len(members), len(sure) >= SOME * len(members)
            for each in free:
                word = counting_word(each.title)
                counted = self.about and word is not None and words[word] > 1 and (word or tells_outcome_of(each))
                if each.line in told or counted or ruled or (self.about and (many or (some and tells_outcome_of(each)))):
                    found[each.line] = self._sure(each)
        # A heading of several is none itself.
        several = {self.above.get(line, 0) for line in (*found, *self.taken)} - self.wholes
        several |= {self._section(line) for line in self.taken if line not in self.title_of}
        return {line: guess for line, guess in found.items() if line not in several}

    def _sure(self, section: Section) -> Verdict | None:
        """Return the verdict of a section where it is sure: what it states, or what the heading above it gives it. That is
        the title of the document only for what seems to be so by itself.
        """
        told = told_in(section)
        ruled = self._sure_ruling(self.above.get(section.line, 0))
        if ruled is None and self.rules and self._ruling(section.line) is (whole := verdict_of(*self.rules.values())):
            ruled = whole if first_guess([*ends(section.title), *told, section.title]) is whole else None
        return None if SEVERAL.search(section.title) else sure_of_text(section.title, told, ruled)

    def _may_be_one(self, section: Section, with_tables: set[int]) -> bool:
        title = section.title
        empty = not text_of(section).strip() and section.line not in with_tables | self.wholes
        if PART.fullmatch(title) or FORBIDS.search(title) or AT_START.match(title) or empty:
            return False
        if any(map(weigh, ends(title))):
            return True
        several = ruling_of_items(title) and len(tree(tuple(outside_fences(section.lines)))) > 1
        return not several and (bool(counting_word(title)) or not holds_none(title) or signs.closed_in_text(section))

    def _carried_out(self, section: Section) -> bool:
        return self._closed(section.title) or decides(section.title) or any(map(decided_in, told_in(section)))

    def _closed(self, title: str) -> bool:
        return self.closes and signs.CLOSED.search(title) is not None

    def _items(self, inside: set[int]) -> dict[int, Verdict | None]:
        found: dict[int, Verdict | None] = {}
        for section in self.document.sections:
            path = list(self._path(section.line))
            forbids = any(FORBIDS.search(self.title_of[at]) for at in path)
            ruled = self._ruling(section.line) or (Verdict.REJECT if forbids else None)
            own = ruling_of_items(section.title) is not None
            whole = tree(tuple(outside_fences(section.lines)))
            if self._plans(section.line) or (not self.about and not ruled):
                every = itertools.chain(*(item.all() for item in whole))
                closed = [each for each in every if self._closed(each.text[:TITLE_MAX]) and not field_of(each.text)]
                found |= {item.line: None for item in closed if item.line not in self.taken}
                continue
            lists = [whole]
            while lists:
                listed = [item for item in lists.pop() if not field_of(item.text)]
                free = [item for item in listed if item.line not in self.taken and may_be_tried(item.text)]
                free = [item for item in free if not (forbids and row_of_rule(item.text, self.lost))]
                some = self._some(
                    free,
                    listed,
                    ruled=ruled is not None,
                    taken=not own and bool(inside & set(path)),
                    several=SEVERAL.search(section.title) is not None or not self.taken & set(path),
                )
                undid = {item.line: Verdict.REJECT for item in some if signs.UNDID.match(item.text)}
                above = self._sure_ruling(section.line, inside)
                direct = section.title in self.words
                ruled_by = {item.line: above if direct or tells(item.text) else None for item in some}
                found |= {item.line: sure_of_text(item.text, (), ruled_by[item.line]) for item in some} | undid
                asked = self.taken | {item.line for item in some}
                lists += (item.inside for item in listed if item.inside and item.line not in asked)
        return found

    def _some(self, free: list[Item], listed: Sequence[Item], *, ruled: bool, taken: bool, several: bool) -> list[Item]:
        """Return those of `free` that are asked about; `taken`: a heading above is read or asked about itself."""
        if taken:
            decided = [item for item in free if any(map(decides, slots(item.text)))]
            worded = [item for item in listed if tells_outcome(item.text[:TITLE_MAX])]
            many = several and len(worded) > 1 and len(worded) > MOST * len(listed)
            undone = [item for item in decided if signs.UNDID.match(item.text)]
            return free if many else decided if several and len(decided) > 1 else undone
        telling = {item.line for item in listed if item.line in self.taken or tells(item.text)}
        many = len(telling) > 1 and len(telling) >= MOST * len(listed)
        return free if ruled or many else [item for item in free if item.line in telling]

    def _rows(self, table: Table) -> dict[int, Verdict | None]:
        """Return the rows of a table whose heading rules it, or in which some tell an outcome, or (among experiments)
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
        telling = sum(any(tells(row.cells[at]) for at in order) for row in rows)
        some = telling >= (1 if self.about else 2) and telling >= SOME * len(rows)
        worded = sum(bool(WORD.search(row.cells[0])) for row in rows) > MOST * len(rows)
        of_changes = any(head in OF_CHANGES or head in HEADS[Role.CHANGE] or head in HEADS[Role.NAME] for head in plain)
        measured = sum(any(MEASURED.search(cell) for cell in row.cells) for row in rows) > MOST * len(rows)
        listed = worded or of_changes
        lists = some or (listed and self.about and len(rows) > 1 and (measured or of_changes))
        plans = self._planned(table.line) if some and of_changes else self._plans(table.line)
        if not ruled and (plans or not lists or OF_SIZES.search(plain[0])):
            return {}
        of_change = next((at for at, head in enumerate(plain) if head in OF_CHANGES or head in HEADS[Role.CHANGE]), 0)
        sure = self._sure_ruling(table.line) if of_changes else None
        return {row.line: sure_of_row(row.cells, of_change, sure) for row in rows}
