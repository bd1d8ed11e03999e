"""How near two changes are: what they add and remove alike, instruction by instruction."""

import pytest

from expctl.domain.rules.meaning import Compiled, CompiledChange, near_percent

BEFORE = {"f": {"add": 2}, "_Z1gILi1EEvv": {"load": 4, "mul": 1}}


def change(**after: dict[str, int]) -> CompiledChange:
    """A change of the plain function f, or of those that a template makes, whose keys are hashes."""
    old, new = BEFORE, {**BEFORE, **after}
    return CompiledChange(
        before=Compiled(functions={"f": "1", "0a1b": "0a1b"}, parts=old),
        after=Compiled(functions={"f": "2", "2c3d": "2c3d"}, parts=new),
    )


MORE = change(_Z1gILi1EEvv={"load": 4, "mul": 5})


@pytest.mark.parametrize(
    ("other", "percent"),
    [
        (change(_Z1gILi1EEvv={"load": 4, "mul": 5}), 100),
        (change(_Z1gILi1EEvv={"load": 4, "mul": 4}), 75),
        (change(_Z1gILi1EEvv={"load": 4, "mul": 1, "fence": 4}), 0),
        (change(f={"add": 2, "mul": 4}), 0),  # the same in a plain function of another name
        (change(f={"add": 6}, _Z1gILi1EEvv={"load": 4, "mul": 5}), 50),
        (change(), 0),
    ],
)
def test_templates_count_like_other_functions(other: CompiledChange, percent: int) -> None:
    assert near_percent(MORE, other) == near_percent(other, MORE) == percent


def test_a_template_with_other_parameters_is_the_same_function() -> None:
    other = CompiledChange(
        before=Compiled(functions={"0a1b": "0a1b"}, parts={"_Z1gILi1EEvv": {"load": 4, "mul": 1}}),
        after=Compiled(functions={"2c3d": "2c3d"}, parts={"_Z1gILb1EEvv": {"load": 4, "mul": 5}}),
    )
    assert near_percent(MORE, other) == 100
