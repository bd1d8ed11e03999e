"""Whose turn it is: conditions that could never hold are refused when they are proposed."""

import pytest

from expctl.domain.errors import Refused
from expctl.flow.queue.eligibility import check_circle
from tests.fakes.stage import proposal


def test_a_proposal_that_closes_a_circle_is_refused_with_the_way_around() -> None:
    waiting = [proposal("P1", depends_on=("P3",)), proposal("P2", depends_on=("P1", "P7")), proposal("P4")]
    with pytest.raises(Refused) as caught:
        check_circle(proposal("P3", depends_on=("P4 or P2",)), waiting)
    assert caught.value.found == "P3 waits for P2 waits for P1 waits for P3"
    assert caught.value.where == "experiments/P3/experiment.yaml, depends_on"
    assert "expctl withdraw P1 --why WHY" in caught.value.hint


def test_what_waits_in_a_line_is_taken() -> None:
    waiting = [proposal("P1"), proposal("P2", depends_on=("P1",)), proposal("P8", depends_on=("P9",)), proposal("P9")]
    check_circle(proposal("P3", depends_on=("P2", "P1")), waiting)
