"""Two rejected changes in one patch are known as both; so is one that is the same in a plainer form alone."""

from collections.abc import Mapping, Sequence

import pytest

from expctl.domain.protocol.model import Protocol
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.meaning import Compiled, Version, View, Wanted
from expctl.flow.rules.by_meaning import Pair, Resemblance, _combined, resemblance
from tests.fakes.stage import PROTOCOL

COMMIT = "c"
A, B, C = b"a", b"b", b"c"
DOES: Mapping[bytes, Mapping[str, int]] = {
    b"": {"add": 1},
    A: {"add": 1, "mul": 4},
    B: {"add": 1, "store": 4},
    C: {"add": 1, "fence": 4},
    b"a\nb": {"add": 1, "mul": 4, "store": 4},
    b"both": {"add": 1, "mul": 4, "store": 4},
    b"both and more": {"add": 1, "mul": 4, "store": 4, "fence": 4},
}


class Compilers:
    """Functions are what DOES says; in the plain form, spaces around a patch make no other function of it."""

    protocol: Protocol = PROTOCOL

    def __init__(self) -> None:
        self.asked: list[Wanted] = []

    def targets(self) -> tuple[str, ...]:
        return ("cpu",)

    def differ(self, one: Version, other: Version, target: str) -> bool:  # noqa: ARG002
        return one != other

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        self.asked += wanted
        return tuple(self._one(each) for each in wanted)

    def _one(self, wanted: Wanted) -> Compiled | None:
        patch = wanted.version.patch
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


def combined(candidate: bytes, *patches: bytes) -> list[tuple[str, Level, str]]:
    rejected = [(Rejected(each.decode()), change(each), ("cpu",)) for each in patches]
    found = _combined(Compilers(), rejected, change(candidate))  # type: ignore[arg-type]
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
