"""Compare rows of a hand-kept ledger: kept although worse, called flat although not, and judged with another config."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.imported.document import Row
from expctl.imported.figures import Figure, Quantity, better, has_unit
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.roofline import SLIP
from expctl.imported.units import Better, Part, part_of_head, shapes_in

FLAT = re.compile(
    r"\b(?:flat|neutral|unchanged(?!\s+(?!(?:at|by|with|within|in|from|for|vs|and)\b)[`*\w])"
    r"|no (?:measurable |significant |real |clear )?(?:change|difference|effect)"
    r"|same (?:speed|time))\b",
    re.IGNORECASE,
)
NO_GAIN = re.compile(
    r"\bno (?:measurable |significant |real |clear )?(?:improvement|gain|benefit|win|speed-?up)\b"
    r"|\b(?:within|inside|lost in|below) (?:the )?noise\b",
    re.IGNORECASE,
)
# A small loss beside one of these is what its author took for as good.
AS_GOOD = re.compile(
    r"\b(?:also good|decent|comparable|competitive|on par|about the same|similar(?: to)?|consistent|good enough)\b",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[;.]\s|,\s|\s(?:[-–—]+|/)\s|\bbut\b|\band\b|\bwhile\b")
CONFOUNDED = re.compile(
    r"auto-?tun(?:e|er|ing)\b[^.;,]{0,30}\b(?:drift(?:ed|s)?|switched|moved"
    r"|(?:chose|picked|selected) (?:another|a different|different|other))\b"
    r"|\b(?:config|configuration|tile|clocks?|driver|compiler|machine|gpu|batch size)\b"
    r" (?:also |had |has )?(?:drifted|changed|switched)\b"
    r"|\b(?:with|under|using|used|against|at|on|two) (?:an? )?(?:different|another|other) (?:autotuned )?"
    r"(?:config(?:uration)?|tile|machine|gpu|driver|compiler|clocks?|input|dataset)\b"
    r"|\bconfound(?:ed|er|ing)\b|\bnot (?:measured )?in isolation\b|\bmixed (?:in )?with (?:another|other) change"
    r"|\bapples[- ]to[- ]oranges\b",
    re.IGNORECASE,
)
# `cycle 96's side lesson` and `#43's jump` are of another row.
OF_ANOTHER = re.compile(r"\b\d+['’]s\b[^.;]{0,80}$")
NO_LONGER = re.compile(
    r"[^.;]{0,60}\b(?:(?:has|have|was|were|is|are|been|now|since) )+(?:removed|fixed|resolved|excluded|gone|ruled out)\b",
    re.IGNORECASE,
)
NOT_CONFOUNDED = re.compile(r"\b(?:no|not|without|never|un|same|identical|avoid(?:s|ed)?)\b[^.;,]{0,20}$", re.IGNORECASE)
# `VRAM over budget`, but not `over budget before`; and `SKIPPED: no build for it` of a crash
OVER_BUDGET = re.compile(r"(?<!not )\b(?:over|exceed(?:s|ed)|beyond) (?:the |its |our )?(?:\S+ )?budget\b", re.IGNORECASE)
NEVER_RUN = re.compile(r"(?:^|[:.;—–|-]\s+)(?:SKIPPED|NOT RUN|NEVER RUN|NOT ATTEMPTED)\b")
FLAT_PERCENT = 2.0
# What begins a series: what is kept after it is measured against it.
BASELINE = re.compile(
    r"\bbaseline|_baseline|\b(?:fresh|restart(?:ed|s)?|from scratch|(?:cycle|round|phase) 1)\b(?!\.)", re.IGNORECASE
)
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
SHORT_CELL = 100
REPEATS = re.compile(
    r"\b(?:re-?runs?|re-?ran|re-?confirm\w*|re-?measure\w*|repeat\w*|confirmation|verification|replic\w*|variance|seeds?|repro\w*)\b",
    re.IGNORECASE,
)
# `2 h`, `12 epochs`, `other session`, `mean of 11 runs`, `objective`: rows measured by different rules can't be compared.
BUDGET = re.compile(
    r"\b(?:\d+(?:\.\d+)?[- ]?k?|two|three|four|ten|thirty|sixty|ninety)"
    r"[- ]?(?:h|hrs?|hours?|min|minutes?|epochs?|steps?|iters?|iterations?)\b"
    r"|\b(?:(?:longer|shorter|full) (?:run|budget)|other \w+|contended|objective|(?:mean|median|average) of \d+)\b",
    re.IGNORECASE,
)
# `b3 weight decay` and `b3 cosine loss` are of one batch: both are held against what stood before it.
BATCH = re.compile(r"[a-z]{1,4}\d+(?= )")
# What is worse by more percent was measured in another way.
FAR = 100.0
SLIPPED = 100.0 * SLIP / 2
# A small loss for less code needs no question.
SMALL = 1.0
CORRECTED = re.compile(r"\b(?:fix(?:es|ed)?|bug\w*|wrong results?)\b", re.IGNORECASE)
EXPLAINED = re.compile(r"\b(?:simpl\w+|clean\w*|dead code|remove|noise|readab\w+|correctness|fix(?:es|ed)?)\b", re.IGNORECASE)


# A row that says so itself how sure its figures are: `p = 0.31`, `3.1 ± 0.2 ms`, `154.2..178.7 ms`, `[-0.4, 1.2]`
HOW_SURE = re.compile(
    r"\bp(?:-?value)?\s*[=:<>]\s*\d|[±]|\d\s?\.\.\.?\s?\d|\[\s*[-+−]?\d[\d.]*\s*%?\s*[,;]\s*[-+−]?\d[\d.]*\s*%?\s*\]|\bCI\b",
    re.IGNORECASE,
)
# `Kept for inference`
KEPT_FOR = re.compile(r"\b(?:for|because|despite|although|as|since)\b", re.IGNORECASE)
LEAST = 0.1


def is_kept(row: Row) -> bool:
    """Return whether a row was kept as a change of the code; an analysis or a change of tools has no figures to compare."""
    return any(each.verdict is Verdict.KEEP and each.kind not in (Kind.ANALYSIS, Kind.INFRA) for each in row.rulings)


def own_changes(figures: Sequence[Figure]) -> tuple[float, ...]:
    """Return the changes that a row states itself, in percent: its signed percentages, or those from a figure before to one
    after, where there is one of each.
    """
    percents = tuple(each.value for each in figures if each.quantity is Quantity.PERCENT and each.part is Part.DIFFERENCE)
    pair = _pair(figures)
    return percents or ((100 * (pair[1].value / pair[0].value - 1),) if pair and pair[0].value else ())


def kept_regressions(
    rows: Sequence[Row],
    figures: Mapping[int, tuple[Figure, ...]],
    known: Mapping[str, Better],
    unread: Collection[int] = (),
    *,
    doubtful: bool = True,
) -> Iterator[Remark]:
    """Yield a remark on each kept row that is worse than before: than its own figure before, or without any than the last
    kept row of the same table, unit and shape. `figures` maps a row's line number to the figures in it.

    `unread` are lines of figures that were not understood. Beyond one of them nobody knows what a row was held against. Not
    `doubtful`: rows whose figures name no size are not held against each other, since their table may be a sweep.
    """
    standing: dict[tuple[object, ...], tuple[Row, Figure]] = {}
    told: set[tuple[object, ...]] = set()
    for row in filter(is_kept, rows):
        found = figures[row.line]
        if is_baseline(row):
            standing = {key: value for key, value in standing.items() if key[0] != row.table}
        if REPEATS.search(f"{row.name} {row.change}".replace("_", " ")):
            continue  # no change, but the one before measured again
        pair = _pair(found)
        if pair:
            yield from _compare(row, pair[1], "before", pair[0], known)
        own = pair or any(each.part is Part.BEFORE for each in found) or own_changes(found)
        mine = singles(row, found)
        several = len({each.metric for each in found if each.part in (Part.RESULT, Part.SHARE)}) > 1
        worse = [key for key in mine if key in standing and worse_by(mine[key], standing[key][1], known) > 0]
        for key, figure in mine.items():
            # Where a table has several metrics, a row may be kept for another one.
            beyond = key in standing and any(standing[key][0].line < line < row.line for line in unread)
            same = key in standing and row.name and row.name == standing[key][0].name  # two settings of one commit
            unsure = not doubtful and not figure.size
            if key not in standing or unsure or beyond or own or same or (several and not len(worse) == len(mine) > 1):
                pass
            elif comparable(row, standing[key][0], known) and not FAR < worse_by(figure, standing[key][1], known) < SLIPPED:
                once = (*key, figure.text, standing[key][1].text)
                yield from (
                    _compare(row, figure, f"of {standing[key][0].label}", standing[key][1], known) if once not in told else ()
                )
                told.add(once)
            standing[key] = (row, figure)


def is_baseline(row: Row) -> bool:
    """Return whether a row begins a series: what is kept after it is measured against it."""
    return BASELINE.search(f"{row.name} {row.change}") is not None


def comparable(row: Row, other: Row, known: Mapping[str, Better]) -> bool:
    """Return whether two rows of a table were measured alike.

    No shape (`ctx=64K`) or budget (`2 h`) is named in the change of one alone, they are no siblings of a batch (`b3 ...`), and
    they agree in each column of bare numbers of which nobody knows what is better, be it their main metric or a setting.
    """
    before = {head: _bare(cell) for head, cell in other.figures}
    return measured_alike(row.change, other.change) and not any(
        NUMBER.fullmatch(_bare(cell)) and head in before and before[head] != _bare(cell) and not _is_known(head, known)
        for head, cell in row.figures
    )


def measured_alike(change: str, other: str) -> bool:
    """Return whether neither of two changes names a shape or budget that the other doesn't, and they are no siblings."""
    shapes = [{shape for _, shape in shapes_in(each)} | {*BUDGET.findall(each.lower())} for each in (change, other)]
    batches = [BATCH.match(each) for each in (change, other)]
    siblings = batches[0] and batches[1] and batches[0][0] == batches[1][0]
    return shapes[0] == shapes[1] and not siblings


def _bare(cell: str) -> str:
    return cell.strip("*`~≈ ")


def _is_known(head: str, known: Mapping[str, Better]) -> bool:
    return part_of_head(head) is not Part.RESULT or has_unit(head, known)


def singles(row: Row, figures: Sequence[Figure]) -> dict[tuple[object, ...], Figure]:
    """Return the results of a row that can be compared with those of another, by what both must agree in (table, unit)."""
    made: dict[tuple[object, ...], list[Figure]] = {}
    for each in figures:
        if each.part is Part.RESULT and each.quantity is not Quantity.PERCENT and each.value and _stands_alone(row, each):
            made.setdefault((row.table, *each.key), []).append(each)
    return {key: found[0] for key, found in made.items() if len(found) == 1}


def _stands_alone(row: Row, figure: Figure) -> bool:
    """Return whether a figure stands in a short cell. One in running text may be of anything."""
    bare = figure.text.split()[0]
    if re.search(rf"\d\s?[-–]\s?{re.escape(bare)}", row.results()):
        return False  # the end of `9-20 s`
    cells = [re.sub(r"[`*~≈]", "", cell) for cell in (row.result, *(cell for _, cell in row.figures))]
    return any(bare in cell and len(cell) <= SHORT_CELL for cell in cells)


def not_flat(rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], noise: float) -> Iterator[Remark]:
    """Yield a remark on each row that is called flat in the very clause of a figure that isn't."""
    del figures
    for row in rows:
        for clause in CLAUSE.split(f"{row.result}; {row.why}"):
            if not FLAT.search(clause):
                continue
            stated = re.findall(r"(?<![\w.])([-+−–]\s?\d+(?:\.\d+)?)\s*%", clause.replace("`", "").replace("*", ""))
            values = [float(re.sub(r"[−–]", "-", each).replace(" ", "")) for each in stated]
            if len(values) == 1 and abs(values[0]) > max(noise, FLAT_PERCENT):
                text = f"called '{FLAT.search(clause)[0]}' with {stated[0]} %"  # type: ignore[index]
                yield Remark(flaw=Flaw.NOT_FLAT, line=row.line, rows=(row.label,), text=text)


def confounded(rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark on each decided row that says that something else than the change differed, e.g. the autotuned config."""
    for row in rows:
        for text in (row.result, row.why):
            found = CONFOUNDED.search(text)
            before = text[: found.start()] if found else ""
            if (
                found
                and not NOT_CONFOUNDED.search(before)
                and not OF_ANOTHER.search(before)
                and not NO_LONGER.match(text, found.end())
            ):
                words = f"'{found[0].strip()}': the figures may not be those of this change alone"
                yield Remark(flaw=Flaw.CONFOUNDED, line=row.line, rows=(row.label,), text=words)
                break


def against_own_words(rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark on each row that was kept although it says that it is over a budget, or that counts as a failed run and
    says that it was never run.
    """
    for row in rows:
        told = f"{row.change}; {row.result}; {row.why}"
        invalid = all(each.verdict is Verdict.INVALID for each in row.rulings)
        found = OVER_BUDGET.search(told) if is_kept(row) else NEVER_RUN.search(told) if invalid else None
        if found:
            words = found[0].strip(" :.;—–|-")
            text = f"'{row.rulings[0].words.strip()}', but its own words say '{words}'"
            yield Remark(flaw=Flaw.OWN_WORDS, line=row.line, rows=(row.label,), text=text)


def _pair(figures: Sequence[Figure]) -> tuple[Figure, Figure] | None:
    """Return the figures before and after a change, where a row has exactly one of each in one unit."""
    before = [each for each in figures if each.part is Part.BEFORE and each.quantity is not Quantity.PERCENT]
    after = [each for each in figures if each.part is Part.RESULT and each.quantity is not Quantity.PERCENT]
    if len(before) != 1 or len(after) != 1:
        return None
    same = (before[0].quantity, before[0].unit, before[0].size) == (after[0].quantity, after[0].unit, after[0].size)
    return (before[0], after[0]) if same else None


def _compare(row: Row, figure: Figure, of: str, before: Figure, known: Mapping[str, Better]) -> Iterator[Remark]:
    """Yield a remark if `figure` of `row` is worse than `before`, whose place the words `of` tell.

    If they differ by a factor of more than 500, the remark is that a unit is wrong; but without a problem size there is no such
    remark, because the two figures may be of different things.
    """
    if better(figure, known) is None or not before.value or not figure.value:
        return
    at = f" at {figure.size}" if figure.size else ""
    if max(figure.value / before.value, before.value / figure.value) > SLIP / 2:
        if figure.size:
            text = f"{figure.text}{at} is about a thousand times off {before.text} {of}: a unit seems to have slipped"
            yield Remark(flaw=Flaw.UNIT_SLIP, line=row.line, rows=(row.label,), text=text)
        return
    worse = worse_by(figure, before, known)
    if is_excused(row, worse):
        return
    if worse > 0:
        text = (
            f"kept with {figure.text}{at}, {worse:.1f} % worse than {before.text} {of}; no interval says whether that is noise"
        )
        yield Remark(flaw=Flaw.KEPT_REGRESSION, line=row.line, rows=(row.label,), text=text)


def is_excused(row: Row, worse: float) -> bool:
    """Return whether a kept row that is `worse` percent worse says how sure it is, or for what else it was kept."""
    told = f"{row.change} {row.results()} {row.why}"
    if HOW_SURE.search(told) or CORRECTED.search(told) or any(KEPT_FOR.search(each.words) for each in row.rulings):
        return True
    if worse < LEAST or (worse < 2 * FLAT_PERCENT and (FLAT.search(told) or NO_GAIN.search(told) or AS_GOOD.search(told))):
        return True
    return worse < SMALL and EXPLAINED.search(told) is not None


def worse_by(figure: Figure, before: Figure, known: Mapping[str, Better]) -> float:
    """Return by how many percent `figure` is worse than `before`; 0 where nobody knows which direction is better."""
    direction = better(figure, known)
    if direction is None or not before.value:
        return 0.0
    change = 100 * (figure.value / before.value - 1)
    return change if direction is Better.LOWER else -change
