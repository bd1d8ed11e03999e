"""Audit a hand-kept ledger of experiments for errors that can be found without measuring. Each remark names its evidence."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from expctl.imported.audit.arithmetic import misstated
from expctl.imported.audit.comparisons import against_own_words, confounded, kept_regressions, not_flat
from expctl.imported.audit.deciding import against_the_deciding_column
from expctl.imported.audit.noise import Noise, noise_remarks, stated_noise
from expctl.imported.audit.numbering import entered_twice, inside_ranges, missing_numbers
from expctl.imported.audit.stale import reused_ids, stale_sections
from expctl.imported.document import Document, Row
from expctl.imported.figures import Figure, Quantity, figures_in, figures_of, throughput_unit
from expctl.imported.heads import HEADS, MEASURED_ON, OF_CHANGES, Role
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.roofline import SLIP, Roofline, agrees
from expctl.imported.units import Better, Part, well_known
from expctl.imported.verdict_columns import MEASURED, plain_head


def audit(
    document: Document,
    rows: Sequence[Row],
    roofline: Roofline,
    fallback_noise: Noise | None,
    known: Mapping[str, Better] | None = None,
    *,
    doubtful: bool = True,
) -> tuple[Remark, ...]:
    """Return all errors found in a hand-kept ledger, sorted by line. `rows` are its experiments, `roofline` the limits that no
    figure can exceed. `fallback_noise` is used if the ledger states no noise; without it no gain is held against noise. `known`
    are units by name and what of them is better. `doubtful`: ask also about kept rows that are only worse than a row before.
    """
    known = well_known(head for table in document.tables for head in table.heads) | dict(known or {})
    unit = throughput_unit([line.text for line in document.lines()] + [row.results() for row in rows])
    figures = {row.line: figures_of(row, unit, known) for row in rows}
    # An impossible figure is reported as such, and not used in comparisons.
    said = (figure for line in document.lines() for figure in figures_in(line.text, unit))
    limits = _Limits(roofline, [*itertools.chain(*figures.values()), *said])
    possible = {line: tuple(each for each in found if not limits.is_exceeded(each)) for line, found in figures.items()}
    stated = stated_noise(document, rows, possible, unit)
    least = fallback_noise.percent if fallback_noise else 0.0
    benchmarks = _benchmarks(document)
    compared = [row for row in rows if row.table not in benchmarks]
    threshold = min(max((each.percent for each in stated), default=least), least)
    unread = _unread(document, rows)
    worse = tuple(kept_regressions(compared, possible, known, unread, doubtful=doubtful))
    asked = {each.line for each in worse}
    found = [
        *_figure_remarks(document, rows, figures, limits, unit),
        *(
            Remark(flaw=Flaw.NOISE, line=row.line, rows=(row.label,), text=text)
            for row, text in noise_remarks(compared, possible, stated, fallback_noise, known)
        ),
        *worse,
        *(
            each
            for each in against_the_deciding_column(document, compared, unread)
            if each.line not in asked and (doubtful or each.flaw is Flaw.REJECTED_GAIN)
        ),
        *misstated(document, rows),
        *not_flat(rows, possible, threshold),
        *confounded(rows),
        *against_own_words(rows),
        *reused_ids(document, rows),
        *inside_ranges(rows),
        *entered_twice(document, rows),
        *missing_numbers(document, rows),
        *stale_sections(document, rows, figures, unit),
    ]
    return tuple(sorted(found, key=lambda remark: (remark.line, remark.flaw)))


def _unread(document: Document, rows: Sequence[Row]) -> frozenset[int]:
    """Return the lines of tables that have a figure, and are no experiment of `rows`."""
    read = {row.line for row in rows}
    lines = (line for table in document.tables for line in table.rows if line.line not in read)
    return frozenset(line.line for line in lines if any(map(MEASURED.search, line.cells)))


def _benchmarks(document: Document) -> frozenset[int]:
    """Return the tables in which each row is another benchmark, and none a change: they have no column of changes or ids, and
    one of benchmarks or none of verdicts.
    """
    of_change = {*HEADS[Role.CHANGE], *HEADS[Role.NAME], *OF_CHANGES}
    plain = {table.line: set(map(plain_head, table.heads)) for table in document.tables}
    return frozenset(
        line
        for line, heads in plain.items()
        if not of_change & heads and (heads & set(MEASURED_ON) or not heads & set(HEADS[Role.VERDICT]))
    )


def _figure_remarks(
    document: Document, rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], limits: _Limits, unit: str
) -> Iterator[Remark]:
    for row in rows:
        yield from _impossible(figures[row.line], limits, row.line, (row.label,))
        yield from _contradictions(figures[row.line], limits.roofline, row.line, (row.label,))
    for line in document.lines():
        yield from _impossible(figures_in(line.text, unit), limits, line.number, ())
        yield from _contradictions(figures_in(line.text, unit), limits.roofline, line.number, ())


class _Limits:
    """The roofline, and the throughputs `rates` that a ledger states. A time without a size may be of any problem: it is too
    short where a thousand times as long it agrees with one of them.
    """

    def __init__(self, roofline: Roofline, rates: Iterable[Figure]) -> None:
        self.roofline = roofline
        self._rates = [each for each in rates if each.quantity is Quantity.THROUGHPUT]

    def is_exceeded(self, figure: Figure) -> bool:
        if figure.part not in (Part.RESULT, Part.BEFORE):
            return False
        if figure.quantity is Quantity.TIME and not figure.size:
            return self.roofline.times_peak(figure) > 1 and self.agreeing(figure, self._rates) is not None
        return self.roofline.times_peak(figure) > 1

    def agreeing(self, time: Figure, rates: Iterable[Figure]) -> Figure | None:
        """Return the throughput among `rates` that the time agrees with if it is a thousand times as long."""
        for each in rates:
            size = time.size or each.size
            if (
                each.quantity is Quantity.THROUGHPUT
                and size
                and agrees(each.value, time.value * SLIP, self.roofline.work(size))
            ):
                return each
        return None

    def slip(self, time: Figure, beside: Sequence[Figure]) -> str:
        """Say what shows that the unit of a time has slipped: a throughput `beside` it, or elsewhere, or the peak alone."""
        if near := self.agreeing(time, beside):
            return f"and agrees with {near.text} beside it: the unit slipped"
        if far := self.agreeing(time, () if time.size else self._rates):
            return f"and agrees with {far.text} at {far.size}: the unit slipped"
        return "so the unit seems to have slipped"


def _impossible(figures: Sequence[Figure], limits: _Limits, line: int, rows: tuple[str, ...]) -> Iterator[Remark]:
    roofline = limits.roofline
    for figure in figures:
        if not limits.is_exceeded(figure):
            continue
        times = roofline.times_peak(figure)
        claim = (
            f"{figure.text} would be {times:.3g} times the peak ({roofline.source}){' at ' * bool(figure.size)}{figure.size}"
        )
        if figure.quantity is Quantity.THROUGHPUT or times > SLIP:
            yield Remark(flaw=Flaw.IMPOSSIBLE, line=line, rows=rows, text=claim)
        else:
            text = f"{claim}. A thousand times as long it is possible, {limits.slip(figure, figures)}"
            yield Remark(flaw=Flaw.UNIT_SLIP, line=line, rows=rows, text=text)


def _contradictions(figures: Sequence[Figure], roofline: Roofline, line: int, rows: tuple[str, ...]) -> Iterator[Remark]:
    """Yield a remark on each throughput that differs by over 5 % from FLOP / time, for the time stated just before it. Only
    figures of the same problem size are compared. `line` and `rows` say where `figures` were found.
    """
    for time, throughput in itertools.pairwise(figures):
        kinds = (time.quantity, throughput.quantity) == (Quantity.TIME, Quantity.THROUGHPUT)
        work = roofline.work(time.size) if time.size == throughput.size else 0
        results = time.part is throughput.part is Part.RESULT and time.shape == throughput.shape
        comparable = kinds and results and work and time.value > 0 and roofline.times_peak(time) <= 1
        if comparable and not agrees(throughput.value, time.value, work):
            text = f"{time.text} at {time.size} is {work / time.value / 1000:.4g} TFLOP/s, not {throughput.text}"
            yield Remark(flaw=Flaw.CONTRADICTION, line=line, rows=rows, text=text)
