"""Find the noise that a hand-kept ledger states, and verdicts that rest on differences no larger than it."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from expctl.imported.audit.comparisons import FLAT, NO_GAIN, comparable, is_baseline, is_kept, own_changes, singles, worse_by
from expctl.imported.document import Document, Line, Row, Section
from expctl.imported.figures import Figure, Quantity, figures_in
from expctl.imported.units import Better, Part

NOISE = re.compile(r"\bnois[ey]|\bjitter|\bthermal|\bvariance|\brun-to-run", re.IGNORECASE)
NOT_NOISE = re.compile(
    r"\b(?:above|beyond|outside|not|more than|exceeds?|over)\b[^.;]{0,20}\bnoise|\bexplain(?:s|ed)?\b[^.;]{0,40}\bvariance"
    r"|\bvariance\b[^.;]{0,40}\bexplain|\bsub-nois",
    re.IGNORECASE,
)
# Noise of another way to measure, from day to day, or of some of the figures only
OF_OTHERS = re.compile(
    r"\btoo nois[ey]|\bsessions?\b|\bday-to-day\b|\b(?:between|across) (?:days|boots|machines|hosts)\b"
    r"|\b(?:e2e|end[- ]to[- ]end|secondary|smaller|tiny)\b",
    re.IGNORECASE,
)
NOISE_MAX = 50
SENTENCE = re.compile(r"[.;]\s")
CLAUSE = re.compile(r"[.,;:]\s|[()]|\s[-–—]+\s")
# Sizes and counts don't vary from run to run.
EXACT = re.compile(
    r"\b(?:bytes?|[kMG]i?B|gzip\w*|(?:binary|file|wire|download|code) size|gas|instructions?|registers?|[sv]gprs?|alloc\w*)\b"
    r"|\bsizes? [-+−–]?\d",
    re.IGNORECASE,
)
BRACKETS = re.compile(r"\([^()]*\)")
# A section with such a heading says how everything was measured.
MEASURING = re.compile(
    r"\b(?:method\w*|measur\w*|noise|variance|protocol|rules?|conventions?|benchmark\w*|setup|reproduc\w*|stat(?:s|istics)"
    r"|messung\w*|methodik|rauschen)\b",
    re.IGNORECASE,
)
WORSE = re.compile(r"\bregress|\bworse\b|\bslower\b", re.IGNORECASE)
BETTER = re.compile(r"\b(?:faster|speed-?ups?|gain(?:s|ed)?|improve[ds]?|improvements?)\b", re.IGNORECASE)
# Kept for something else than speed
SIMPLER = re.compile(
    r"\b(?:simplif\w*|simpler|clean\w*|clarity|readab\w*|trim|remove|drop|delete|refactor|fix(?:es|ed)?|correct\w*|pass(?:es|ed)?|bug\w*)\b",
    re.IGNORECASE,
)
NAMED = r"(?:nois[ey]|jitter|variance|run-to-run)"
PERCENT = r"(?P<percent>[±+~≈<]?\s?\d+(?:\.\d+)?(?:\s?[-–]\s?\d+(?:\.\d+)?)?\s?%)"
# A percentage is noise only where the words say that this very figure is: beside the word, or as what lies within it.
STATED = (
    re.compile(
        rf"\b{NAMED}\b(?:\s+(?:level|floor|band|margin|threshold|spread|variation|here|itself|of|on \w+))*"
        rf"[\s:=(]*(?:is|was|are|at|of|about|around|roughly|up to|within|under|below|approximately|=|~|≈|≤|<|±|\s)*{PERCENT}"
        r"(?!\s*of (?:the|its|their|our|all|an?)\b(?! (?:mean|median|time|runtime|baseline|result|figure|value|score)))",
        re.IGNORECASE,
    ),
    re.compile(rf"{PERCENT}\s*(?:of\s+)?(?:\w+\s+)?{NAMED}\b", re.IGNORECASE),
    re.compile(
        rf"\b(?:under|below|within|less than|smaller than|up to|inside|<|≤)\s*{PERCENT}\s*"
        rf"(?:\w+\s+){{0,2}}(?:is|are|as|counts? as|treated as|taken as|called)\s+(?:\w+\s+)?{NAMED}\b",
        re.IGNORECASE,
    ),
)
NOTHING_KNOWN: Mapping[str, Better] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Largest change of a figure, in percent of the earlier one, that counts as noise; `source` says where it is stated.

    It holds for the rows in the lines `first` to `last` of the ledger.
    """

    percent: float
    source: str
    first: int = 0
    last: int = sys.maxsize


def stated_noise(
    document: Document, rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], unit: str
) -> tuple[Noise, ...]:
    """Return the differences, in percent, that a ledger calls noise, each with the lines for which it holds.

    It searches sentences outside tables and the results and reasons of rows. What stands before the first experiment or below a
    heading about measuring holds everywhere, other sentences in their section, and what a row says in its table. `figures` maps
    a row's line number to the figures in it; `unit` is `G` or `T` for throughputs without a unit.
    """
    stated: list[Noise] = []
    for section in document.sections:
        first, last = _reach(section, document, rows)
        stated += [
            Noise(
                percent=abs(each.value),
                source=f"line {line.number}: '{each.text}' in a sentence about noise",
                first=first,
                last=last,
            )
            for line in (Line(number=section.line, text=section.title), *section.lines)
            for sentence in SENTENCE.split(line.text)
            for each in _percents(sentence, unit)
        ]
    ends = {row.table: row.line for row in rows}
    for row, changes in _changes(rows, figures):
        first, last = (row.table, ends[row.table]) if row.table else (0, sys.maxsize)
        found = [(abs(each.value), f"{row.label} gives the noise as {each.text}") for each in _stated_in_row(row)]
        if not found and len(changes) == 1 and _is_called_noise(row, changes[0][1]):
            found = [(abs(value), f"{row.label} calls {words} noise") for value, words in changes]
        stated += [Noise(percent=percent, source=source, first=first, last=last) for percent, source in found]
    return tuple(stated)


def noise_remarks(
    rows: Sequence[Row],
    figures: Mapping[int, tuple[Figure, ...]],
    stated: Sequence[Noise],
    fallback: Noise | None,
    known: Mapping[str, Better],
) -> Iterator[tuple[Row, str]]:
    """Yield each row that has a verdict although none of its changes exceeds the noise, and a text that says so. That is the
    largest of `stated` that holds for the row, else `fallback`; a row for which neither is known is not asked about. `figures`
    maps a row's line number to the figures in it.
    """
    own = {
        row.line: max(
            (each for each in stated if each.first <= row.line <= each.last), key=lambda each: each.percent, default=fallback
        )
        for row in rows
    }
    # Where the noise is not the ledger's own, rows that were kept for something else than speed are left out.
    losing = _tables_that_gain_by_minus(rows, figures)
    for careful in (False, True):
        asked = _changes(rows, figures, known, careful=careful)
        yield from _inside(
            (each for each in asked if (own[each[0].line] is fallback) is careful), figures, own, losing, careful=careful
        )


def _tables_that_gain_by_minus(rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]]) -> frozenset[int]:
    """Return the tables of whose kept rows some state a negative change and none a positive one: `+0.7 %` is a loss there."""
    changes = [(row.table, value) for row in rows if is_kept(row) for value in own_changes(figures[row.line])]
    return frozenset({table for table, value in changes if value < 0} - {table for table, value in changes if value > 0})


def _inside(
    changed: Iterable[tuple[Row, tuple[tuple[float, str], ...]]],
    figures: Mapping[int, tuple[Figure, ...]],
    own: Mapping[int, Noise | None],
    losing: frozenset[int],
    *,
    careful: bool,
) -> Iterator[tuple[Row, str]]:
    for row, changes in changed:
        noise = own[row.line]
        if noise is None:
            continue
        # A row with figures of several metrics may be decided by another than that of its percentage.
        results = [each for each in figures[row.line] if each.quantity is not Quantity.PERCENT]
        if len({(each.part, each.key) for each in results}) > 1 and _states_percent(figures[row.line]):
            continue
        # Who rejects what isn't faster is right, even inside the noise; who rejects a gain by its figure may not be.
        gained = row.table not in losing and any(words.startswith("+") for _, words in changes)
        gained = gained and not WORSE.search(row.results())
        neutral = FLAT.search(row.results()) or NO_GAIN.search(row.results())
        moved = is_kept(row) or (gained and not neutral and (not careful or BETTER.search(row.results())))
        if EXACT.search(row.results()) or (_says_why(row) and _states_percent(figures[row.line])):
            continue
        if moved and changes and all(abs(value) <= noise.percent for value, _ in changes):
            shown = ", ".join(words for _, words in changes)
            remark = "; the row says so itself" if _is_called_noise(row) and not _stated_in_row(row) else ""
            yield row, f"decided by {shown}, inside the noise of {noise.percent:.2g} % ({noise.source}){remark}"


def _says_why(row: Row) -> bool:
    """Return whether a row calls its own figure noise, and says for what else it was kept."""
    text = f"{row.results()}; {row.why}"
    words = (text, *(each.words for each in row.rulings))
    return NOISE.search(text) is not None and not NOT_NOISE.search(text) and any(map(SIMPLER.search, words))


def _reach(section: Section, document: Document, rows: Sequence[Row]) -> tuple[int, int]:
    """Return the first and last line for which a sentence of `section` holds: its own and those of the sections in it."""
    begins = min((row.table or row.line for row in rows), default=0)
    later = [each for each in document.sections if each.line > section.line]
    inside = {section.title}
    end = sys.maxsize
    for each in later:
        if each.under not in inside:
            end = each.line - 1
            break
        inside.add(each.title)
    if end < begins or section.line == document.sections[0].line or MEASURING.search(BRACKETS.sub("", section.title)):
        return 0, sys.maxsize
    return section.line, end


def _percents(sentence: str, unit: str = "") -> tuple[Figure, ...]:
    """Return the percentages that `sentence` itself calls noise, and not others that stand beside the word."""
    plain = re.sub(r"[`*]", "", sentence)
    if not NOISE.search(plain) or NOT_NOISE.search(plain) or OF_OTHERS.search(plain):
        return ()
    found = {match["percent"] for pattern in STATED for match in pattern.finditer(plain)}
    figures = (each for text in sorted(found) for each in figures_in(text, unit))
    return tuple(each for each in figures if each.quantity is Quantity.PERCENT and abs(each.value) <= NOISE_MAX)


def _stated_in_row(row: Row) -> tuple[Figure, ...]:
    """Return the percentages that a row states as noise, e.g. `noise is 0.5 %`."""
    clauses = (clause for words in (row.result, row.why) for clause in CLAUSE.split(words))
    return tuple(each for clause in clauses for each in _percents(clause))


def _states_percent(figures: Sequence[Figure]) -> bool:
    return any(each.quantity is Quantity.PERCENT and each.part is Part.DIFFERENCE for each in figures)


def _is_called_noise(row: Row, words: str = "") -> bool:
    """Return whether a row speaks of noise, and that beside the figure `words` where it has a clause for it."""
    text = f"{row.result}; {row.why}"
    clauses = CLAUSE.split(text)
    at = [index for index, clause in enumerate(clauses) if words and words in clause]
    near = [clause for index, clause in enumerate(clauses) if any(abs(index - each) <= 1 for each in at)] if at else [text]
    return any(map(NOISE.search, near)) and not NOT_NOISE.search(text)


def _changes(
    rows: Sequence[Row],
    figures: Mapping[int, tuple[Figure, ...]],
    known: Mapping[str, Better] = NOTHING_KNOWN,
    *,
    careful: bool = False,
) -> Iterator[tuple[Row, tuple[tuple[float, str], ...]]]:
    """Yield each row with its changes of performance, each as (percent, words for it).

    They are the percentages that the row states; without any, those computed against the last kept row of the same size.
    `figures` maps a row's line number to the figures in it.
    """
    standing: dict[tuple[object, ...], tuple[Row, Figure]] = {}
    for row in rows:
        if is_kept(row) and is_baseline(row):
            standing = {key: value for key, value in standing.items() if key[0] != row.table}
        noise = {each.text for each in _stated_in_row(row)}
        found = [each for each in figures[row.line] if each.text not in noise]
        absolute = singles(row, found)
        changes = tuple(
            (each.value, each.text) for each in found if each.quantity is Quantity.PERCENT and each.part is Part.DIFFERENCE
        ) or tuple((value, f"{value:+.2g} % against the figure before") for value in own_changes(found))
        # A row that was not kept needs no figure to be right; one that was needs a gain.
        if not changes and is_kept(row) and not any(each.part is Part.BEFORE for each in found):
            changes = tuple(
                (value, f"{value:+.2g} % against {standing[key][0].label}")
                for key, figure in absolute.items()
                if key in standing
                and standing[key][1].value
                and not standing[key][0].repeats(row)
                and comparable(row, standing[key][0], known)
                for value in (100 * (figure.value / standing[key][1].value - 1),)
            )
            if careful and (SIMPLER.search(row.change) or _only_loses(standing, absolute, known)):
                changes = ()
        yield row, changes
        if is_kept(row):
            standing |= {key: (row, figure) for key, figure in absolute.items()}


def _only_loses(
    standing: Mapping[tuple[object, ...], tuple[Row, Figure]],
    figures: Mapping[tuple[object, ...], Figure],
    known: Mapping[str, Better],
) -> bool:
    """Return whether no figure of a kept row is a gain, and one is a loss: it was kept for something else than its speed."""
    losses = [worse_by(figure, standing[key][1], known) for key, figure in figures.items() if key in standing]
    return bool(losses) and min(losses) >= 0 and max(losses) > 0
