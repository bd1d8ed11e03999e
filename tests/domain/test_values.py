import copy
import dataclasses
import inspect
import pickle
from collections.abc import Mapping

import pytest

from expctl.domain.values import dataclass, field, fields_of, is_dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A frozen one."""

    size: int
    name: str = "n"
    parts: Mapping[str, int] = field(default_factory=dict)

    @property
    def twice(self) -> int:
        """Methods stay."""
        return self.size * 2


@dataclass(slots=True)
class Free:
    """Neither frozen nor by keyword."""

    size: int
    seen: list[int] = field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """What `Fixed` is measured against."""

    size: int
    name: str = "n"
    parts: Mapping[str, int] = dataclasses.field(default_factory=dict)


def test_it_is_made_shown_and_compared_as_in_the_standard_library() -> None:
    ours, theirs = Fixed(size=1, name="a"), Standard(size=1, name="a")
    assert repr(ours) == repr(theirs).replace("Standard", "Fixed")
    assert ours == Fixed(size=1, name="a") != Fixed(size=2, name="a")
    assert ours != theirs
    assert ours.twice == 2
    assert Free(1, [2]) == Free(1, seen=[2]) != Free(1)


def test_it_is_frozen_slotted_and_by_keyword() -> None:
    value = Fixed(size=1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="size"):
        value.size = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.size
    with pytest.raises(TypeError, match=r"Fixed\.__init__"):
        Fixed(1)  # type: ignore[misc]
    with pytest.raises(TypeError, match="size"):
        Fixed()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="other"):
        Fixed(size=1, other=2)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Free(1).other = 2  # type: ignore[attr-defined]
    free = Free(1)
    free.size = 3
    assert free.size == 3


def test_a_default_that_can_change_is_made_for_each() -> None:
    assert Free(1).seen is not Free(1).seen
    assert Fixed(size=1).parts is not Fixed(size=1).parts


def test_equal_values_hash_alike_and_what_can_change_does_not_hash() -> None:
    assert len({Fixed(size=1, parts=()), Fixed(size=1, parts=()), Fixed(size=2, parts=())}) == 2  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unhashable"):
        hash(Free(1))


def test_it_is_copied_replaced_and_pickled() -> None:
    value = Fixed(size=1, parts={"a": 1})
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == copy.copy(value) == value
    assert replace(value, size=5) == Fixed(size=5, parts={"a": 1})


def test_the_standard_library_takes_it() -> None:
    value = Fixed(size=1)
    assert dataclasses.is_dataclass(Fixed)
    assert dataclasses.replace(value, name="z") == Fixed(size=1, name="z")
    assert dataclasses.asdict(value) == {"size": 1, "name": "n", "parts": {}}
    assert [each.name for each in dataclasses.fields(Fixed)] == ["size", "name", "parts"]


def test_its_signature_is_known_before_there_is_a_value() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Unmade:
        size: int
        name: str = "n"

    assert str(inspect.signature(Unmade)) == "(*, size: int, name: str = 'n')"


@pytest.mark.parametrize("made", [Fixed, Standard])
def test_fields_are_told_of_both_kinds(made: type) -> None:
    assert is_dataclass(made)
    assert [(each.name, each.needed) for each in fields_of(made)] == [("size", True), ("name", False), ("parts", False)]
    assert [each.standing() for each in fields_of(made)[1:]] == ["n", {}]
    assert not is_dataclass(int)
    assert not is_dataclass(made(size=1))


def test_a_positional_one_is_matched_by_position() -> None:
    match Free(4):
        case Free(size, []):
            assert size == 4
        case _:
            pytest.fail("not matched")
