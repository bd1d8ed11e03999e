"""Find the lines of a hand-kept ledger that may be experiments though no verdict was understood: they are proposed to a person.

What stands beside something tells more than its words: a heading among numbered ones of which one states a verdict, an item of
a list whose heading rules it, a row of a table in which others tell an outcome. What explains, plans or sums up is left out.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.bullets import ABOUT_EXPERIMENTS, LABEL, MEASURED
from expctl.imported.document import Document, Row, Section, Table
from expctl.imported.fields import field_of, tells_one
from expctl.imported.groups import ruled_sections, ruling_of_items
from expctl.imported.headings import COUNTED, GROUP, IDENTIFIED, NUMBERED, PART, experiments_of, tails
from expctl.imported.heads import HEADS, MEANING, OF_CHANGES, TRIED, Role
from expctl.imported.items import outer_items, outside_fences, parted
from expctl.imported.outcomes import OUTCOMES, first_guess, tells_outcome, weigh
from expctl.imported.places import Place
from expctl.imported.rules import FORBIDS, row_of_rule
from expctl.imported.verdict_columns import FIRST, RULES, plain_head
from expctl.imported.verdict_columns import MEASURED as FIGURE
from expctl.imported.vocabulary import DECIDED, MARKS

TEXT_MAX = 4000
SHARE, MOST = 0.3, 0.5
WORDS = 4
SHORT = 80
# What such a section holds is no experiment.
NO_EXPERIMENTS = re.compile(
    r"""\b(?:lessons?|insights?|learnings?|learned|summary|conclusions?|next|to-?do|future|plans?|setup|environment|how\ to
    |methodology|background|overview|glossary|legend|references?|appendix|goals?|rules?|protocol|criteria|gates?|usage|hardware
    |open\ questions?|(?:key\ )?takeaways?|files?|structure|instructions?|contents?|notes?\ on|recommend\w*|status|principles?
    |current\ (?:state|best)|not\ (?:yet\ )?(?:tried|tested)|ideas\ (?:to|for)|backlog|queue|targets?|constraints?|invariants?
    |profil\w+|breakdown|commands?|key\ findings?|guiding|priorities)\b""",
    re.IGNORECASE | re.VERBOSE,
)
AT_START = re.compile(r"\W*(?:\d+\W+)?(?:(?:the|an?|initial|stock|original|first)\W+)*(?:baseline|reference)\b", re.IGNORECASE)
# `Exp-M1: tiles`
NAMED = re.compile(r"\W*(?:experiment|exp|attempt|run|iteration|trial)\W*[A-Z]{1,3}-?\d", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]{3,}")
BOLD_LINE = re.compile(r"\W{0,6}(?:\*\*|__)(.+?)(?:\*\*|__)\s*(.*)")
COMMIT = re.compile(r"`(?=[a-f]*\d)[0-9a-f]{7,12}`", re.ASCII)
SENTENCE = re.compile(r"(?<=[.!])\s+(?=\W*[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A place that may tell an experiment, and the verdict that its words let one guess (None: nobody knows)."""

    place: Place
    guess: Verdict | None


def candidates(document: Document, rows: Sequence[Row], known: Mapping[int, Place], read: set[int]) -> Iterator[Candidate]:
    """Yield the lines of `document` that may be experiments beside `rows`; `known` are its places by line, `read` the lines
    that were understood, of tables and of sections about their rows.
    """
    taken = {row.line for row in rows}
    taken |= read & {each.line for each in document.sections if each.title not in ("", document.title)}
    tree = _Tree.of(document)
    about = bool(rows) or any(ABOUT_EXPERIMENTS.search(section.title) for section in document.sections)
    tables = {table.line: _rows(table, about=about) for table in document.tables if table.line not in read}
    several = [line for line, asked in tables.items() if len(asked) > 1]
    direct = {tree.section(line) for line in several}
    of_rows = {above for line in several for above in tree.path(line)}
    titles = {section.line: section.title for section in document.sections}
    found: dict[int, Verdict | None] = {
        line: guess
        for line, guess in _headings(document, tree, taken).items()
        if line not in of_rows or (line in direct and _is_counted(titles[line])) or any(map(_decides, _ends(titles[line])))
    }
    taken |= set(found)
    found |= _items(document, tree, rows, taken)
    for line, asked in tables.items():
        if not tree.inside(line, taken):
            found |= asked
    lines = sorted(found.keys() & known.keys() - read - {row.line for row in rows})
    yield from (Candidate(place=known[line], guess=found[line]) for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tree:
    """The sections of a document by line, and the line of the section above each."""

    lines: tuple[int, ...]
    above: Mapping[int, int]

    @staticmethod
    def of(document: Document) -> "_Tree":
        last: dict[str, int] = {}
        above: dict[int, int] = {}
        for section in document.sections:
            above[section.line] = last.get(section.under, 0) if section.under else 0
            last[section.title] = section.line
        return _Tree(lines=tuple(above), above=above)

    def section(self, line: int) -> int:
        """Return the line of the heading above `line`, 0 without one."""
        index = bisect_right(self.lines, line)
        return self.lines[index - 1] if index else 0

    def ruling(self, line: int, titles: Mapping[int, str]) -> Verdict | None:
        """Return the verdict that the heading in `line`, or the innermost one above that gives one, gives to all below it."""
        while line:
            if found := ruling_of_items(titles.get(line, "")):
                return found
            line = self.above.get(line, 0)
        return None

    def path(self, line: int) -> Iterator[int]:
        """Yield the lines of the headings above `line`, the innermost first."""
        at = self.section(line)
        while at:
            yield at
            at = self.above.get(at, 0)

    def inside(self, line: int, sections: set[int]) -> bool:
        """Return whether `line` stands in one of `sections`, or in a section below one."""
        return any(at in sections for at in self.path(line))


def _headings(document: Document, tree: _Tree, taken: set[int]) -> dict[int, Verdict | None]:
    groups: dict[int, list[Section]] = {}
    titles = _titles(document)
    for section in experiments_of(document.sections):
        if section.title and section.title != document.title:
            groups.setdefault(tree.above.get(section.line, 0), []).append(section)
    about = bool(ABOUT_EXPERIMENTS.search(document.title)) or bool(taken)
    found: dict[int, Verdict | None] = {}
    for above, members in groups.items():
        ruled = tree.ruling(above, titles)
        if NO_EXPERIMENTS.search(titles.get(above, "")):
            continue
        free = [section for section in members if section.line not in taken and _may_be_one(section)]
        told = {section.line for section in free if any(map(weigh, _ends(section.title)))}
        told |= {section.line for section in free if about and ruling_of_items(section.title)}
        whole = {section.line for section in free if tells_one(outside_fences(section.lines)) and tells_outcome(_text(section))}
        counted = {section.line for section in members if _is_counted(section.title)}
        known = told | {section.line for section in members if section.line in taken}
        if about or len(whole) > 1:
            known |= whole
        many = len(known) >= MOST * len(members)
        of_many = about and len(counted) > 1
        asked = set()
        for section in free:
            body = _text(section)
            line = section.line
            among = (known and (line in counted or many)) or (of_many and line in counted and tells_outcome(body))
            if line in known or among or (ruled and (line in counted or MEASURED.search(body))):
                asked.add(line)
        if len(asked & counted) > 1 and len(asked & counted) >= MOST * len(counted):
            asked |= counted & {section.line for section in free}
        found |= {each.line: first_guess([*_ends(each.title), *_told_in(each)]) or ruled for each in free if each.line in asked}
    # A heading of several is none itself.
    several = {tree.above.get(line, 0) for line in (*found, *taken)} | {
        tree.section(line) for line in taken if line not in titles
    }
    return {line: guess for line, guess in found.items() if line not in several}


def _titles(document: Document) -> dict[int, str]:
    """Return the headings by line, but for that of the whole document where it doesn't say what became of all."""
    rules = ruled_sections({document.title: ""})
    return {each.line: each.title for each in document.sections if each.title != document.title or each.title in rules}


def _ends(title: str) -> list[str]:
    """Return the parts of a heading where its verdict may stand."""
    ends = (title[:1], title.rstrip("\ufe0f *_")[-1:])
    return [*(end for end in ends if MARKS.fullmatch(end)), *tails(title)]


def _decides(text: str) -> bool:
    return bool(MARKS.search(text) or DECIDED.search(text))


def _may_be_one(section: Section) -> bool:
    title = section.title
    if PART.fullmatch(title) or FORBIDS.search(title) or AT_START.match(title) or not _text(section).strip():
        return False
    if any(map(weigh, _ends(title))):
        return True
    several = ruling_of_items(title) and len(list(outer_items(section, paragraphs=False))) > 1
    return not several and bool(NUMBERED.match(title) or not (GROUP.match(title) or NO_EXPERIMENTS.search(title)))


def _is_counted(title: str) -> bool:
    return bool(NUMBERED.match(title) or COUNTED.match(title) or IDENTIFIED.match(title) or NAMED.match(title))


def _text(section: Section) -> str:
    return "\n".join(line.text for line in outside_fences(section.lines))


def _told_in(section: Section) -> list[str]:
    """Return what a section says where its verdict may stand: labelled lines, bold words, and its last sentences."""
    lines = [line.text for line in outside_fences(section.lines) if line.text.strip()]
    labelled = [found[1] for line in lines if (found := LABEL.fullmatch(line))]
    bold = [found[1] for line in lines if (found := BOLD_LINE.match(line[:TEXT_MAX])) and tells_outcome(found[1])]
    return [*labelled, *bold, *reversed(lines[-3:]), " ".join(lines)[:TEXT_MAX]]


def _items(document: Document, tree: _Tree, rows: Sequence[Row], taken: set[int]) -> dict[int, Verdict | None]:
    titles = _titles(document)
    found: dict[int, Verdict | None] = {}
    for section in document.sections:
        above = titles.get(tree.above.get(section.line, 0), "")
        plans = NO_EXPERIMENTS.search(section.title) and section.title != document.title
        if plans or tree.inside(section.line, taken):
            continue
        listed = [(line, text[:TEXT_MAX]) for line, text in outer_items(section) if not field_of(text)]
        forbids = bool(FORBIDS.search(f"{section.title} {above}"))
        free = [(line, text) for line, text in listed if line not in taken and _tells_tried(text)]
        free = [each for each in free if not (forbids and row_of_rule(each[1], rows))]
        ruled = tree.ruling(section.line, titles) or (Verdict.REJECT if forbids else None)
        about = ABOUT_EXPERIMENTS.search(f"{section.title} {above} {document.title}")
        telling = {line for line, text in listed if line in taken or (about and _tells(text))}
        many = len(telling) > 1 and len(telling) >= MOST * len(listed)
        for line, text in free:
            decided = about and line in telling and DECIDED.search(text) and (MEASURED.search(text) or IDENTIFIED.match(text))
            if ruled or many or decided:
                found[line] = ruled or first_guess(_slots(text))
    return found


def _tells_tried(text: str) -> bool:
    title, _ = parted(text)
    return not (
        PART.fullmatch(title) or AT_START.match(title) or (len(title.split()) <= WORDS and NO_EXPERIMENTS.search(title))
    )


def _slots(text: str) -> list[str]:
    """Return the parts of an item where its verdict may stand, the surest first."""
    title, rest = parted(text)
    sentences = SENTENCE.split(rest)
    first = [title] if len(title.split()) <= WORDS else []
    return [*first, *tails(title), *tails(rest[:TEXT_MAX]), sentences[0], sentences[-1], text]


def _tells(text: str) -> bool:
    title, rest = parted(text)
    return any(map(tells_outcome, [*tails(title), *tails(rest), *SENTENCE.split(rest)[:1], *SENTENCE.split(rest)[-1:]]))


def _rows(table: Table, *, about: bool) -> dict[int, Verdict | None]:
    """Return the rows of a table in which many tell an outcome, whose heading rules them, or (`about`: the document is one of
    experiments) which lists things by ids.
    """
    plain = [plain_head(head) for head in table.heads]
    if RULES.search(table.section) or set(plain) & set(MEANING):
        return {}
    plans = NO_EXPERIMENTS.search(table.section)
    if plans and not sum(any(map(COMMIT.search, row.cells)) for row in table.rows) > MOST * len(table.rows):
        return {}
    ruled = ruling_of_items(table.section)
    of = (Role.VERDICT, Role.RESULT, Role.WHY)
    rank = [next((n for n, role in enumerate(of) if head in HEADS[role]), len(of)) for head in plain]
    order = sorted(range(1, len(plain)), key=rank.__getitem__)
    rows = [row for row in table.rows if any(row.cells) and not any(map(FIRST.search, row.cells))]

    telling = sum(any(_opens(row.cells[at].strip("*_` ")) for at in order) for row in rows)
    if not ruled and (telling < 2 or telling < SHARE * len(rows)) and not _of_ids(table, about=about):
        return {}
    return {row.line: ruled or first_guess(row.cells[at] for at in order) for row in rows}


def _of_ids(table: Table, *, about: bool) -> bool:
    """Return whether a table lists things by ids, and says of most in words what they were.

    `about`: the document is one of experiments; then plain numbers below a head such as `#` are ids too, and so are commits in
    any column, and what stands below a head such as `change` or beside one such as `result`, with figures, needs no id.
    """
    plain = [plain_head(head) for head in table.heads]
    first = [row.cells[0].strip("*`#[]~ ") for row in table.rows]
    most = MOST * len(table.rows)
    words = sum(any(WORD.search(cell) for cell in row.cells[1:]) for row in table.rows)
    named = about and (plain[0] in HEADS[Role.NAME] or table.heads[0].strip() == "#")
    ids = sum(bool(IDENTIFIED.match(cell)) for cell in first)
    if len(first) > 1 and (named or ids > most) and len({*first} - {"—", "-", ""}) > most and words > most:
        return True
    commits = sum(any(COMMIT.search(cell) for cell in row.cells) for row in table.rows)
    figures = sum(any(map(FIGURE.search, row.cells)) for row in table.rows)
    changes = any(head in TRIED or head in OF_CHANGES for head in plain)
    results = any(head in HEADS[Role.RESULT] or head in HEADS[Role.VERDICT] for head in plain)
    return about and len(table.rows) > 1 and (commits > most or ((changes or results) and figures > most and words > most))


def _opens(cell: str) -> bool:
    return bool(MARKS.match(cell) or DECIDED.match(cell) or (len(cell) <= SHORT and OUTCOMES.search(cell)))
