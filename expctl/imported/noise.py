"""Find the noise that a hand-kept ledger states, and verdicts that rest on differences no larger than it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.imported.document import Document, Row
from expctl.imported.figures import Figure, Quantity, figures_in

NOISE = re.compile(r"\bnois[ey]|\bjitter|\bthermal|\bvariance", re.IGNORECASE)
NOT_NOISE = re.compile(r"\b(?:above|beyond|outside|not|more than)\b[^.;]{0,20}\bnoise", re.IGNORECASE)
CLAUSE = re.compile(r"[.,;:]\s|[()]|\s[-–—]+\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Largest change of a figure, in percent of the earlier one, that counts as noise; `source` says where it is stated."""

    percent: float
    source: str


def stated_noise(document: Document, rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], unit: str) -> Noise | None:
    """Return the largest difference, in percent, that a ledger calls noise; None if it mentions no noise.

    It searches sentences outside tables and the results and reasons of rows. `figures` maps a row's line number to the figures
    in it; `unit` is `G` or `T` for throughputs without a unit.
    """
    stated: list[Noise] = []
    for line in document.lines():
        for sentence in re.split(r"[.;]\s", line.text):
            if NOISE.search(sentence) and not NOT_NOISE.search(sentence):
                stated += [
                    Noise(percent=abs(each.value), source=f"line {line.number}: '{each.text}' in a sentence about noise")
                    for each in figures_in(sentence, unit)
                    if each.quantity is Quantity.PERCENT
                ]
    for row, changes in _changes(rows, figures):
        given = _stated_in_row(row)
        stated += [Noise(percent=abs(each.value), source=f"{row.label} gives the noise as {each.text}") for each in given]
        if not given and _is_called_noise(row):
            stated += [Noise(percent=abs(value), source=f"{row.label} calls {words} noise") for value, words in changes]
    return max(stated, key=lambda noise: noise.percent, default=None)


def noise_remarks(rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], noise: Noise) -> Iterator[tuple[Row, str]]:
    """Yield each row that has a verdict although none of its changes exceeds `noise`, and a text that says so. `figures` maps a
    row's line number to the figures in it.
    """
    for row, changes in _changes(rows, figures):
        if changes and all(abs(value) <= noise.percent for value, _ in changes):
            shown = ", ".join(words for _, words in changes)
            remark = "; the row says so itself" if _is_called_noise(row) and not _stated_in_row(row) else ""
            yield row, f"decided by {shown}, inside the noise of {noise.percent:.2g} % ({noise.source}){remark}"


def _stated_in_row(row: Row) -> tuple[Figure, ...]:
    """Return the percentages that a row states as noise, e.g. `noise is 0.5 %`."""
    clauses = (clause for words in (row.result, row.why) for clause in CLAUSE.split(words))
    return tuple(
        each
        for clause in clauses
        if NOISE.search(clause) and not NOT_NOISE.search(clause)
        for each in figures_in(clause)
        if each.quantity is Quantity.PERCENT
    )


def _is_called_noise(row: Row) -> bool:
    text = f"{row.result} {row.why}"
    return NOISE.search(text) is not None and not NOT_NOISE.search(text)


def _changes(
    rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]]
) -> Iterator[tuple[Row, tuple[tuple[float, str], ...]]]:
    """Yield each row with its changes of performance, each as (percent, words for it).

    They are the percentages that the row states; without any, those computed against the last kept row of the same size.
    `figures` maps a row's line number to the figures in it.
    """
    standing: dict[tuple[Quantity, str], tuple[Row, Figure]] = {}
    for row in rows:
        noise = {each.text for each in _stated_in_row(row)}
        given = [each for each in figures[row.line] if each.quantity is Quantity.PERCENT and each.text not in noise]
        # In reversed order, so that the first absolute figure of a size is used.
        absolute = {
            (each.quantity, each.size): each for each in reversed(figures[row.line]) if each.quantity is not Quantity.PERCENT
        }
        changes = tuple((each.value, each.text) for each in given)
        if not changes:
            changes = tuple(
                (value, f"{value:+.2g} % against {standing[key][0].label}")
                for key, figure in absolute.items()
                if key in standing and standing[key][1].value and not standing[key][0].repeats(row)
                for value in (100 * (figure.value / standing[key][1].value - 1),)
            )
        yield row, changes
        if any(ruling.verdict is Verdict.KEEP and ruling.kind not in (Kind.ANALYSIS, Kind.INFRA) for ruling in row.rulings):
            standing |= {key: (row, figure) for key, figure in absolute.items()}
