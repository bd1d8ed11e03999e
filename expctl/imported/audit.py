"""Audit a hand-kept ledger of experiments for errors that can be found without measuring. Each remark names its evidence."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.text import one_line
from expctl.imported.document import Document, Row, Section
from expctl.imported.figures import Figure, Quantity, figures_in, figures_of, throughput_unit
from expctl.imported.noise import Noise, noise_remarks, stated_noise
from expctl.imported.roofline import Roofline, agrees


class Flaw(StrEnum):
    """Kinds of errors in a hand-kept ledger, e.g. a figure above the GPU's peak, or an id used twice."""

    IMPOSSIBLE = "impossible figure"
    UNIT_SLIP = "unit slip"
    CONTRADICTION = "figures contradict each other"
    NOISE = "verdict inside the noise"
    REUSED_ID = "id used twice"
    STALE = "stale section"
    KEPT_REGRESSION = "kept regression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """An error found in line `line` of the ledger; `rows` are ids of the table rows concerned, () for text outside tables."""

    flaw: Flaw
    line: int
    rows: tuple[str, ...]
    text: str


PLANNED = re.compile(r"\b(?:next|plan|todo|to do|future|upcoming|backlog|queue)\b", re.IGNORECASE)
SNAPSHOT = re.compile(r"\b(?:current|latest|snapshot|baseline|status)\b", re.IGNORECASE)
WORD = re.compile(r"[a-z0-9_]{2,}")
SAME_SHARE = 0.5
SLIP = 1000
# A time without a size may be of a smaller problem than the protocol's: it is reported from this factor of the peak on.
SIZELESS = 10


def audit(document: Document, rows: Sequence[Row], roofline: Roofline, fallback_noise: Noise) -> tuple[Remark, ...]:
    """Return all errors found in a hand-kept ledger, sorted by line. `rows` are its experiments, `roofline` the limits that no
    figure can exceed. `fallback_noise` is used if the ledger states no noise.
    """
    unit = throughput_unit([line.text for line in document.lines()] + [row.results() for row in rows])
    figures = {row.line: figures_of(row, unit) for row in rows}
    # An impossible figure is reported as such, and not used in comparisons.
    possible = {line: tuple(each for each in found if not _too_fast(each, roofline)) for line, found in figures.items()}
    noise = stated_noise(document, rows, possible, unit) or fallback_noise
    found = [
        *_figure_remarks(document, rows, figures, roofline, unit),
        *(
            Remark(flaw=Flaw.NOISE, line=row.line, rows=(row.label,), text=text)
            for row, text in noise_remarks(rows, possible, noise)
        ),
        *_kept_regressions(rows, possible),
        *_reused_ids(document, rows),
        *_stale_sections(document, rows, figures, unit),
    ]
    return tuple(sorted(found, key=lambda remark: (remark.line, remark.flaw)))


def _figure_remarks(
    document: Document, rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], roofline: Roofline, unit: str
) -> Iterator[Remark]:
    for row in rows:
        yield from _impossible(figures[row.line], roofline, row.line, (row.label,))
        yield from _contradictions(figures[row.line], roofline, row.line, (row.label,))
    for line in document.lines():
        yield from _impossible(figures_in(line.text, unit), roofline, line.number, ())
        yield from _contradictions(figures_in(line.text, unit), roofline, line.number, ())


def _too_fast(figure: Figure, roofline: Roofline) -> bool:
    return roofline.times_peak(figure) > (1 if _fits_roofline(figure) else SIZELESS)


def _fits_roofline(figure: Figure) -> bool:
    return figure.quantity is Quantity.THROUGHPUT or bool(figure.size)


def _impossible(figures: Sequence[Figure], roofline: Roofline, line: int, rows: tuple[str, ...]) -> Iterator[Remark]:
    for figure in figures:
        times = roofline.times_peak(figure)
        sized = _fits_roofline(figure)
        if not _too_fast(figure, roofline):
            continue
        claim = f"{figure.text} would be {times:.3g} times the peak ({roofline.source})"
        if not sized:
            claim += "; no size is stated: this is for the smallest of the protocol"
        elif figure.size:
            claim += f" at {figure.size}"
        if figure.quantity is Quantity.THROUGHPUT or times > SLIP:
            yield Remark(flaw=Flaw.IMPOSSIBLE, line=line, rows=rows, text=claim)
            continue
        work = roofline.work(figure.size) if figure.size else 0
        rates = (each for each in figures if each.quantity is Quantity.THROUGHPUT)
        other = next((each for each in rates if agrees(each.value, figure.value * SLIP, work)), None)
        verb = f"and agrees with {other.text} beside it: the unit slipped" if other else "so the unit seems to have slipped"
        text = f"{claim}. A thousand times as long it is possible, {verb}"
        yield Remark(flaw=Flaw.UNIT_SLIP, line=line, rows=rows, text=text)


def _contradictions(figures: Sequence[Figure], roofline: Roofline, line: int, rows: tuple[str, ...]) -> Iterator[Remark]:
    """Yield a remark on each throughput that differs by over 5 % from FLOP / time, for the time stated just before it. Only
    figures of the same problem size are compared. `line` and `rows` say where `figures` were found.
    """
    for time, throughput in itertools.pairwise(figures):
        kinds = (time.quantity, throughput.quantity) == (Quantity.TIME, Quantity.THROUGHPUT)
        work = roofline.work(time.size) if time.size == throughput.size else 0
        comparable = kinds and work and time.value > 0 and roofline.times_peak(time) <= 1
        if comparable and not agrees(throughput.value, time.value, work):
            text = f"{time.text} at {time.size} is {work / time.value / 1000:.4g} TFLOP/s, not {throughput.text}"
            yield Remark(flaw=Flaw.CONTRADICTION, line=line, rows=rows, text=text)


def _kept_regressions(rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]]) -> Iterator[Remark]:
    """Yield a remark on each kept row whose time or throughput is worse than that of the last kept row of the same size.
    `figures` maps a row's line number to the figures in it.
    """
    standing: dict[tuple[Quantity, str], tuple[str, Figure]] = {}
    for row in rows:
        if not any(ruling.verdict is Verdict.KEEP and ruling.kind not in (Kind.ANALYSIS, Kind.INFRA) for ruling in row.rulings):
            continue
        first = {
            (each.quantity, each.size): each for each in reversed(figures[row.line]) if each.quantity is not Quantity.PERCENT
        }
        for key, figure in first.items():
            name, before = standing.get(key, (row.label, figure))
            yield from _compare_kept(row, figure, name, before)
            standing[key] = (row.label, figure)


def _compare_kept(row: Row, figure: Figure, name: str, before: Figure) -> Iterator[Remark]:
    """Yield a remark if `figure` of `row` is worse than `before`, the figure of the row `name`, which was kept earlier.

    If they differ by a factor of more than 500, the remark is that a unit is wrong; but without a problem size there is no such
    remark, because the two figures may be of different things.
    """
    at = f" at {figure.size}" if figure.size else ""
    if before.value and figure.value and max(figure.value / before.value, before.value / figure.value) > SLIP / 2:
        if figure.size:
            text = f"{figure.text}{at} is about a thousand times off {before.text} of {name}: a unit seems to have slipped"
            yield Remark(flaw=Flaw.UNIT_SLIP, line=row.line, rows=(row.label,), text=text)
        return
    change = 100 * (figure.value / before.value - 1) if before.value else 0.0
    worse = change if figure.quantity is Quantity.TIME else -change
    if worse > 0:
        text = (
            f"kept with {figure.text}{at}, {worse:.1f} % worse than {before.text} of {name}; "
            "no interval says whether that is noise"
        )
        yield Remark(flaw=Flaw.KEPT_REGRESSION, line=row.line, rows=(row.label,), text=text)


def _reused_ids(document: Document, rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark on each row with an earlier row's id, and on each heading that uses a row's id for something else."""
    first: dict[str, Row] = {}
    for row in rows:
        earlier = first.setdefault(row.name, row)
        if row.name and earlier is not row:
            text = f"{row.name} is also the row of line {earlier.line}: {one_line(earlier.change, 60)}"
            yield Remark(flaw=Flaw.REUSED_ID, line=row.line, rows=(row.label,), text=text)
    for section in document.sections:
        name, title = _id_and_title(section)
        if name in first and title and not _is_about(title, first[name]):
            text = (
                f"the heading '{one_line(section.title, 80)}' gives {name} to something else than the row of line "
                f"{first[name].line}: {one_line(first[name].change, 60)}"
            )
            yield Remark(flaw=Flaw.REUSED_ID, line=section.line, rows=(name,), text=text)


def _stale_sections(
    document: Document, rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], unit: str
) -> Iterator[Remark]:
    concluded = {row.name: row for row in rows if row.name}
    for section in document.sections:
        name, _ = _id_and_title(section)
        if name in concluded and PLANNED.search(section.under):
            text = (
                f"'{one_line(section.title, 60)}' stands under '{one_line(section.under, 60)}', but {name} is concluded "
                f"(line {concluded[name].line})"
            )
            yield Remark(flaw=Flaw.STALE, line=section.line, rows=(name,), text=text)
        if SNAPSHOT.search(section.title):
            yield from _stale_figures(section, rows, figures, unit)


def _stale_figures(
    section: Section, rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], unit: str
) -> Iterator[Remark]:
    """Yield a remark on each figure in `section` (on the current state) that is outdated.

    That is: it equals the figure of a kept row, but a row kept later has another figure for the same size. `figures` maps a
    row's line number to the figures in it; `unit` is that of throughputs without one.
    """
    kept = [row for row in rows if any(ruling.verdict is Verdict.KEEP for ruling in row.rulings)]
    for line in section.lines:
        for figure in figures_in(line.text, unit):
            if figure.quantity is Quantity.PERCENT or not figure.size:
                continue
            same = [
                (row, each)
                for row in kept
                for each in figures[row.line]
                if (each.quantity, each.size) == (figure.quantity, figure.size)
            ]
            older = next((row for row, each in same[:-1] if each.value == figure.value), None)
            if older is not None and same[-1][1].value != figure.value:
                last, newest = same[-1]
                text = (
                    f"'{one_line(section.title, 60)}' gives {figure.text} at {figure.size}, the figure of {older.label}; "
                    f"{last.label} was kept later with {newest.text}"
                )
                yield Remark(flaw=Flaw.STALE, line=line.number, rows=(older.label, last.label), text=text)


def _id_and_title(section: Section) -> tuple[str, str]:
    """Split a heading, e.g. `P11: Stage2 pipeline` into `P11` and `Stage2 pipeline`; return ("", "") if it has no id."""
    found = re.match(r"([A-Za-z]{1,6}-?\d+[a-z]?(?:-[A-Z]\d*[a-z]?)?)\s*[:.)–—-]\s*(.*)", section.title)
    return (found[1], found[2]) if found else ("", "")


def _is_about(title: str, row: Row) -> bool:
    words = set(WORD.findall(title.lower()))
    return len(words & set(WORD.findall(f"{row.change} {row.result} {row.why}".lower()))) >= SAME_SHARE * len(words)
