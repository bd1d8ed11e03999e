"""Find figures in the text of a hand-kept ledger: times, throughputs and percentages, each with its problem size."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from expctl.imported.document import Row

# Commas separate thousands. `1,5` may be one number or two, depending on the author, so it is no figure.
DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d|,\d)|\d+(?!,?\d))(?:\.\d+)?"
NUMBER = rf"(?<![\w.])(?<!\d,)(?P<sign>[+\-−–]\s?)?(?P<number>{DIGITS}(?:[eE][-+]?\d+)?)(?P<kilo>k)?"
UNIT = (
    r"(?P<unit>%|percent|[kMGTP]?FLOP(?:S|s)?(?:/s)?|nanoseconds|ns|us|usec|µs|μs|microseconds|ms|msec|milliseconds"
    r"|s|sec|seconds)"
)
FIGURE = re.compile(rf"{NUMBER}\s*{UNIT}(?![\w/])")
BARE_KILO = re.compile(rf"{NUMBER}(?![\w.%])")
SIZE = re.compile(r"\b([NnMK])\s*=\s*(\d+)(?!\d*\s*\.\.)|\b(\d{2,})\s*\^\s*3\b", re.ASCII)
HEAD_UNIT = re.compile(r"(?:^|[^a-zA-Z])(ns|us|µs|μs|ms|sec|s|[MGT]FLOPS?(?:/s)?|[MGT]FLOPs|%)(?:$|[^a-zA-Z])", re.IGNORECASE)
FORESEEN = re.compile(r"expect|prior|predict|target|goal|before|baseline|reference|previous", re.IGNORECASE)
TIMES_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
FLOPS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "": 1.0}


class Quantity(StrEnum):
    """What a figure in the text measures: a time, a throughput or a percentage."""

    TIME = "time"
    THROUGHPUT = "throughput"
    PERCENT = "percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure found in text; `value` is in ns, FLOP/s or percent. `text` is the figure as written, `size` its problem size
    like `n=8192`, "" if unknown.
    """

    quantity: Quantity
    value: float
    text: str
    size: str


def figures_in(text: str, unit: str = "") -> tuple[Figure, ...]:
    """Return the times, throughputs and percentages in `text`, in order.

    Each gets the last problem size mentioned before it, or the only one in the text. A number in thousands without a unit, like
    `42.86k`, is a throughput in `unit` (`G` or `T` FLOP/s); it is ignored if `unit` is "".
    """
    plain = re.sub(r"[`*~≈]", "", text)
    sizes = [(found.start(), _size(found)) for found in SIZE.finditer(plain)]
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
        figure = _figure(match, unit, _size_at(sizes, match.start()), plain)
        if figure is not None:
            made.append(figure)
    return tuple(made)


def figures_of(row: Row, unit: str = "") -> tuple[Figure, ...]:
    """Return the measured figures of a row, found in its result and in columns whose meaning isn't known.

    Columns whose head speaks of expected or previous values are left out. A head may also give the unit and problem size of its
    cells. `unit` is `G` or `T` for throughputs without a unit.
    """
    found = list(figures_in(row.result, unit))
    for head, cell in row.figures:
        if FORESEEN.search(head):
            continue
        named = HEAD_UNIT.search(head.replace("_", " "))
        bare = re.fullmatch(rf"[`*~≈\s]*([+-]?{DIGITS})[`*\s]*", cell)
        size = SIZE.search(head)
        value = f"{bare[1]} {_unit_text(named[1])}" if named and bare else cell
        found += figures_in(f"{size[0]} {value}" if size else value, unit)
    return tuple(found)


def throughput_unit(texts: Sequence[str]) -> str:
    """Return `G` or `T` if the texts mention only one of GFLOPS and TFLOPS; else ""."""
    units = {found[1] for text in texts for found in re.finditer(r"\b([GT])FLOP", text)}
    return units.pop() if len(units) == 1 else ""


def _figure(match: re.Match[str], unit: str, size: str, text: str) -> Figure | None:
    groups = match.groupdict()
    value = float(groups["number"].replace(",", "")) * (1000 if groups["kilo"] else 1)
    named = groups.get("unit") or ""
    shown = match[0].strip()
    if named in ("%", "percent"):
        between = text[: match.start()].rstrip()[-1:].isdigit()  # the `-3` of `2-3 %` is no negative number
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
    return f"{upper[0]}FLOPS" if "FLOP" in upper else unit.lower()


def _size(found: re.Match[str]) -> str:
    return f"n={found[3]}" if found[3] else f"{found[1].lower()}={found[2]}"


def _size_at(sizes: Sequence[tuple[int, str]], at: int) -> str:
    before = [size for start, size in sizes if start < at]
    names = {size for _, size in sizes}
    return before[-1] if before else names.pop() if len(names) == 1 else ""
