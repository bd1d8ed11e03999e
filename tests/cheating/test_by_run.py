"""Cheats through all of `expctl run`: the record says no, and why; the branch keeps the old kernel."""

import re
from pathlib import Path

import pytest

from tests.cheating.repository import repository, run
from tests.cheating.variants import CHEATS, build


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("library"))


@pytest.mark.parametrize("name", ["cached-upcast", "forges-results"])
def test_a_cheat_gets_no_keep(tmp_path: Path, library: Path, name: str) -> None:
    (cheat,) = (each for each in CHEATS if each.name == name)
    made = repository(tmp_path, library)
    record = run(made, "P1", name)
    assert record["verdict"] == "REJECT"
    assert re.search(cheat.reason, str(record["reasons"]))
    assert record.get("estimates") is None
    assert (made.root / "src/variant").read_text() == "plain\n"
    made.check_nothing_is_left()
