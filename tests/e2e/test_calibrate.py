"""`expctl calibrate`, whole: what it prints and keeps, and what it leaves in the repository, which is nothing."""

import os
import signal

import pytest

from expctl.files import checked_json
from tests.e2e.foreign import SLOWER, Foreign, wait_until

pytestmark = pytest.mark.alone


def with_ledger(repository: Foreign) -> None:
    repository.concluded("ledger")
    repository.commit("ledger")


def test_a_calibration_is_kept_outside_the_repository_and_run_uses_it(repository: Foreign) -> None:
    repository.queue("P1", SLOWER)
    with_ledger(repository)
    before = repository.snapshot()
    said = repository.concluded("calibrate", "--rounds", "5").out
    (kept,) = (repository.home / ".local/state/expctl/calibrations").glob("*/here-*.json")
    for words in ("rounds     5 of ", "objective  sd of a round ", "n=8000     sd of a round ", f"kept in    {kept}"):
        assert f"\n  {words}" in said, said
    assert repository.snapshot() == before
    repository.check_nothing_is_left()
    ran = repository.concluded("run", "P1").out
    assert "\n  noise      calibrated just now from 5 rounds only: sd of a round " in ran
    record = repository.record("P1")
    assert record["procedure"]["calibrated"]["rounds"] == 5
    assert repository.concluded("replay", "P1").out.startswith("P1       same ")


def test_json_and_a_folder_of_ones_own(repository: Foreign) -> None:
    repository.environment["XDG_STATE_HOME"] = str(repository.home / "state")
    facts = repository.concluded("calibrate", "--rounds", "5", "--json").json()
    (kept,) = (repository.home / "state").glob("expctl/calibrations/*/*.json")
    assert checked_json.read(kept) == facts["calibration"]
    assert facts["mde_percent"]["objective"]["10"] > facts["mde_percent"]["objective"]["36"] > 0


def test_ctrl_c_stops_after_the_round_and_leaves_nothing(repository: Foreign) -> None:
    gate = repository.hold("benchmark")
    with_ledger(repository)
    before = repository.snapshot()
    process = repository.start("calibrate")
    wait_until(repository.survivors, "the first round")
    os.kill(process.pid, signal.SIGINT)
    wait_until(lambda: "stopping after this step" in repository.said(), "the answer to Ctrl-C")
    (gate / "benchmark").touch()
    assert process.wait(240) == 130, repository.said()
    assert "nothing is kept, the same command starts over" in repository.said()
    assert not (repository.home / ".local/state/expctl/calibrations").exists()
    assert repository.snapshot() == before
    repository.check_nothing_is_left()


def test_a_second_ctrl_c_aborts_and_the_children_are_gone(repository: Foreign) -> None:
    repository.hold("benchmark")
    with_ledger(repository)
    before = repository.snapshot()
    process = repository.start("calibrate")
    wait_until(repository.survivors, "the first round")
    os.kill(process.pid, signal.SIGINT)
    wait_until(lambda: "stopping after this step" in repository.said(), "the answer to Ctrl-C")
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(240) == 130, repository.said()
    assert "aborted; expctl calibrate starts over" in repository.said()
    assert repository.snapshot() == before
    repository.check_nothing_is_left()


def test_a_protocol_that_requires_a_calibration_gets_one(repository: Foreign) -> None:
    repository.edit_protocol("      rounds: 10\n", "      rounds: 10\n      calibrate: required\n")
    repository.queue("P1", SLOWER)
    said = repository.concluded("run", "P1").out
    assert "\n  noise      protocol.yaml requires a calibration of here: 24 rounds first\n" in said
    assert "\n  noise      calibrated just now: sd of a round " in said
    repository.check_nothing_is_left()
