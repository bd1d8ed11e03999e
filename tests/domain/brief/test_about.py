"""What touches the files that a brief was asked for."""

import pytest
from msgspec.structs import fields

from expctl.domain.brief.about import About
from expctl.domain.brief.proposing import FIELDS
from expctl.domain.experiment.proposal import Proposal

ABOUT = About(path="kernel/hip/stage.h", texts={"kernel/hip/stage.h": "struct Stage { void store_half(); };"})


@pytest.mark.parametrize(
    ("paths", "text", "touches"),
    [
        (("kernel/hip/stage.h",), "", True),
        (("kernel/hip/other.h",), "nothing", False),
        ((), "Volatile staging of B.", True),
        ((), "calls store_half twice", True),
        ((), "in stage.h", True),
        ((), "s_setprio 2 in the load phase", False),
    ],
)
def test_rules_and_findings_touch_it_by_file_name_and_code_word(paths: tuple[str, ...], text: str, touches: bool) -> None:
    assert ABOUT.touches(paths, text) is touches


def test_every_field_of_a_proposal_is_told() -> None:
    assert set(FIELDS) == {each.name for each in fields(Proposal)}
