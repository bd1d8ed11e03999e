"""How alike two changes are, by what a compiler makes of them. Pure.

A change is known by what it makes of each function: its hash before and after. Two changes are the same if these agree,
whatever their sources say; so the state that a change was made for need not be the same, only the functions that it touches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from msgspec import Struct, field

from expctl.domain.rules.compile_fault import NAMELESS

NEAR_PERCENT = 50
"""From this likeness on, a change is shown as close to a rejected one: docs/RULES.md has the figures."""


class View(StrEnum):
    """What is compared: what the optimised functions compute (LLVM IR), the same where all is inlined, short loops are unrolled
    and nothing is vectorised (PLAIN), their machine code, the instructions of each source function (REGIONS), or the statements
    that the preprocessor leaves (STATEMENTS). The last two have parts alone. SOURCE is the preprocessed text without lines and
    files, by which versions are told apart before they are compiled; UNOPTIMISED is the LLVM IR of which modules for one kernel
    each are made, where those are optimised one by one. Neither is compared.
    """

    MEANING = "meaning"
    PLAIN = "plain"
    CODE = "code"
    REGIONS = "regions"
    STATEMENTS = "statements"
    SOURCE = "source"
    UNOPTIMISED = "unoptimised"


class Version(NamedTuple):
    """A version of the sources: those of a commit, with a patch (empty: as they are), and what another one that is for the same
    commit changes `beside` it.
    """

    commit: str
    patch: bytes = b""
    beside: bytes = b""


class Wanted(NamedTuple):
    """What is to be compiled: a version of the sources, for a target, to be read in one way. With `alone`, for the first of the
    target's configs, or a kernel of each kind, which is quicker; for targets alone that have some.
    """

    version: Version
    target: str
    view: View = View.MEANING
    alone: bool = False


class Compiled(Struct, frozen=True, kw_only=True):
    """A version of the sources as one target's compiler understands it.

    `functions` has a hash for each function, `parts` counts the instructions of each, by their kind and constants. `fault` says
    why it doesn't compile, the same for the same mistake at another place; both are empty then. `left_out` are functions that
    were not compiled, where a part was asked for.
    """

    functions: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    fault: str = ""
    left_out: tuple[str, ...] = ()

    def without(self, names: Collection[str]) -> Compiled:
        """Return it as if the functions `names` had been left out."""
        functions = {name: each for name, each in self.functions.items() if name not in names}
        parts = {name: each for name, each in self.parts.items() if name not in names}
        return Compiled(functions=functions, parts=parts, fault=self.fault, left_out=(*self.left_out, *names))


class CompiledChange(Struct, frozen=True, kw_only=True):
    """A change for one target: compiled without and with it."""

    before: Compiled
    after: Compiled

    @property
    def functions(self) -> Mapping[str, tuple[str, str]]:
        """Return the functions that differ, each with its hashes before and after ("": there is none)."""
        old, new = self.before.functions, self.after.functions
        pairs = ((name, (old.get(name, ""), new.get(name, ""))) for name in (*old, *(name for name in new if name not in old)))
        return {name: pair for name, pair in pairs if pair[0] != pair[1]}

    @property
    def deeds(self) -> Counter[tuple[str, str, str]]:
        """Count what it does to functions: one that it adds or takes away is known by its hash alone, whatever it is called."""
        return Counter((name if old and new else "", old, new) for name, (old, new) in self.functions.items())

    @property
    def fault(self) -> str:
        """Return why it no longer compiles; empty if it does, or didn't before."""
        return self.after.fault if not self.before.fault else ""


class Likeness(StrEnum):
    """What targets say of two changes; SILENT: they see neither."""

    SAME = "same"
    OTHER = "other"
    SILENT = "silent"


Changes = Mapping[str, CompiledChange]
"""A change by target."""


def comparable(one: CompiledChange, other: CompiledChange) -> tuple[CompiledChange, CompiledChange] | None:
    """Return two changes without the functions that some version leaves out. None where a change adds functions or takes some
    away, or functions go by what they do: then it takes all to tell what it does.
    """
    sides = (one.before, one.after, other.before, other.after)
    out = {name for side in sides for name in side.left_out}
    if not out:
        return one, other
    for change in (one, other):
        before, after = ({*side.parts, *side.left_out} for side in (change.before, change.after))
        if not change.after.fault and before != after:
            return None
    if any(name not in side.parts for side in sides for name in side.functions):
        return None
    left = [side.without(out) for side in sides]
    return CompiledChange(before=left[0], after=left[1]), CompiledChange(before=left[2], after=left[3])


def likeness(rejected: Changes, candidate: Changes) -> Likeness:
    """Compare two changes on the targets for which both were compiled. They are the same if some target shows one change in
    both, and none shows a difference. A change that doesn't compile is the same as another one with its fault on one target.
    """
    both = [(rejected[name], candidate[name]) for name in rejected if name in candidate]
    if any(one.fault for one, _ in both):
        same = any(one.fault == other.fault and one.fault not in ("", NAMELESS) for one, other in both)
        return Likeness.SAME if same else Likeness.OTHER
    answers = [
        Likeness.SAME if one.deeds == other.deeds and not other.fault else Likeness.OTHER
        for one, other in both
        if one.functions or other.functions or other.fault
    ]
    if Likeness.OTHER in answers:
        return Likeness.OTHER
    return Likeness.SAME if answers else Likeness.SILENT


def nearness(rejected: CompiledChange, candidate: CompiledChange) -> Fraction:
    """Return how much of what the two changes do to the instructions is common to both, 0 to 1: those that they add and
    remove, function by function, common ones as a part of all. What templates make is one function here: its names differ with
    the parameters of a template.
    """
    did, does = _difference(rejected), _difference(candidate)
    return Fraction(sum((did & does).values()), max(sum((did | does).values()), 1))


def near_percent(rejected: CompiledChange, candidate: CompiledChange) -> int:
    """Return `nearness` in whole percent."""
    return int(100 * nearness(rejected, candidate))


def share_percent(rejected: CompiledChange, candidate: CompiledChange) -> int:
    """Return how much of what a rejected change does to instructions another one does too, 0 to 100, whatever else it does."""
    did = _difference(rejected)
    return 100 * sum((did & _difference(candidate)).values()) // max(sum(did.values()), 1)


def union_percent(one: CompiledChange, other: CompiledChange, candidate: CompiledChange) -> int:
    """Return how much of what two changes do together another one does, and nothing else, 0 to 100."""
    did, does = _difference(one) + _difference(other), _difference(candidate)
    return 100 * sum((did & does).values()) // max(sum((did | does).values()), 1)


def _difference(change: CompiledChange) -> Counter[tuple[str, str, bool]]:
    """Count the instructions that a change adds to a function (True), and those that it removes (False)."""
    old, new = (_instructions(side) for side in (change.before, change.after))
    added = {(*part, True): count for part, count in (new - old).items()}
    return Counter({**added, **{(*part, False): count for part, count in (old - new).items()}})


def _instructions(side: Compiled) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for name, parts in side.parts.items():
        function = name if name in side.functions else ""
        for part, count in parts.items():
            found[function, part] += count
    return found


def added_statements(change: CompiledChange) -> tuple[str, ...]:
    """Return the statements that a change adds, of a view of STATEMENTS."""
    old, new = (Counter(side.parts.get("", {})) for side in (change.before, change.after))
    return tuple(new - old)
