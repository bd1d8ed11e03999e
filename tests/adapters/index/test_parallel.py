"""Work in forks: the same result in the same order, and a part that fails fails here."""

import os
from collections.abc import Sequence

import pytest

from expctl.adapters.index.parallel import PART_LEAST, parallel_map
from expctl.domain.errors import Refused
from expctl.launcher.process import children_of

ITEMS = list(range(3 * PART_LEAST + 7))


def doubled(part: Sequence[int]) -> list[tuple[int, int]]:
    """Each item doubled, and the process that did it."""
    return [(2 * each, os.getpid()) for each in part]


def picky(part: Sequence[int]) -> list[int]:
    """Refuses the last item of all."""
    if ITEMS[-1] in part:
        raise Refused("damaged", code="file-damaged", where="the last")
    return list(part)


@pytest.mark.parametrize(("cores", "processes"), [(1, 1), (2, 2), (64, 3)])
def test_parts_come_back_in_order_from_as_many_processes(cores: int, processes: int) -> None:
    found = parallel_map(doubled, ITEMS, cores=cores)
    assert [each for each, _ in found] == [2 * each for each in ITEMS]
    assert len({process for _, process in found}) == processes
    assert found[0][1] == os.getpid()


def test_a_few_items_are_no_reason_to_fork() -> None:
    assert {process for _, process in parallel_map(doubled, ITEMS[: 2 * PART_LEAST - 1], cores=8)} == {os.getpid()}
    assert parallel_map(doubled, [], cores=8) == []


def test_what_a_fork_raises_is_raised_with_its_words() -> None:
    with pytest.raises(Refused) as refusal:
        parallel_map(picky, ITEMS, cores=2)
    assert refusal.value.where == "the last"


def test_no_fork_is_left_when_the_first_part_fails() -> None:
    def fails(part: Sequence[int]) -> list[int]:
        if ITEMS[0] in part:
            raise Refused("damaged", code="file-damaged")
        return list(part)

    before = set(children_of(os.getpid()))
    with pytest.raises(Refused):
        parallel_map(fails, ITEMS, cores=3)
    assert not set(children_of(os.getpid())) - before
