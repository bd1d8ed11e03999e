"""Find figures in the text of a hand-kept ledger: times, rates, throughputs and percentages, each with its problem size."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from expctl.imported import units
from expctl.imported.document import Row
from expctl.imported.units import Better, Part

# Commas separate thousands. `1,5` may be one number or two, depending on the author, so it is no figure.
DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d|,\d)|\d+(?!,?\d))(?:\.\d+)?"
NUMBER = rf"(?<![\w.])(?<!\d,)(?P<sign>[+\-−–]\s?)?(?P<number>{DIGITS}(?:[eE][-+]?\d+)?)(?P<kilo>k)?"
UNIT = (
    r"(?P<unit>%|percent|[kMGTP]?FLOP(?:S|s)?(?:/s)?|nanoseconds|ns|us|usec|µs|μs|microseconds|ms|msec|milliseconds"
    r"|s|sec|seconds)"
)
FIGURE = re.compile(rf"{NUMBER}\s*(?:(?P<rate>{units.RATE})(?![\w/])|{UNIT}(?![\w/]))")
BARE_KILO = re.compile(rf"{NUMBER}(?![\w.%])")
SIZE = re.compile(r"\b([NnMK])\s*=\s*(\d+)(?!\d*\s*\.\.)|\b(\d{2,})\s*\^\s*3\b", re.ASCII)
HEAD_UNIT = re.compile(r"(?:^|[^a-zA-Z/])(ns|us|µs|μs|ms|sec|s|[MGT]FLOPS?(?:/s)?|[MGT]FLOPs|%)(?:$|[^a-zA-Z])", re.IGNORECASE)
TIMES_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
FLOPS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "": 1.0}


class Quantity(StrEnum):
    """What a figure in the text measures: a time, a throughput in FLOP/s, another rate or count, or a percentage."""

    TIME = "time"
    THROUGHPUT = "throughput"
    RATE = "rate"
    PERCENT = "percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure found in text; `value` is in ns, FLOP/s, percent, or `unit`. `text` is the figure as written, `size` its problem
    size like `n=8192`, "" if unknown.

    `part` says whether it is a result, or a figure before, a difference, a bound. `shape` and `metric` are words for what was
    measured, e.g. `b=128` and `p95`: only figures that agree in them are compared.
    """

    quantity: Quantity
    value: float
    text: str
    size: str
    unit: str = ""
    part: Part = Part.RESULT
    shape: str = ""
    metric: str = ""

    @property
    def key(self) -> tuple[Quantity, str, str, str, str]:
        """Return what a figure must have in common with another to be compared with it."""
        return self.quantity, self.unit, self.size, self.shape, self.metric


def better(figure: Figure, known: Mapping[str, Better]) -> Better | None:
    """Return which direction of a figure is better, None if nobody knows. `known` is what the user says, by unit."""
    if figure.quantity is Quantity.TIME:
        return Better.LOWER
    if figure.quantity is Quantity.THROUGHPUT:
        return Better.HIGHER
    return units.direction(figure.unit, known) if figure.quantity is Quantity.RATE else None


def figures_in(text: str, unit: str = "") -> tuple[Figure, ...]:
    """Return the times, throughputs, rates and percentages in `text`, in order.

    Each gets the last problem size mentioned before it, or the only one in the text. A number in thousands without a unit, like
    `42.86k`, is a throughput in `unit` (`G` or `T` FLOP/s); it is ignored if `unit` is "".
    """
    plain = re.sub(r"[`*~≈]", "", text)
    sizes = [(found.start(), _size(found)) for found in SIZE.finditer(plain)]
    shapes = units.shapes_in(plain)
    found = [*FIGURE.finditer(plain)]
    taken = [match.span() for match in found]
    if unit:
        found += [
            match
            for match in BARE_KILO.finditer(plain)
            if match["kilo"] and not any(start <= match.start() < end for start, end in taken)
        ]
    made = []
    for match in sorted(found, key=lambda match: match.start()):
        figure = _figure(match, unit, _at(sizes, match.start()), plain)
        made.append(
            replace(
                figure,
                part=units.part_of(plain, match.start("number"), match.end(), signed=bool(match["sign"])),
                shape=_at(shapes, match.start()),
                metric=units.metric_before(plain, match.start()),
            )
        )
    return tuple(made)


def figures_of(row: Row, unit: str = "", known: Mapping[str, Better] | None = None) -> tuple[Figure, ...]:
    """Return the measured figures of a row, found in its result and in columns whose meaning isn't known.

    Columns whose head speaks of expected values, bounds or spreads are left out. A head may also give the unit and problem size
    of its cells. `unit` is `G` or `T` for throughputs without a unit, `known` are units that the user named.
    """
    found = list(figures_in(row.result, unit))
    for head, cell in row.figures:
        part = units.part_of_head(head)
        if part is Part.BOUND:
            continue
        named = units.unit_of_head(head, known or {}) or _named(head)
        bare = re.fullmatch(rf"[`*~≈\s]*([+-]?{DIGITS})[`*\s]*", cell)
        size = SIZE.search(head)
        value = f"{bare[1]} {_unit_text(named)}" if named and bare else cell
        inside = figures_in(f"{size[0]} {value}" if size else value, unit)
        found += (
            replace(
                each,
                part=each.part if part is Part.RESULT or each.part is Part.DIFFERENCE else part,
                metric="" if part is Part.BEFORE else head,
            )
            for each in inside
        )
        if bare and named and not inside:
            figure = Figure(quantity=Quantity.RATE, value=float(bare[1].replace(",", "")), text=f"{bare[1]} {named}", size="")
            found.append(replace(figure, unit=units.name_of(named), part=part, metric="" if part is Part.BEFORE else head))
    return tuple(found)


def throughput_unit(texts: Sequence[str]) -> str:
    """Return `G` or `T` if the texts mention only one of GFLOPS and TFLOPS; else ""."""
    found = {found[1] for text in texts for found in re.finditer(r"\b([GT])FLOP", text)}
    return found.pop() if len(found) == 1 else ""


def has_unit(head: str, known: Mapping[str, Better]) -> bool:
    """Return whether a column head names the unit of its cells."""
    return bool(units.unit_of_head(head, known) or _named(head))


def _named(head: str) -> str:
    found = HEAD_UNIT.search(head.replace("_", " "))
    return found[1] if found else ""


def _figure(match: re.Match[str], unit: str, size: str, text: str) -> Figure:
    groups = match.groupdict()
    value = float(groups["number"].replace(",", "")) * (1000 if groups["kilo"] else 1)
    named = groups.get("unit") or ""
    shown = match[0].strip()
    if groups.get("rate"):
        return Figure(quantity=Quantity.RATE, value=value, text=shown, size=size, unit=units.name_of(groups["rate"]))
    if named in ("%", "percent"):
        between = re.search(r"[\d%]$", text[: match.start()].rstrip()) is not None  # the `-3` of `2-3 %` is no negative number
        negative = bool(groups["sign"]) and groups["sign"].strip() in "-−–" and not between
        return Figure(quantity=Quantity.PERCENT, value=-value if negative else value, text=shown, size=size)
    if "FLOP" in named or not named:
        scale = FLOPS[named[: named.index("FLOP")] if named else unit]
        return Figure(quantity=Quantity.THROUGHPUT, value=value * scale, text=shown, size=size)
    return Figure(quantity=Quantity.TIME, value=value * TIMES_NS[_short(named)], text=shown, size=size)


def _short(unit: str) -> str:
    longer = {"nanoseconds": "ns", "usec": "us", "microseconds": "us", "msec": "ms", "milliseconds": "ms"}
    return longer.get(unit, "s" if unit in ("sec", "seconds") else unit)


def _unit_text(unit: str) -> str:
    upper = unit.upper()
    return f"{upper[0]}FLOPS" if "FLOP" in upper else unit.lower() if HEAD_UNIT.fullmatch(unit) else unit


def _size(found: re.Match[str]) -> str:
    return f"n={found[3]}" if found[3] else f"{found[1].lower()}={found[2]}"


def _at(sizes: Sequence[tuple[int, str]], at: int) -> str:
    before = [size for start, size in sizes if start < at]
    names = {size for _, size in sizes}
    return before[-1] if before else names.pop() if len(names) == 1 else ""
