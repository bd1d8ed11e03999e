"""Convert Nsight Compute's numbers to base units: nanoseconds, bytes, hertz, bytes per second, percent."""

import re

# Length of each unit of time in ns. `_TIME` also matches the long forms of versions before 2024 (`usecond`).
_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_TIME = re.compile(r"(n|u|m|)s(?:econd)?")
_SCALED = re.compile(r"([kmgtp]?)(byte|hz|cycle|inst|flop|warp|thread|sector|request)(?:/.*)?")
_CYCLES_PER_TIME = re.compile(r"([kmg]?)cycle/(n|u|m|)s(?:econd)?")
_DECIMAL_COMMA = re.compile(r"-?\d+,(?:\d{1,2}|\d{4,})|-?\d[\d.\s]*[.\s]\d{3},\d+")


def has_decimal_comma(text: str) -> bool:
    """Return whether `text` is a number of a German or French locale: `12,34`, `1.234,5`. `1,234` is ambiguous: False."""
    return "," in text and _DECIMAL_COMMA.fullmatch(text) is not None


def in_base_units(text: str, unit: str) -> float | None:
    """Return a number in base units, e.g. 1234500.0 for `1,234.5` in `us`; None for text such as "n/a", and NaN."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    if value - value != 0:
        return None
    scale = scale_of(unit.strip().lower())
    return value * scale


def scale_of(unit: str) -> float:
    """Return the size of one `unit` (lower case) in base units; 1 for percent, counts, register/thread and unknown ones."""
    if match := _CYCLES_PER_TIME.fullmatch(unit):
        return _PREFIXES[match[1]] * 1e9 / _TIMES[f"{match[2]}s"]
    if match := _TIME.fullmatch(unit):
        return _TIMES[f"{match[1]}s"]
    if match := _SCALED.fullmatch(unit):
        per_time = {"/ns": 1e9, "/nsecond": 1e9, "/us": 1e6, "/usecond": 1e6, "/ms": 1e3, "/msecond": 1e3}
        scale = next((factor for ending, factor in per_time.items() if unit.endswith(ending)), 1.0)
        return _PREFIXES[match[1]] * scale
    return 1.0
