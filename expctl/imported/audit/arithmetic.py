"""Find sums of a hand-kept ledger that don't come out: changes that their two figures contradict, and totals too small."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from expctl.imported.document import Document, Row, Table
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.units import Part, part_of_head

NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?!\d)(?:\.\d{1,15})?(?!\d)"
UNIT = r"(?:[a-zA-Zµμ]+/[a-zA-Z]+|[kKMGT]?i?B|[nuµμm]?s|sec|min|h|bytes|%|[GT]FLOPS|fps|cycles|MIPS)(?![\w/])"
FRESH = r"(?<![\w.,:/^+\-−–×~≈<>=±])"
PAIR = (
    rf"(?P<before>{NUMBER})(?P<kilo>[kM](?![\w/]))?\s?(?P<unit>{UNIT})?"
    r"\s*(?:→|->|=>|⇒|\bto\b|\b(?:vs\.?|versus|against)(?:\s[a-z][\w-]*){0,3})\s*"
    rf"(?P<after>{NUMBER})(?P<kilo2>[kM](?![\w/]))?\s?(?P<unit2>{UNIT})?"
)
WORD = (
    r"(?:\s(?P<word>faster|slower|better|worse|less|more|fewer|lower|higher|smaller|speedup|gain|regression|win|improvement"
    r"|drop))?"
)
CHANGE = rf"(?P<sign>[-+−–])?\s?(?P<stated>{NUMBER})\s?(?P<kind>%|[x×])(?![\w×]){WORD}"
END = r"(?!\s*(?:/|of\b|to\b|→|->|±|[-–]\s?\d|(?:vs|versus|against|over|than)\b))"
# `5.6 → 4.9 ms (-12 %)`, `5.6 ms vs baseline 4.9 ms, 1.14x`, and `12 % faster (5.6 → 4.9 ms)`; of no chain or range
STATED = (
    re.compile(rf"{FRESH}{PAIR}\s*(?P<open>[(\[]|[,:;]\s|=\s?)\s*{CHANGE}{END}"),
    re.compile(rf"(?<![\w.,:/^×~≈<>=±]){CHANGE}\s*(?P<open>[(\[:])\s*{PAIR}{END}"),
)
CHAINED = re.compile(r"(?:→|->|=>|⇒|/|\bto|\bvs\.?)\s*$")
TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0}
KILO = {"k": 1e3, "M": 1e6, None: 1.0}
SIDES = ("before", "after")
FEW = 100  # more than most settings are
# What a stated change may differ from the nearest that its figures allow, as a share of it
MARGIN = 0.1
AFTER = re.compile(r"\b(?:after|new|now|optimi[sz]ed|candidate)\b", re.IGNORECASE)
# `21 candidates, 12 survivors (8 landed, 4 open), 10 killed`
TRIED = re.compile(
    r"(?<![\w.,%$#-])(\d{1,6})\s+(?:\w+\s+)?(?:experiments?|candidates?|ideas?|attempts?|trials?|optimi[sz]ations|variants?|hypothes[ie]s)\b",
    re.IGNORECASE,
)
KEPT = r"kept|keeps?|landed|accepted|shipped|survivors?|survived|merged"
ENDED = re.compile(
    rf"(?<![\w.,%$#-])(\d{{1,6}})\s+(?:were\s+)?(?:(?P<kept>{KEPT})|rejected|rejects?|discarded|discards?|reverted|reverts?|killed"
    r"|crash\w*)\b",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"(?<!\d)[.](?:\s|$)")
BRACKETS = re.compile(r"\([^()]*\)")


class Interval(NamedTuple):
    """What a printed number may have been before it was rounded."""

    low: float
    high: float


def misstated(document: Document, rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark on each percentage or ratio that the two figures beside it contradict, however it was computed, and on
    each total that is smaller than the number of kept and rejected things that its sentence counts.
    """
    labels = {row.line: (row.label,) for row in rows}
    texts = [(line.number, line.text) for line in document.lines()]
    for table in document.tables:
        texts += [(row.line, cell) for row in table.rows for cell in row.cells]
        changes = list(_changes_of(table))
        wrong = [each for each in changes if any(_wrong_changes(each[1]))]
        # A column that mostly doesn't fit has the changes of something else, such as a tool's own estimate.
        texts += wrong if len(wrong) == 1 or 2 * len(wrong) < sum(map(_states_change, changes)) else []
    for line, text in dict.fromkeys(texts):
        plain = re.sub(r"[`*]", "", text)
        for said in dict.fromkeys((*_wrong_changes(plain), *_wrong_totals(plain))):
            yield Remark(flaw=Flaw.CONTRADICTION, line=line, rows=labels.get(line, ()), text=said)


def _changes_of(table: Table) -> Iterator[tuple[int, str]]:
    """Yield each row of a table with a column before, one after and one of the change, as a text that says so."""
    parts = [part_of_head(head) for head in table.heads]
    after = [index for index, head in enumerate(table.heads) if AFTER.search(head) and parts[index] is Part.RESULT]
    if parts.count(Part.BEFORE) != 1 or parts.count(Part.DIFFERENCE) != 1 or len(after) != 1:
        return
    before, change = parts.index(Part.BEFORE), parts.index(Part.DIFFERENCE)
    for row in table.rows:
        if len(row.cells) == len(table.heads):
            yield row.line, f"{row.cells[before]} → {row.cells[after[0]]} ({row.cells[change]})"


def _states_change(line: tuple[int, str]) -> bool:
    return any(pattern.search(line[1]) for pattern in STATED)


def _wrong_changes(text: str) -> Iterator[str]:
    for found in (match for pattern in STATED for match in pattern.finditer(text)):
        scales = _scales(found)
        if scales is None or (found["open"] not in "([" and not (found["unit"] or found["unit2"])):
            continue
        if CHAINED.search(text[: found.start("before")]) or _are_settings(found):
            continue
        is_after = found.start("stated") > found.start("before")
        if not found["sign"] and not found["word"] and (found["kind"] == "%" or not is_after):
            continue  # `crossed 5%: 4.73 -> 5.70`, and `25.9 → 30.5 GiB (97.6 %)` of what there is
        if is_after and not found["word"] and re.match(r"\s+[A-Za-z]", text[found.end() :]):
            continue  # `21.7 -> 0.3 MB, -17% fitness`
        if found["kind"] != "%" and not found["word"] and re.match(r"\s*[a-z]", text[found.end("kind") :]):
            continue  # `64 → 128 (8x the cores)`
        before, after = (
            Interval(*(scale * end for end in printed(found[name], 0.5))) for scale, name in zip(scales, SIDES, strict=True)
        )
        if before.low <= 0 or after.low <= 0:
            continue
        grown = Interval(after.low / before.high, after.high / before.low)
        ratios = (grown, Interval(1 / grown.high, 1 / grown.low))
        percent = found["kind"] == "%"
        changes = [Interval(each.low - 1, each.high - 1) for each in ratios]
        possible = [Interval(100 * low, 100 * high) for low, high in changes] if percent else [*ratios, *changes]
        if found["unit2"] == "%":
            possible.append(Interval(after.low - before.high, after.high - before.low))  # in points
        stated = printed(found["stated"], 1.0)
        # What is further off than by a factor of two is the change of something else.
        if not any(_may_be(stated, each) for each in possible) and any(_may_be(stated, each, 1.0) for each in possible):
            shown = [f"{(low + high) / 2:.3g}{found['kind']}" for low, high in possible[:2]]
            yield f"'{found[0].strip()}': the two figures make {shown[0]}, or {shown[1]} the other way round"


def _are_settings(found: re.Match[str]) -> bool:
    # `16 → 64 (-15.8%)`, and `100 → 10 ms (+35%)`, which are no results of a measurement
    has_unit = any(found[name] for name in ("unit", "unit2", "kilo", "kilo2"))
    is_small = any(found[name].isdigit() and int(found[name]) < FEW for name in SIDES)
    is_round = all(found[name].isdigit() and len(found[name].strip("0")) == 1 for name in SIDES)
    return is_round or (is_small and not has_unit)


def _scales(found: re.Match[str]) -> tuple[float, float] | None:
    """Return what the figures before and after must be multiplied by to be of one unit, None where that isn't known."""
    units = [found["unit"], found["unit2"]]
    kilos = [found["kilo"], found["kilo2"]]
    if all(units) and units[0] != units[1]:
        return (TIMES[units[0]], TIMES[units[1]]) if set(units) <= set(TIMES) and kilos == [None, None] else None
    return (KILO[kilos[0]], KILO[kilos[1]]) if kilos[0] == kilos[1] or all(kilos) else None


def printed(number: str, rounding: float) -> Interval:
    """Return what a printed number may have been, if it was rounded by `rounding` of its last digit; closing zeros of a whole
    number are none.
    """
    plain = number.replace(",", "")
    whole, _, fraction = plain.partition(".")
    closing = len(whole) - len(whole.rstrip("0")) if whole.strip("0") and not fraction else 0
    last = 10.0 ** (closing - len(fraction))
    return Interval(float(plain) - rounding * last, float(plain) + rounding * last)


def _may_be(stated: Interval, possible: Interval, margin: float = MARGIN) -> bool:
    """Return whether a stated change may be one that its figures allow. The sign of a loss is up to its author."""
    low, high = sorted(map(abs, possible))
    low = 0.0 if possible.low <= 0 <= possible.high else low
    return stated.low <= high * (1 + margin) and stated.high >= low / (1 + margin)


def _wrong_totals(text: str) -> Iterator[str]:
    for sentence in SENTENCE.split(text):
        plain = BRACKETS.sub("", sentence)
        tried, ended = TRIED.findall(plain), list(ENDED.finditer(plain))
        kept = [each for each in ended if each["kept"]]
        counted = sum(int(each[1]) for each in ended)
        if len(tried) == 1 and kept and len(kept) < len(ended) and counted > int(tried[0]):
            yield f"'{sentence.strip()}': of {tried[0]} it counts {counted} that were kept or rejected"
