"""Two changes are the same by what they do to functions; close ones share most of what they add and remove."""

from expctl.domain.rules.compile_fault import NAMELESS
from expctl.domain.rules.meaning import Compiled, CompiledChange, Likeness, likeness, near_percent


def change(before: dict[str, str], after: dict[str, str], *, fault: str = "") -> CompiledChange:
    return CompiledChange(before=Compiled(functions=before), after=Compiled(functions=after, fault=fault))


def counted(before: dict[str, int], after: dict[str, int]) -> CompiledChange:
    one, other = (Compiled(functions={"f": str(parts)}, parts={"f": parts}) for parts in (before, after))
    return CompiledChange(before=one, after=other)


FASTER = change({"f": "1", "g": "2"}, {"f": "3", "g": "2"})


def test_the_same_change_of_the_same_function_is_a_repeat() -> None:
    beside = change({"f": "1", "h": "9"}, {"f": "3", "h": "9"})
    assert likeness({"cpu": FASTER}, {"cpu": beside}) is Likeness.SAME


def test_a_function_that_is_new_is_known_whatever_it_is_called() -> None:
    named, renamed, another = (
        change({"f": "1"}, {"f": "1", name: made}) for name, made in (("g", "2"), ("h", "2"), ("g", "3"))
    )
    assert likeness({"cpu": named}, {"cpu": renamed}) is Likeness.SAME
    assert likeness({"cpu": named}, {"cpu": another}) is Likeness.OTHER
    assert likeness({"cpu": named}, {"cpu": change({"f": "1"}, {"f": "1", "g": "2", "h": "2"})}) is Likeness.OTHER
    assert likeness({"cpu": FASTER}, {"cpu": change({"f": "2", "g": "1"}, {"f": "2", "g": "3"})}) is Likeness.OTHER


def test_a_further_change_is_no_repeat_nor_is_one_of_other_code() -> None:
    further = change({"f": "1", "g": "2"}, {"f": "3", "g": "4"})
    moved = change({"f": "5", "g": "2"}, {"f": "3", "g": "2"})
    assert likeness({"cpu": FASTER}, {"cpu": further}) is Likeness.OTHER
    assert likeness({"cpu": FASTER}, {"cpu": moved}) is Likeness.OTHER


def test_what_no_target_sees_is_no_repeat() -> None:
    nothing = change({"f": "1"}, {"f": "1"})
    assert likeness({"cpu": nothing}, {"cpu": nothing}) is Likeness.SILENT
    assert likeness({"cpu": FASTER}, {"cpu": nothing}) is Likeness.OTHER
    assert likeness({"cpu": nothing}, {"cpu": FASTER}) is Likeness.OTHER


def test_one_target_that_sees_a_difference_is_enough() -> None:
    other = change({"f": "1"}, {"f": "7"})
    assert likeness({"a": FASTER, "b": FASTER}, {"a": FASTER, "b": other}) is Likeness.OTHER


def test_what_does_not_compile_is_known_by_its_fault() -> None:
    broken = change({"f": "1"}, {}, fault="needs target feature x")
    also = change({"f": "1", "g": "2"}, {}, fault="needs target feature x")
    elsewhere = change({"f": "1"}, {}, fault="expected ';'")
    assert likeness({"a": broken}, {"a": also}) is Likeness.SAME
    assert likeness({"a": broken}, {"a": elsewhere}) is Likeness.OTHER
    assert likeness({"a": FASTER}, {"a": broken}) is Likeness.OTHER
    nameless = change({"f": "1"}, {}, fault=NAMELESS)
    assert likeness({"a": broken, "b": nameless}, {"a": elsewhere, "b": nameless}) is Likeness.OTHER
    assert likeness({"a": broken, "b": elsewhere}, {"a": elsewhere, "b": broken}) is Likeness.OTHER
    assert likeness({"a": broken, "b": nameless}, {"a": also, "b": nameless}) is Likeness.SAME


def test_nearness_counts_what_both_add_and_remove() -> None:
    did = counted({"add": 2, "mul": 1}, {"add": 2, "mul": 3, "load": 2})
    assert near_percent(did, did) == 100
    assert near_percent(did, counted({"add": 2, "mul": 1}, {"add": 2, "mul": 3, "load": 1})) == 75
    assert near_percent(did, counted({"add": 2, "mul": 1}, {"add": 1, "mul": 1})) == 0
