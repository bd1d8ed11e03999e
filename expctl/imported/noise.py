"""The noise that a hand-kept ledger states, and the verdicts that lie inside it."""

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
    """Differences up to `percent` say nothing. `source` says who says so."""

    percent: float
    source: str


def stated_noise(document: Document, rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], unit: str) -> Noise | None:
    """The largest difference that the ledger itself calls noise: in a sentence, in the words of a row, or in a row that says so
    of its own figures.
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
        given = _given(row)
        stated += [Noise(percent=abs(each.value), source=f"{row.label} gives the noise as {each.text}") for each in given]
        if not given and _is_called_noise(row):
            stated += [Noise(percent=abs(value), source=f"{row.label} calls {words} noise") for value, words in changes]
    return max(stated, key=lambda noise: noise.percent, default=None)


def noise_remarks(rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], noise: Noise) -> Iterator[tuple[Row, str]]:
    """Rows whose differences all lie within the noise, with what to say of each."""
    for row, changes in _changes(rows, figures):
        if changes and all(abs(value) <= noise.percent for value, _ in changes):
            shown = ", ".join(words for _, words in changes)
            said = "; the row says so itself" if _is_called_noise(row) and not _given(row) else ""
            yield row, f"decided by {shown}, inside the noise of {noise.percent:.2g} % ({noise.source}){said}"


def _given(row: Row) -> tuple[Figure, ...]:
    """The noise that the words of a row give a figure: `noise is 0.5 %`."""
    clauses = (clause for words in (row.result, row.why) for clause in CLAUSE.split(words))
    return tuple(
        each
        for clause in clauses
        if NOISE.search(clause) and not NOT_NOISE.search(clause)
        for each in figures_in(clause)
        if each.quantity is Quantity.PERCENT
    )


def _is_called_noise(row: Row) -> bool:
    said = f"{row.result} {row.why}"
    return NOISE.search(said) is not None and not NOT_NOISE.search(said)


def _changes(
    rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]]
) -> Iterator[tuple[Row, tuple[tuple[float, str], ...]]]:
    """Each row with its differences in percent: those that it gives, else those of its figures against the last kept ones."""
    standing: dict[tuple[Quantity, str], tuple[Row, Figure]] = {}
    for row in rows:
        noise = {each.text for each in _given(row)}
        given = [each for each in figures[row.line] if each.quantity is Quantity.PERCENT and each.text not in noise]
        # Absolute figures in reversed order, so that the first of a size is the one that counts.
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
