"""What is compiled ahead is all that comparing asks for then, and no more."""

import pytest

from expctl.domain.rules.meaning import View, Wanted
from expctl.flow.rules.ahead import begins_with, compile_ahead
from expctl.flow.rules.combined import closest_two
from expctl.flow.rules.resemblance import resemblance
from tests.flow.rules.test_combined import A, B, C, Compilers, change, of_configs


@pytest.mark.parametrize("of", [Compilers, of_configs])
@pytest.mark.parametrize("candidate", [A, C, b"both"])
def test_nothing_is_left_to_compile(of: type[Compilers], candidate: bytes) -> None:
    made = of()
    rejected = [(change(each), "cpu") for each in (A, B)]
    compile_ahead(made, change(candidate), rejected)
    ahead, made.asked = {*made.asked}, []
    same = [resemblance(made, old, change(candidate), ["cpu"]).level for old, _ in rejected]
    if not any(same):
        closest_two(made, rejected, change(candidate))
    assert {*made.asked} <= ahead
    assert not {each for each in ahead - {*made.asked} if each.view is View.CODE}, "the slowest isn't compiled for nothing"


@pytest.mark.parametrize(("rejected", "wanted"), [((A, B), True), ((A, B, b"both"), False)])
def test_two_at_once_are_compiled_unless_one_is_the_same(rejected: tuple[bytes, ...], wanted: bool) -> None:
    made = of_configs()
    compile_ahead(made, change(b"both"), [(change(each), "cpu") for each in rejected])
    assert any(each.version.beside for each in made.asked) is wanted


def test_a_rejected_change_is_brought_with_all_its_configs() -> None:
    begun = begins_with(of_configs(), change(A), "cpu")
    assert Wanted(change(A).after, "cpu") in begun
