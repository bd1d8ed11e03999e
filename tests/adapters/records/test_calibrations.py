"""The file of a calibration: where it lies, and every way in which it does not count."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.machine.facts import machine_facts, noise_fingerprint
from expctl.adapters.records.calibrations import FileCalibrations, state_folder
from expctl.domain.protocol.model import Benchmark, Size, Style
from expctl.domain.verdict.calibration import VERSION, Calibration, SizeNoise
from expctl.ports.measuring import Uncalibrated
from tests.refusals import refuses

BENCHMARK = Benchmark(argv=("run",), timeout_s=1, sizes=(Size(name="n", weight=1.0),))
NOISE = SizeNoise(
    sd_percent=0.31, autocorrelation=-0.1, mean_percent=0.01, low_percent=-0.1, high_percent=0.12, spread_percent=1.5
)
CALIBRATION = Calibration(
    version=VERSION, target="cpu", style=Style.LAUNCH, date="2026-03-01T00:00:00Z", base="b0", rounds=24, tainted=1,
    round_s=2.5, noise={"objective": NOISE, "n": NOISE},
)  # fmt: skip


def stored(folder: Path, calibration: Calibration = CALIBRATION) -> Path:
    return FileCalibrations(folder, "cafe").write(BENCHMARK, calibration)


def test_what_is_written_is_read_again_by_the_same_machine_only(tmp_path: Path) -> None:
    path = stored(tmp_path)
    assert path.parent == tmp_path / "expctl" / "calibrations" / "cafe"
    assert path.name.startswith("cpu-")
    assert FileCalibrations(tmp_path, "cafe").read("cpu", BENCHMARK) == CALIBRATION
    assert FileCalibrations(tmp_path, "beef").read("cpu", BENCHMARK) == Uncalibrated()
    assert FileCalibrations(tmp_path, "cafe").read("gpu", BENCHMARK) == Uncalibrated()
    assert FileCalibrations(tmp_path, "cafe").read("cpu", replace(BENCHMARK, iterations=11)) == Uncalibrated()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_newer_one_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    stored(tmp_path)
    newer = replace(CALIBRATION, date="2026-04-01T00:00:00Z")
    path = stored(tmp_path, newer)
    assert FileCalibrations(tmp_path, "cafe").read("cpu", BENCHMARK) == newer
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_file_that_was_cut_anywhere_does_not_count(tmp_path: Path) -> None:
    path = stored(tmp_path)
    whole = path.read_bytes()
    for length in range(len(whole.rstrip())):
        path.write_bytes(whole[:length])
        found = FileCalibrations(tmp_path, "cafe").read("cpu", BENCHMARK)
        assert isinstance(found, Uncalibrated)
        assert "is damaged" in found.reason


def test_a_changed_digit_is_no_calibration(tmp_path: Path) -> None:
    path = stored(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"sd_percent": 0.31', b'"sd_percent": 0.21', 1))
    found = FileCalibrations(tmp_path, "cafe").read("cpu", BENCHMARK)
    assert isinstance(found, Uncalibrated)
    assert found.reason == f"{path} is damaged: its contents are not what was written"


def of_before(text: bytes) -> bytes:
    """The file as an expctl wrote it that knew no hash of its contents."""
    return json.dumps({key: value for key, value in json.loads(text).items() if key != "check"}).encode()


def changed(text: bytes, **values: object) -> bytes:
    return json.dumps({**json.loads(text), **values}).encode()


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "other version": (lambda text: changed(text, version=VERSION + 1), f"version {VERSION + 1}, expected {VERSION}"),
    "unknown key": (lambda text: changed(text, mood="good"), "unknown key"),
    "a text for a number": (lambda text: changed(text, rounds="24"), "expected a whole number"),
    "other target": (lambda text: changed(text, target="gpu"), "of another benchmark"),
    "other style": (lambda text: changed(text, style="fine"), "of another benchmark"),
    "a size too few": (lambda text: changed(text, noise={"n": json.loads(text)["noise"]["n"]}), "of another benchmark"),
    "one round": (lambda text: changed(text, rounds=1), "its figures are none"),
    "a negative sd": (lambda text: text.replace(b'"sd_percent": 0.31', b'"sd_percent": -0.31'), "its figures are none"),
    "an infinite sd": (
        lambda text: text.replace(b'"sd_percent": 0.31', b'"sd_percent": 1e999'),
        "1e999 is too large for a number",
    ),
    "not a number": (lambda text: text.replace(b'"sd_percent": 0.31', b'"sd_percent": NaN'), "NaN is not a number"),
    "a list": (lambda _: b"[]", "expected a mapping"),
    "not text": (lambda _: b"\xff\xfe\x00", "not JSON"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_or_foreign_file_counts_as_missing_and_says_so(tmp_path: Path, name: str) -> None:
    damage, words = DAMAGES[name]
    path = stored(tmp_path)
    path.write_bytes(of_before(path.read_bytes()))
    assert FileCalibrations(tmp_path, "cafe").read("cpu", BENCHMARK) == CALIBRATION
    path.write_bytes(damage(path.read_bytes()))
    found = FileCalibrations(tmp_path, "cafe").read("cpu", BENCHMARK)
    assert isinstance(found, Uncalibrated)
    assert words in found.reason
    assert str(path) in found.reason
    stored(tmp_path)
    assert FileCalibrations(tmp_path, "cafe").read("cpu", BENCHMARK) == CALIBRATION


def test_a_folder_in_its_place_counts_as_missing(tmp_path: Path) -> None:
    path = stored(tmp_path)
    path.unlink()
    path.mkdir()
    found = FileCalibrations(tmp_path, "cafe").read("cpu", BENCHMARK)
    assert isinstance(found, Uncalibrated)
    assert found.reason.endswith("Is a directory")


def test_a_target_cannot_name_another_folder(tmp_path: Path) -> None:
    path = stored(tmp_path, replace(CALIBRATION, target="../../etc/cpu 0"))
    assert path.parent == tmp_path / "expctl" / "calibrations" / "cafe"
    assert path.name.startswith("______etc_cpu_0-")


def test_without_a_home_nothing_is_read_and_writing_is_refused(tmp_path: Path) -> None:
    homeless = FileCalibrations(None, "cafe")
    assert homeless.read("cpu", BENCHMARK) == Uncalibrated()
    (tmp_path / "expctl").write_text("a file")
    for nowhere in (homeless, FileCalibrations(tmp_path, "cafe")):
        with refuses("calibration-cannot-be-kept") as caught:
            nowhere.write(BENCHMARK, CALIBRATION)
        assert "XDG_STATE_HOME" in caught.value.hint


def test_the_state_folder_is_where_the_specification_puts_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert state_folder() == tmp_path / ".local" / "state"
    monkeypatch.setenv("XDG_STATE_HOME", "relative/folders/are/ignored")
    assert state_folder() == tmp_path / ".local" / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert state_folder() == tmp_path / "elsewhere"


def test_the_fingerprint_is_of_what_shapes_the_noise() -> None:
    facts = machine_facts()
    assert noise_fingerprint(facts) == noise_fingerprint({**facts, "python": "3.99"})
    for key in ("cpu", "cores", "memory_gib", "os", "gpu"):
        assert noise_fingerprint(facts) != noise_fingerprint({**facts, key: "other"}), key
    assert math.isfinite(int(noise_fingerprint(facts), 16))
