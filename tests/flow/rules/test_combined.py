"""Two rejected changes in one patch are known as both; so is one that is the same in a plainer form alone."""

from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from expctl.domain.protocol.model import Protocol, Toolchain
from expctl.domain.protocol.tune import Tune
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.meaning import Compiled, Version, View, Wanted
from expctl.flow.rules.by_meaning import _combined
from expctl.flow.rules.resemblance import Pair, Resemblance, resemblance
from tests.fakes.stage import PROTOCOL

COMMIT = "c"
A, B, C = b"a", b"b", b"c"
DOES: Mapping[bytes, Mapping[str, int]] = {
    b"": {"add": 1},
    A: {"add": 1, "mul": 4},
    B: {"add": 1, "store": 4},
    C: {"add": 1, "fence": 4},
    b"instead": {"store": 1},
    b"a\nb": {"add": 1, "mul": 4, "store": 4},
    b"both": {"add": 1, "mul": 4, "store": 4},
    b"both and more": {"add": 1, "mul": 4, "store": 4, "fence": 4},
}


class Compilers:
    """Functions are what DOES says; in the plain form, spaces around a patch make no other function of it."""

    def __init__(self, protocol: Protocol = PROTOCOL) -> None:
        self.asked: list[Wanted] = []
        self.protocol = protocol

    def targets(self) -> tuple[str, ...]:
        return ("cpu",)

    def here(self, versions: Sequence[tuple[Version, str]]) -> tuple[bool, ...]:
        return tuple(True for _ in versions)

    def differ(self, one: Version, other: Version, target: str) -> bool:  # noqa: ARG002
        return one != other

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        self.asked += wanted
        return tuple(self._one(each) for each in wanted)

    def _one(self, wanted: Wanted) -> Compiled | None:
        _, patch, beside = wanted.version
        patch += b"\n" + beside if beside else b""
        parts = DOES.get(patch.strip(), {})
        if not parts:
            return None
        form = "" if wanted.view is View.PLAIN else repr(patch)[len(repr(patch.strip())) :]
        return Compiled(functions={"f": f"{sorted(parts.items())}{form}"}, parts={"f": parts})


def change(patch: bytes) -> Pair:
    return Pair(before=Version(COMMIT), after=Version(COMMIT, patch))


class Rejected:
    """A record with the fields alone that rules of two combined changes read."""

    def __init__(self, name: str) -> None:
        self.id = name


def combined(candidate: bytes, *patches: bytes, compilers: Compilers | None = None) -> list[tuple[str, Level, str]]:
    rejected = [(Rejected(each.decode()), change(each), ("cpu",)) for each in patches]
    found = _combined(compilers or Compilers(), rejected, change(candidate))  # type: ignore[arg-type]
    return [(each.record.id, each.level, each.likeness.rpartition(", ")[2]) for each in found]


def test_two_rejected_changes_in_one_are_both() -> None:
    assert combined(b"both", A, C, B) == [
        ("a", Level.MEANING, "together with b"),
        ("b", Level.MEANING, "together with a"),
    ]


@pytest.mark.parametrize(("candidate", "rejected"), [(b"both and more", (A, B)), (b"both", (A, C)), (A, (A, B))])
def test_more_or_less_than_two_is_another_change(candidate: bytes, rejected: tuple[bytes, ...]) -> None:
    assert combined(candidate, *rejected) == []


def test_the_same_in_a_plainer_form_is_the_same() -> None:
    made = Compilers()
    assert resemblance(made, change(A), change(b"a "), ["cpu"]) == Resemblance(
        level=Level.MEANING, targets=("cpu",), percent=100
    )
    assert View.PLAIN in {each.view for each in made.asked}
    assert resemblance(Compilers(), change(A), change(B), ["cpu"]).level is None


def test_the_plainer_form_is_not_asked_for_what_is_the_same_anyway() -> None:
    made = Compilers()
    assert resemblance(made, change(A), change(A), ["cpu"]).level is Level.MEANING
    assert {each.view for each in made.asked} == {View.MEANING}


class OfKernels(Compilers):
    """Two kernels, the second of which is left out where a few of each kind are asked for: `a` changes the first, `b` it."""

    def __init__(self) -> None:
        cpu = PROTOCOL.targets["cpu"]
        cuda = replace(cpu, build=replace(cpu.build, toolchain=Toolchain.NVCC))
        super().__init__(replace(PROTOCOL, targets={"cpu": cuda}))

    def _one(self, wanted: Wanted) -> Compiled | None:
        words = b" ".join(wanted.version[1:]).replace(b"both", b"a b").split()
        parts = {"first": {"add": 1, "mul": 4 * (A in words)}, "second": {"add": 1, "store": 4 * (B in words)}}
        parts = {name: {what: count for what, count in each.items() if count} for name, each in parts.items()}
        left = ("second",) if wanted.alone else ()
        held = {name: each for name, each in parts.items() if name not in left}
        return Compiled(functions={name: repr(each) for name, each in held.items()}, parts=held, left_out=left)


@pytest.mark.parametrize("patches", [(A, B), (B, A)])
def test_a_part_does_not_hide_one_of_two_rejected_changes(patches: tuple[bytes, bytes]) -> None:
    assert {each[0] for each in combined(b"both", *patches, compilers=OfKernels())} == {"a", "b"}
    assert combined(A, *patches, compilers=OfKernels()) == []


def test_what_is_the_same_in_a_part_alone_is_not_near() -> None:
    assert resemblance(OfKernels(), change(A), change(b"both"), ["cpu"]) == Resemblance(level=None, targets=(), percent=50)
    assert resemblance(OfKernels(), change(A), change(A), ["cpu"]).level is Level.MEANING


def of_configs(*flags: str) -> Compilers:
    """Compilers for a target of which one config can be built alone."""
    target = PROTOCOL.targets["cpu"]
    tune = Tune(tables="src/tables", configs=("1,2", "2,2"), shapes=("1x2x3",), define="CONFIG")
    build = replace(target.build, flags=(*target.build.flags, *flags))
    return Compilers(replace(PROTOCOL, targets={"cpu": replace(target, tune=tune, build=build)}))


def test_one_config_is_enough_to_tell_two_changes_apart() -> None:
    made = of_configs()
    found = resemblance(made, change(A), change(B), ["cpu"])
    assert (found.level, {each.alone for each in made.asked}) == (None, {True})
    assert found == resemblance(Compilers(), change(A), change(B), ["cpu"])


def test_what_one_config_calls_the_same_is_asked_of_all() -> None:
    for candidate in (A, b"a "):
        made = of_configs()
        assert resemblance(made, change(A), change(candidate), ["cpu"]).level is Level.MEANING
        assert {each.alone for each in made.asked} == {True, False}


def test_a_target_that_is_built_for_one_config_is_asked_at_once() -> None:
    made = of_configs("-DCONFIG=1,2")
    assert resemblance(made, change(A), change(B), ["cpu"]).level is None
    assert {each.alone for each in made.asked} == {False}


class Strict(Compilers):
    """What doesn't compile `a`, whatever is beside it; its words are those for another mistake, `both`, too."""

    def _one(self, wanted: Wanted) -> Compiled | None:
        wrong = {A, b"both"} & {wanted.version.patch, wanted.version.beside}
        return Compiled(fault="no operator matches") if wrong else super()._one(wanted)


def test_what_does_not_compile_is_not_two_changes() -> None:
    assert combined(b"both", A, b"instead", compilers=Strict()) == []


class WithoutMacro(Compilers):
    """What makes `a` of `unless` in all configs, and nothing in one alone, which is built with a macro."""

    def _one(self, wanted: Wanted) -> Compiled | None:
        if wanted.version.patch == b"unless":
            wanted = wanted._replace(version=wanted.version._replace(patch=b"" if wanted.alone else A))
        return super()._one(wanted)


def test_a_change_for_builds_without_the_macro_of_a_config_is_asked_of_all() -> None:
    made = WithoutMacro(of_configs().protocol)
    assert resemblance(made, change(A), change(b"unless"), ["cpu"]).level is Level.MEANING
    assert resemblance(made, change(B), change(b"unless"), ["cpu"]).level is None
