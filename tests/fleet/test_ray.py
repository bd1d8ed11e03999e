"""The acceptance run in short: Ray on the loopback address. With --long a worker and the head are killed on the way."""

from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fleet.acceptance import NAMES, play, trouble

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="the extra fleet is not installed, and nothing else needs Ray")


def test_a_fleet_on_ray(tmp_path: Path) -> None:
    play(tmp_path / "fleet", NAMES[:2], count=6, sleep_s=0.05)


@pytest.mark.long
def test_a_fleet_on_ray_in_trouble(tmp_path: Path) -> None:
    play(tmp_path / "fleet", NAMES, count=6, sleep_s=0.05, trouble=partial(trouble, frozen_s=2, at=(1, 3)))
