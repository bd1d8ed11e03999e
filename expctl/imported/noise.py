"""Find the noise that a hand-kept ledger states, and verdicts that rest on differences no larger than it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from expctl.imported.comparisons import comparable, is_baseline, is_kept, own_changes, singles, worse_by
from expctl.imported.document import Document, Row
from expctl.imported.figures import Figure, Quantity, figures_in
from expctl.imported.units import Better, Part

NOISE = re.compile(r"\bnois[ey]|\bjitter|\bthermal|\bvariance|\brun-to-run", re.IGNORECASE)
NOT_NOISE = re.compile(
    r"\b(?:above|beyond|outside|not|more than|exceeds?|over)\b[^.;]{0,20}\bnoise|\bexplain(?:s|ed)?\b[^.;]{0,40}\bvariance"
    r"|\bvariance\b[^.;]{0,40}\bexplain",
    re.IGNORECASE,
)
NOISE_MAX = 50
SENTENCE = re.compile(r"[.;]\s")
CLAUSE = re.compile(r"[.,;:]\s|[()]|\s[-–—]+\s")
# Sizes and counts don't vary from run to run.
EXACT = re.compile(r"\b(?:bytes?|gas|instructions?|registers?|[sv]gprs?|code size|alloc\w*)\b", re.IGNORECASE)
WORSE = re.compile(r"\bregress|\bworse\b|\bslower\b", re.IGNORECASE)
BETTER = re.compile(r"\b(?:faster|speed-?ups?|gain(?:s|ed)?|improve[ds]?|improvements?)\b", re.IGNORECASE)
SIMPLER = re.compile(r"\b(?:simplif\w*|clean|cleanup|trim|remove|drop|delete|refactor)\b", re.IGNORECASE)
NAMED = r"(?:nois[ey]|jitter|variance|run-to-run)"
PERCENT = r"(?P<percent>[±+~≈<]?\s?\d+(?:\.\d+)?(?:\s?[-–]\s?\d+(?:\.\d+)?)?\s?%)"
# A percentage is noise only where the words say that this very figure is: beside the word, or as what lies within it.
STATED = (
    re.compile(
        rf"\b{NAMED}\b(?:\s+(?:level|floor|band|margin|threshold|spread|variation|here|itself|of|on \w+))*"
        rf"[\s:=(]*(?:is|was|are|at|of|about|around|roughly|up to|within|under|below|approximately|=|~|≈|≤|<|±|\s)*{PERCENT}",
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
        stated += [
            Noise(percent=abs(each.value), source=f"line {line.number}: '{each.text}' in a sentence about noise")
            for sentence in SENTENCE.split(line.text)
            for each in _percents(sentence, unit)
        ]
    for row, changes in _changes(rows, figures):
        given = _stated_in_row(row)
        stated += [Noise(percent=abs(each.value), source=f"{row.label} gives the noise as {each.text}") for each in given]
        if not given and _is_called_noise(row) and len(changes) == 1:
            stated += [Noise(percent=abs(value), source=f"{row.label} calls {words} noise") for value, words in changes]
    return max(stated, key=lambda noise: noise.percent, default=None)


def noise_remarks(
    rows: Sequence[Row],
    figures: Mapping[int, tuple[Figure, ...]],
    noise: Noise,
    known: Mapping[str, Better],
    *,
    careful: bool,
) -> Iterator[tuple[Row, str]]:
    """Yield each row that has a verdict although none of its changes exceeds `noise`, and a text that says so. `figures` maps a
    row's line number to the figures in it. `careful`: the noise is not the ledger's own; then rows that were kept for something
    else than speed are left out.
    """
    for row, changes in _changes(rows, figures, known, careful=careful):
        # A row with figures of several metrics may be decided by another than that of its percentage.
        results = [each for each in figures[row.line] if each.quantity is not Quantity.PERCENT]
        if len({(each.part, each.key) for each in results}) > 1 and _states_percent(figures[row.line]):
            continue
        # Who rejects what isn't faster is right, even inside the noise; who rejects a gain by its figure may not be.
        gained = any(words.startswith("+") for _, words in changes) and not WORSE.search(row.results())
        moved = is_kept(row) or (gained and (not careful or BETTER.search(row.results())))
        if EXACT.search(row.results()):
            continue
        if moved and changes and all(abs(value) <= noise.percent for value, _ in changes):
            shown = ", ".join(words for _, words in changes)
            remark = "; the row says so itself" if _is_called_noise(row) and not _stated_in_row(row) else ""
            yield row, f"decided by {shown}, inside the noise of {noise.percent:.2g} % ({noise.source}){remark}"


def _percents(sentence: str, unit: str = "") -> tuple[Figure, ...]:
    """Return the percentages that `sentence` itself calls noise, and not others that stand beside the word."""
    plain = re.sub(r"[`*]", "", sentence)
    if not NOISE.search(plain) or NOT_NOISE.search(plain):
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


def _is_called_noise(row: Row) -> bool:
    text = f"{row.result} {row.why}"
    return NOISE.search(text) is not None and not NOT_NOISE.search(text)


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
