"""Ids of experiments."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.errors import ExitStatus, Misused
from expctl.domain.experiment.ids import ID_PATTERN, check_id, id_order


@pytest.mark.parametrize("text", ["P1", "P15", "P8b", "P6-A", "P6-A2", "P6b-A2c", "P007"])
def test_an_id_is_returned_as_it_is(text: str) -> None:
    assert check_id(text) == text


HOSTILE = [
    "",
    "P",
    "p1",
    "1",
    "P1 ",
    " P1",
    "P1\n",
    "P1/../..",
    "../P1",
    "P-1",
    "P1bb",
    "P1-a",
    "P1-A2bb",
    "P1-A-B",
    "P١",
    "--all",
    "P1;rm",
    "P1\0",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_anything_else_is_refused_with_usage(text: str) -> None:
    with pytest.raises(Misused) as caught:
        check_id(text)
    assert caught.value.status is ExitStatus.USAGE
    assert caught.value.found == repr(text)


@given(st.from_regex(ID_PATTERN, fullmatch=True) | st.text("P12ab-AB/. \n", max_size=8))
def test_what_is_accepted_is_a_plain_file_name(text: str) -> None:
    with contextlib.suppress(Misused):
        name = check_id(text)
        assert name.isascii()
        assert name.replace("-", "").isalnum()


def test_ids_sort_by_number_then_by_the_rest() -> None:
    wanted = ["P2", "P6", "P6-A", "P6b", "P10", "P100"]
    assert sorted(["P100", "P6b", "P10", "P6-A", "P2", "P6"], key=id_order) == wanted


def test_a_text_that_is_no_id_sorts_first() -> None:
    assert id_order("findings") < id_order("P1")
