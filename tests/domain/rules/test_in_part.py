"""Changes of which a few functions are compiled: what is left out is left out of all that they are compared by."""

from expctl.domain.rules.meaning import Compiled, CompiledChange, comparable


def side(left_out: tuple[str, ...] = (), **functions: str) -> Compiled:
    return Compiled(
        functions=functions, parts={name: {f"{whole} add": 1} for name, whole in functions.items()}, left_out=left_out
    )


WHOLE = CompiledChange(before=side(a="1", b="1", c="1"), after=side(a="2", b="2", c="1"))


def test_where_nothing_is_left_out_all_is_compared() -> None:
    assert comparable(WHOLE, WHOLE) == (WHOLE, WHOLE)


def test_what_one_version_leaves_out_is_left_out_of_all() -> None:
    part = CompiledChange(before=side(("b",), a="1", c="1"), after=side(("c",), a="2", b="3"))
    found = comparable(WHOLE, part)
    assert found is not None
    assert [each.functions for each in found] == [{"a": ("1", "2")}] * 2
    assert {*found[0].after.left_out} == {"b", "c"}
    assert found[0].after.parts == {"a": {"2 add": 1}}


def test_a_part_does_not_tell_what_is_added_or_taken_away() -> None:
    added = CompiledChange(before=side(("b",), a="1"), after=side(("b",), a="1", c="3"))
    assert comparable(added, added) is None
    assert comparable(WHOLE, added) is None
    broken = CompiledChange(before=side(("b",), a="1"), after=Compiled(fault="no such name"))
    found = comparable(broken, broken)
    assert found is not None
    assert found[0].fault == "no such name"


def test_a_part_does_not_tell_of_functions_that_go_by_what_they_do() -> None:
    of_template = Compiled(functions={"0a1b": "0a1b"}, parts={"_Z1gILi1EEvv": {"add": 1}}, left_out=("f",))
    change = CompiledChange(before=of_template, after=of_template)
    assert comparable(change, change) is None
