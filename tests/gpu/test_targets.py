"""Which words name a GPU."""

import pytest

from expctl.gpu.architectures import ARCHITECTURES
from expctl.gpu.targets import is_target
from expctl.profiles.roofline.peaks import ARITHMETIC


def test_all_that_anything_here_knows_are_targets() -> None:
    names = (*ARCHITECTURES, *ARITHMETIC, "gfx908", "gfx90c", "sm_90a", "sm_100f")
    assert [name for name in names if not is_target(name)] == []


@pytest.mark.parametrize("name", ["", "gfx", "gfx9999", "gfx115", "sm_93", "sm_9", "sm_90x", "gfx90aa", "GFX1151", "h200"])
def test_others_are_none(name: str) -> None:
    assert not is_target(name)
