"""List the architecture names of GPUs, as compilers write them: those of LLVM 21 from gfx9 on, and those of CUDA 13."""

import re

_GFX = (
    "900", "902", "904", "906", "908", "909", "90a", "90c", "940", "941", "942", "950", "1010", "1011", "1012", "1013", "1030",
    "1031", "1032", "1033", "1034", "1035", "1036", "1100", "1101", "1102", "1103", "1150", "1151", "1152", "1153", "1200",
    "1201", "1250", "1251",
)  # fmt: skip
_SM = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121)
_NAMES = {f"gfx{name}" for name in _GFX} | {f"sm_{number}" for number in _SM}
_FEATURES = re.compile(r"(sm_\d+)[af]")


def is_target(name: str) -> bool:
    """Return whether `name` is a known GPU architecture, e.g. gfx1151 or sm_90; suffixes as in sm_90a are accepted."""
    found = _FEATURES.fullmatch(name)
    return (found[1] if found else name) in _NAMES
