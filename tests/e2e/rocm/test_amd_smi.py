"""The gate where only amd-smi can see the card: it repeats what it is told, and no failure of the tool blocks."""

from pathlib import Path

import pytest

from tests.e2e.foreign import FASTER, Foreign

SEEN = {
    "idle": (0, "amd-smi    amd 0: busy 2 %, 41 degrees, 600 MHz, 15 W"),
    "busy": (75, "amd-smi    amd 0 is busy: 97 %, the limit is 10"),
    "nothing known": (0, "amd-smi    amd 0: says nothing"),
    "garbage": (0, "amd-smi    absent: amd-smi gives no answer"),
    "another form": (0, "amd-smi    absent: amd-smi gives no answer"),
    "crash": (0, "amd-smi    absent: amd-smi gives no answer"),
    "no driver": (0, "amd-smi    absent: amd-smi gives no answer"),
    "hang": (0, "amd-smi    absent: amd-smi gives no answer"),
}


@pytest.mark.parametrize("mode", SEEN)
def test_the_gate(rocm: Foreign, tmp_path: Path, mode: str) -> None:
    (tmp_path / "amd-smi mode").write_text(mode)
    answer = rocm.expctl("gate")
    status, line = SEEN[mode]
    assert answer.status == status, answer
    assert line in answer.out
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("mode", ["nothing known", "crash"])
def test_a_run_goes_its_way_without_it(rocm: Foreign, tmp_path: Path, mode: str) -> None:
    (tmp_path / "amd-smi mode").write_text(mode)
    rocm.queue("P1", FASTER)
    rocm.concluded("run", "P1")
    assert rocm.record("P1")["verdict"] == "KEEP"
    rocm.check_nothing_is_left()
