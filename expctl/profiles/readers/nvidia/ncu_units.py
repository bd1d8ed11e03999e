"""Convert Nsight Compute's numbers to base units: nanoseconds, bytes, hertz, bytes per second, percent."""

import re

# Length of each unit of time in ns. `_TIME` also matches the long forms of versions before 2024 (`usecond`).
_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_TIME = re.compile(r"(n|u|m|)s(?:econd)?")
_SCALED = re.compile(r"([kmgtp]?)(?:byte|hz|cycle|inst|flop|warp|thread|sector|request)(?:/(?:(n|u|m|)s(?:econd)?|.*))?")
_DECIMAL_COMMA = re.compile(r"-?\d+,(?:\d{1,2}|\d{4,})|-?\d[\d.\s]*[.\s]\d{3},\d+")


def has_decimal_comma(text: str) -> bool:
    """Return whether `text` is a number with a decimal comma: `12,34` or `1.234,5`. False for `1,234`, which is ambiguous."""
    return "," in text and _DECIMAL_COMMA.fullmatch(text) is not None


def in_base_units(text: str, unit: str) -> float | None:
    """Return the number `text` in the base unit of `unit`, e.g. 1234500.0 (ns) for `1,234.5` in `us`. Returns None if it is no
    finite number.
    """
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    if value - value != 0:
        return None
    return value * scale_of(unit.strip().lower())


def scale_of(unit: str) -> float:
    """Return the factor from `unit` (lower case) to its base unit; 1 for percent, counts and unknown units."""
    if match := _TIME.fullmatch(unit):
        return _TIMES[f"{match[1]}s"]
    if match := _SCALED.fullmatch(unit):
        per_time = 1.0 if match[2] is None else 1e9 / _TIMES[f"{match[2]}s"]
        return _PREFIXES[match[1]] * per_time
    return 1.0
