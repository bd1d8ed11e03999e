"""The file of a passed control: what is written is read again, and a damaged one does not count."""

from pathlib import Path

from msgspec.structs import replace

from expctl.adapters.records.controls import FileControls
from expctl.domain.experiment.control_result import ControlResult, StandInEffect

SEEN = StandInEffect(effect_percent=-4.7, low_percent=-5.1, high_percent=-4.2, rounds=3)
PASSED = ControlResult(date="2026-03-01T00:00:00Z", slower_percent=5.0, slower=SEEN, faster=SEEN)


def test_what_is_written_is_read_again_under_its_identity_alone(tmp_path: Path) -> None:
    controls = FileControls(tmp_path)
    assert controls.read("cafe") is None
    assert controls.write("cafe", PASSED) == ""
    newer = replace(PASSED, date="2026-03-02T00:00:00Z")
    assert controls.write("cafe", newer) == ""
    assert FileControls(tmp_path).read("cafe") == newer
    assert controls.read("beef") is None
    assert [path.name for path in (tmp_path / "expctl/controls").iterdir()] == ["cafe.json"]


def test_a_file_that_was_cut_anywhere_does_not_count(tmp_path: Path) -> None:
    controls = FileControls(tmp_path)
    controls.write("cafe", PASSED)
    path = tmp_path / "expctl/controls/cafe.json"
    whole = path.read_bytes()
    for length in range(len(whole.rstrip())):
        path.write_bytes(whole[:length])
        assert controls.read("cafe") is None


def test_without_a_folder_that_can_be_written_nothing_is_kept_and_it_is_said(tmp_path: Path) -> None:
    assert FileControls(None).write("cafe", PASSED) == "no home folder"
    assert FileControls(None).read("cafe") is None
    (tmp_path / "expctl").write_text("a file")
    assert FileControls(tmp_path).write("cafe", PASSED).startswith(f"{tmp_path}/expctl/controls: ")
    assert FileControls(tmp_path).read("cafe") is None
