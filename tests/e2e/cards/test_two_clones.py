"""`gate: cards: own`: two clones run at the same time, each on its card. nvidia-smi is a stand-in, the kernel Python."""

import json
import signal
from pathlib import Path

import pytest

from tests.e2e.foreign import SLOWER, Foreign, wait_until
from tests.refusals import printed_code

SMI = """#!/bin/sh
case $1 in
--query-gpu=uuid) echo GPU-a0; echo GPU-b1;;
--query-gpu=index,uuid,util*)
    while :; do
        echo "0, GPU-a0, 3, 40, 1980, 0x0"; echo "1, GPU-b1, 0, 40, 1980, 0x0"
        [ "$3" = -lms ] || exit 0
        sleep 0.2
    done;;
*) exit 2;;
esac
"""


@pytest.fixture
def both(tmp_path: Path) -> tuple[Foreign, Foreign]:
    """Two clones on one machine; the first is shown card 0, the second card 1. A worker that sees another card fails."""
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(SMI)
    tool.chmod(0o755)
    found = []
    for number, card in enumerate(("GPU-a0", "GPU-b1")):
        made = Foreign.of("foreign_repository", tmp_path / str(number))
        made.edit_protocol("  wait_s: 1\n", "  wait_s: 1\n  cards: own\n")
        made.edit_protocol("    benchmark:\n", "    number_kind: device_time\n    benchmark:\n")
        for name in ("benchmark.py", "test.py"):
            file = made.root / "bench" / name
            checks = f'import os\nif os.environ["CUDA_VISIBLE_DEVICES"] != "{card}":\n    raise SystemExit(9)\n'
            file.write_text(checks + file.read_text())
        made.commit("the card is looked at")
        made.environment |= {"CUDA_VISIBLE_DEVICES": str(number), "EXPCTL_LOCK_DIR": str(tmp_path / "0" / "locks")}
        made.environment["PATH"] = f"{tool.parent}:{made.environment['PATH']}"
        made.queue("P1", SLOWER)
        found.append(made)
    return found[0], found[1]


def test_two_clones_measure_at_the_same_time(both: tuple[Foreign, Foreign]) -> None:
    one, two = both
    go = one.hold("benchmark")
    runner = one.start("run", "P1")
    try:
        wait_until(lambda: one.step() == "measure" and one.survivors(), "the benchmark")
        two.concluded("run", "P1")
        assert two.record("P1")["verdict"] == "REJECT"
        gate = two.concluded("gate")
        (line,) = [each for each in gate.out.splitlines() if "on card GPU-a0" in each]
        assert f"expctl is measuring on card GPU-a0: P1, step measuring, expctl (pid {runner.pid}" in line
        assert "on card GPU-a0" in two.concluded("status").out
        (beside,) = two.concluded("gate", "--json").json()["neighbours"]
        assert (beside["what"], beside["pid"]) == ("expctl is measuring on card GPU-a0", runner.pid)
        two.environment["CUDA_VISIBLE_DEVICES"] = "0"
        same = two.expctl("gate")
        assert (same.status, f"pid {runner.pid}" in same.out) == (75, True)
        (go / "benchmark").touch()
        assert runner.wait(240) == 0, one.said()
    finally:
        runner.send_signal(signal.SIGKILL)
        runner.wait()
    record = one.record("P1")
    assert record["verdict"] == "REJECT"
    assert not [note for note in record.get("notes", ()) if "matches" in note or "holds" in note]


def test_a_run_that_sees_both_cards_is_refused_before_it_builds(both: tuple[Foreign, Foreign]) -> None:
    one, _ = both
    del one.environment["CUDA_VISIBLE_DEVICES"]
    refused = one.expctl("run", "P1")
    assert refused.status == 1
    assert "0 (GPU-a0), 1 (GPU-b1)" in refused.err
    assert "CUDA_VISIBLE_DEVICES=0 expctl" in refused.err
    assert one.journal("P1") == []


def test_a_killed_run_goes_on_on_its_own_card_alone(both: tuple[Foreign, Foreign]) -> None:
    one, _ = both
    go = one.hold("benchmark")
    runner = one.start("run", "P1")
    try:
        wait_until(lambda: one.step() == "measure" and one.survivors(), "the benchmark")
    finally:
        runner.send_signal(signal.SIGKILL)
        runner.wait()
    (go / "benchmark").touch()
    one.environment["CUDA_VISIBLE_DEVICES"] = "1"
    before = one.journal("P1")
    refused = one.expctl("run", "P1")
    assert (refused.status, printed_code(refused.err)) == (1, "unfinished-run-on-another-card")
    assert ("GPU-a0" in refused.err, "GPU-b1" in refused.err, one.journal("P1")) == (True, True, before)
    one.environment["CUDA_VISIBLE_DEVICES"] = "GPU-a"
    one.concluded("run", "P1")
    record = one.record("P1")
    assert record["verdict"] == "REJECT", record["reasons"]


def test_an_undecided_run_is_extended_on_its_own_card_alone(both: tuple[Foreign, Foreign]) -> None:
    one, _ = both
    one.concluded("run", "P1")
    lines = one.git("show", "HEAD:experiments/P1/samples.jsonl").splitlines()
    assert {json.loads(line).get("device") for line in lines if "round" in json.loads(line)} == {"GPU-a0"}


def test_a_test_on_a_gpu_needs_its_card_before_anything_is_built(both: tuple[Foreign, Foreign]) -> None:
    """A CPU decides; the target of the GPU is built and tested besides."""
    one, _ = both
    text = (one.root / "protocol.yaml").read_text()
    of_gpu = text[text.index("  here:\n") :]
    of_cpu = of_gpu.replace("  here:\n", "  plain:\n").replace("    number_kind: device_time\n", "")
    one.write("protocol.yaml", text.replace("decides: [here]", "decides: [plain]") + of_cpu)
    for name in ("benchmark.py", "test.py"):
        one.write(f"bench/{name}", (one.root / "bench" / name).read_text().partition("SystemExit(9)\n")[2])
    one.commit("a CPU decides, and no script asks for a card")
    del one.environment["CUDA_VISIBLE_DEVICES"]
    refused = one.expctl("run", "P1")
    assert (printed_code(refused.err), one.journal("P1")) == ("not-one-card", [])


def test_a_calibration_needs_its_card_before_anything_is_built(both: tuple[Foreign, Foreign]) -> None:
    one, _ = both
    del one.environment["CUDA_VISIBLE_DEVICES"]
    refused = one.expctl("calibrate", "--rounds", "5")
    assert (printed_code(refused.err), "build" in refused.out) == ("not-one-card", False)


def test_who_times_a_cpu_asks_no_tool_for_cards(both: tuple[Foreign, Foreign], tmp_path: Path) -> None:
    """nvidia-smi opens every card, beside whoever measures there, and may hang."""
    one, _ = both
    (tmp_path / "bin" / "nvidia-smi").write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    one.edit_protocol("    number_kind: device_time\n", "")
    one.concluded("status")
    one.concluded("gate")
    assert not (tmp_path / "asked").exists()
