"""Units as ncu prints them, old and new."""

import pytest

from expctl.profiles.readers.nvidia.ncu_units import in_base_units


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("13.408000", "us", 13408), ("221,152", "ns", 221152), ("1.5", "ms", 1.5e6), ("2", "second", 2e9), ("8.06",
        "usecond", 8060),
        ("32.768", "Kbyte", 32768), ("1.02", "Kbyte/block", 1020), ("0", "byte/block", 0), ("441.75", "Gbyte/s", 441.75e9),
        ("0.441749", "Tbyte/s", 441.749e9), ("3", "byte/nsecond", 3e9), ("1.96", "Ghz", 1.96e9), ("1.41",
        "cycle/nsecond", 1.41e9),
        ("980", "cycle/usecond", 980e6), ("168", "register/thread", 168), ("64.3", "%", 64.3), ("5", "inst", 5), ("7", "", 7),
    ],
)  # fmt: skip
def test_values(text: str, unit: str, value: float) -> None:
    assert in_base_units(text, unit) == pytest.approx(value)


@pytest.mark.parametrize("text", ["no data", "n/a", "", "PolicySpread", "nan", "inf"])
def test_no_values(text: str) -> None:
    assert in_base_units(text, "us") is None
