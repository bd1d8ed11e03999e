"""Parse the name of a Tensile or TensileLite kernel; its values are those requested from the generator.

`<problem>_MT<M>x<N>x<depth>_MI<...>_SN_<keys>`: every part may be missing. Tensile gives the matrix instruction four numbers
(M, N, K, blocks), TensileLite three (no K). A key that is missing tells nothing: Tensile omits what is equal throughout a
library, TensileLite also what it passes at launch. A name too long for a file name ends in a hash after 48 characters.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from expctl.gpu.tensile.flags import flag_words
from expctl.gpu.tensile.hash import SHORTENED_AT, hash_pieces
from expctl.gpu.tensile.keys import FIRST_KEYS, KEYS, Key, read_keys
from expctl.gpu.tensile.problem import Problem, read_problem
from expctl.gpu.tensile.types import TYPE_NAMES, types_of

KERNEL_DESCRIPTOR = re.compile(r"(?:\.kd| \[clone \.kd\])+$", re.ASCII)
CUSTOM = re.compile(r"(Custom[A-Za-z0-9]*)_(.*)", re.ASCII)
HELPER = re.compile(r"C([a-z]+)_(?!A[a-zA-Z]+_B)(?:D[a-z]+_)?([A-Z].*)", re.ASCII)
PARTIAL_SUMS = re.compile(r"PostGSU(\d+)", re.ASCII)
TILE = re.compile(r"MT(\d+)x(\d+)x(\d+)", re.ASCII)
INSTRUCTION = re.compile(r"MI(\d+)x(\d+)x(\d+)(?:x(\d+))?", re.ASCII)
MARKS = {
    "SN": "C and D may have different leading dimensions",
    "SE": "C and D have one leading dimension",
    "CMS": "a schedule of the main loop written by hand",
}
HAND_WRITTEN = re.compile(r"shortname\d+", re.ASCII)
"""Matches the short name that authors of handwritten kernels use in place of a too long one."""
LITE_KEYS = {"LDSB", "MIWT", "AFEM", "AFC", "GRVWA", "GRVWB", "USL"}
LITE_FLAGS = re.compile(r"_(?:D?Bias|SAV|SAB|SCD|UserArgs|GG|HA|Grad|Scale)|BBias", re.ASCII)
TENSILE_KEYS = {"AF0EM", "GLVWA", "GLVWB", "U64SL", "VAW", "AMAS", "TT"}
ARCHITECTURE = re.compile(r"gfx[0-9]+[0-9a-f]{2}", re.ASCII)


class Kind(StrEnum):
    """Kinds of Tensile kernel names: of a matrix product, a handwritten kernel, a helper, or cut off with a hash at the end."""

    PRODUCT = "product"
    """A generated kernel that computes a matrix product."""
    CUSTOM = "custom"
    """A handwritten kernel, whose name contains its author's own words besides keys."""
    HELPER = "helper"
    """A kernel that runs before or after a product: it scales C, adds up parts of a split sum, or converts types."""
    SHORTENED = "shortened"
    """A generated name that was cut to fit a file name; a hash replaces its keys."""


class Dialect(StrEnum):
    """The generator that made a kernel name: Tensile or TensileLite; UNKNOWN if the name may be of either."""

    TENSILE = "Tensile"
    TENSILE_LITE = "TensileLite"
    UNKNOWN = "Tensile or TensileLite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """Shape of a matrix instruction, which computes `blocks` products of m x k and k x n matrices; `k` is None if not named."""

    m: int
    n: int
    k: int | None
    blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelName:
    """A parsed Tensile kernel name. `tile` is (M, N, summed elements per loop iteration), None if not given; `purpose` is what
    the kernel does, in words; `words` explain the parts that are neither problem, tile, instruction nor keys.
    """

    name: str
    kind: Kind
    dialect: Dialect
    purpose: str
    problem: Problem | None
    tile: tuple[int, int, int] | None
    instruction: Instruction | None
    keys: tuple[Key, ...]
    words: tuple[str, ...]

    def value(self, parameter: str) -> object:
        """Return the value that the kernel name gives `parameter`; None if the name leaves that parameter out."""
        return next((key.value for key in self.keys if key.parameter == parameter), None)

    @property
    def unknown_keys(self) -> tuple[Key, ...]:
        """Return the keys of the name that no known Tensile generator uses."""
        return tuple(key for key in self.keys if not key.known)


LONGEST = 4096
"""Most characters of a kernel name that is parsed. Generators write up to 818; Python's int refuses very long numbers."""


def read_name(name: str) -> KernelName | None:
    """Parse the kernel name `name`; return None if it is no Tensile name."""
    if len(name) > LONGEST:
        return None
    bare = KERNEL_DESCRIPTOR.sub("", name.strip())
    custom = CUSTOM.fullmatch(bare)
    head, tile, tokens = _split_at_tile(custom[2] if custom else bare)
    words: tuple[str, ...] = () if bare == name.strip() else (".kd: the kernel's descriptor, not its code",)
    helper = HELPER.fullmatch(head) if not custom and tile is None else None
    if helper:
        return _helper(name, helper, words)
    read = read_problem(head)
    if read is None and tile is None:
        return None
    instruction, tokens = _instruction((*(read[1] if read else ()), *tokens))
    keys = read_keys((token for token in tokens if token not in MARKS), KEYS if tile else FIRST_KEYS)
    words += tuple(f"{token}: {MARKS[token]}" for token in tokens if token in MARKS)
    lost = 0 if custom else hash_pieces(bare, keys)
    own = custom or read is None or any(HAND_WRITTEN.fullmatch(key.token) for key in keys)
    kind = Kind.CUSTOM if own else Kind.SHORTENED if lost else Kind.PRODUCT
    if kind is Kind.CUSTOM:
        words += (f"{custom[1]}: written by hand",) if custom else () if read else (f"{head}: its author's own words",)
        words += tuple(_own_word(key.token) for key in keys if not key.known)
        keys = tuple(key for key in keys if key.known)
    elif lost:
        words += (f"{bare[SHORTENED_AT:]}: cut off, or a hash of the rest; the keys are lost",)
        keys = keys[:-lost]
    return KernelName(
        name=name,
        kind=kind,
        dialect=_dialect(instruction, keys, head),
        purpose="computes a matrix product",
        problem=read[0] if read else None,
        tile=tile,
        instruction=instruction,
        keys=keys,
        words=words,
    )


def _split_at_tile(bare: str) -> tuple[str, tuple[int, int, int] | None, tuple[str, ...]]:
    """Split a kernel name into the text before its tile (`MT64x128x16`), the tile's numbers, and the tokens after it. Without a
    tile these are the whole name, None and ().
    """
    tokens = tuple(token for token in bare.split("_") if token)
    for index, token in enumerate(tokens):
        found = TILE.fullmatch(token)
        if found:
            return "_".join(tokens[:index]), (int(found[1]), int(found[2]), int(found[3])), tokens[index + 1 :]
    return bare, None, ()


def _instruction(tokens: tuple[str, ...]) -> tuple[Instruction | None, tuple[str, ...]]:
    for index, token in enumerate(tokens):
        found = INSTRUCTION.fullmatch(token)
        if found:
            numbers = [int(text) for text in found.groups() if text]
            m, n, blocks = numbers[0], numbers[1], numbers[-1]
            instruction = Instruction(m=m, n=n, k=numbers[2] if len(numbers) == 4 else None, blocks=blocks)
            return instruction, tokens[:index] + tokens[index + 1 :]
    return None, tokens


def _dialect(instruction: Instruction | None, keys: tuple[Key, ...], head: str) -> Dialect:
    """Return the generator of a kernel name. It is told by keys, or flags in `head`, that only one generator writes, else by
    whether the matrix instruction has a `k`.
    """
    names = {key.key for key in keys}
    if names & LITE_KEYS or LITE_FLAGS.search(head):
        return Dialect.TENSILE_LITE
    if names & TENSILE_KEYS or (instruction and instruction.k is not None):
        return Dialect.TENSILE
    return Dialect.TENSILE_LITE if instruction else Dialect.UNKNOWN


def _own_word(token: str) -> str:
    found = ARCHITECTURE.fullmatch(token)
    return f"{token}: for this GPU, says its author" if found else f"{token}: its author's own word"


def _helper(name: str, found: re.Match[str], words: tuple[str, ...]) -> KernelName:
    """Parse the name of a helper kernel, e.g. `Cijk_SB_BiasS_PostGSU4_VW2`, which has no tile.

    `found` is a match of a regular expression, whose group 2 is all that follows the indices of C (`SB_...`). `words` are
    explanations to be put before those found here.
    """
    tokens = found[2].split("_")
    types = types_of(tokens[0])
    parts = next((PARTIAL_SUMS.fullmatch(token) for token in tokens if PARTIAL_SUMS.fullmatch(token)), None)
    rest = [token for token in tokens[1:] if not PARTIAL_SUMS.fullmatch(token)]
    flags, unrecognised = flag_words(rest)
    keys = read_keys(unrecognised)
    shown = " to ".join(TYPE_NAMES[each] for each in types) or tokens[0]
    purpose = f"adds up {parts[1]} partial sums, {shown}" if parts else f"scales C by beta before the product, {shown}"
    return KernelName(
        name=name,
        kind=Kind.HELPER,
        dialect=_dialect(None, keys, found[2]),
        purpose=purpose,
        problem=None,
        tile=None,
        instruction=None,
        keys=keys,
        words=(*words, *flags),
    )
