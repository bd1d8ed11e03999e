"""Compare the name of a Tensile kernel with the parameters that the library's logic file records for the same kernel.

The generator changes some requested values, e.g. it limits PrefetchLocalRead to the loop's length. The name has the requested
value, the logic file the one used.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from expctl.gpu.tensile.keys import Value
from expctl.gpu.tensile.name import KernelName

Recorded = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A parameter that a kernel name (value `requested`) and a logic file (value `recorded`) both give."""

    parameter: str
    requested: Value
    recorded: object

    @property
    def agrees(self) -> bool:
        """Return whether both values are equal, allowing for how names shorten values, e.g. words to their capitals."""
        return _same(self.requested, self.recorded)


def compare(name: KernelName, recorded: Recorded) -> tuple[Agreement, ...]:
    """Return every parameter to which both the kernel name and the logic file (`recorded`: parameter -> value) give a value.
    They are in the order of the name.
    """
    pairs: list[tuple[str, Value]] = []
    if name.tile:
        pairs += zip(("MacroTile0", "MacroTile1", "DepthU"), name.tile, strict=True)
    if name.instruction:
        m, n, k, blocks = name.instruction.m, name.instruction.n, name.instruction.k, name.instruction.blocks
        pairs += [("MatrixInstM", m), ("MatrixInstN", n), ("MatrixInstB", blocks)]
        pairs += [] if k is None else [("MatrixInstK", k)]
    pairs += [(key.parameter, key.value) for key in name.keys if key.known]
    return tuple(
        Agreement(parameter=parameter, requested=value, recorded=recorded[parameter])
        for parameter, value in pairs
        if recorded.get(parameter) is not None
    )


def _same(requested: Value, recorded: object) -> bool:
    if isinstance(recorded, list | tuple):
        if isinstance(requested, str):  # an ISA: the list 11, 5, 1 is 1151, and 9, 0, 10 is 90a
            return requested == "".join(f"{part:d}" if index < 2 else f"{part:x}" for index, part in enumerate(recorded))
        return requested == tuple(recorded)
    if requested == "M" and isinstance(recorded, int):  # GSUM: the number of parts is given at launch
        return recorded > 1
    if isinstance(recorded, str):
        return requested == "".join(letter for letter in recorded if letter.isupper())
    if isinstance(recorded, float) and isinstance(requested, int | float):
        return round(recorded * 100) == round(requested * 100)
    return bool(requested == recorded)
