"""The hardware target, driven through stand-ins for hipcc and rocprofv3 on PATH and a file that stands for the card."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.foreign import FASTER, SLOWER, WRONG, Foreign, errors_in, wait_until
from tests.e2e.rocm.machine import COUNTERS, calls, with_card

WHY = "total takes 10.0 % less time: scratch memory 64 -> 0 B per work-item: registers that spill, or arrays."


@pytest.fixture(scope="module")
def to_profile(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """A run that will be a KEEP was killed in its profile, which has no counters: all that is left to do is to profile."""
    repository = with_card(Foreign.of("foreign_repository", tmp_path_factory.mktemp("rocm")))
    repository.edit_protocol(f"counters: [{', '.join(COUNTERS)}]", "counters: []")
    mode = repository.root.parent / "mode"
    mode.write_text("hang")
    repository.queue("P1", FASTER)
    runner = repository.start("run", "P1")
    wait_until(lambda: traces(repository), "the profile", at_most_s=60)
    runner.kill()
    runner.wait()
    shutil.rmtree(repository.root / ".git/expctl/checkouts")  # git knows them by paths that a copy would share
    repository.git("worktree", "prune")
    mode.unlink()
    return repository


@pytest.fixture
def profiling(to_profile: Foreign, tmp_path: Path) -> Iterator[Foreign]:
    """A copy of it; its stand-ins behave as the file `mode` beside the repository it was copied from says."""
    copy = to_profile.copy(tmp_path / "copy")
    copy.environment["PATH"] = to_profile.environment["PATH"]
    yield copy
    (to_profile.root.parent / "mode").unlink()


def traces(repository: Foreign) -> list[str]:
    return [call for call in calls(repository) if call.startswith("rocprofv3 --kernel-trace --stats -d ")]


def test_success(rocm: Foreign) -> None:
    rocm.queue("P1", FASTER)
    said = rocm.concluded("run", "P1").out
    record = rocm.record("P1")
    assert (record["verdict"], record["target"], record["number_kind"]) == ("KEEP", "gfx1151", "device_time")
    assert "target gfx1151" in said
    assert any(call.startswith("hipcc --offload-arch=gfx1151 ") and " -O3 " in call for call in calls(rocm))
    assert len(traces(rocm)) == 2
    passes = [call for call in calls(rocm) if call.startswith("rocprofv3 --pmc ")]
    assert [re.findall("SQ_[A-Z_]+", call) for call in passes] == 2 * [list(COUNTERS[:6]), list(COUNTERS[6:])]
    assert not any("--stats" in call for call in passes)
    assert all(re.search(r" -o P1 -- \S*python\S* -u bench/trace.py ", call) for call in traces(rocm))
    assert any("bytes of code" in change for change in record["profile"])
    assert {"total time 1000.005 -> 900.005 us (-10.0 %)", "total scratch 64 -> 0 B (-100.0 %)"} <= set(record["profile"])
    assert "total instructions 30000 -> 26000 (-13.3 %)" in record["profile"]
    assert record["explanation"] == WHY
    assert WHY in said
    assert "scratch memory 64 -> 0 B per work-item" in rocm.git("show", "HEAD:ledger.md")
    assert "7.1.0-stand-in" in str(record["environment"])
    assert rocm.git("ls-files", "experiments/P1/profile.json")
    rocm.check_nothing_is_left()


def test_failing_test(rocm: Foreign) -> None:
    rocm.queue("P1", WRONG)
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert (record["verdict"], record["target"], record.get("estimates")) == ("REJECT", "gfx1151", None)
    assert traces(rocm) == []
    rocm.check_nothing_is_left()


def test_regression_is_not_profiled(rocm: Foreign) -> None:
    rocm.queue("P1", SLOWER)
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert (record["verdict"], record["target"]) == ("REJECT", "gfx1151")
    assert record["estimates"]
    assert traces(rocm) == []
    rocm.check_nothing_is_left()


def test_databases_say_the_same(to_profile: Foreign, profiling: Foreign) -> None:
    (to_profile.root.parent / "mode").write_text("rocpd")
    profiling.concluded("run", "P1")
    record = profiling.record("P1")
    assert any(re.fullmatch(r".* time 1000.00\d -> 900.00\d us \(-10.0 %\)", change) for change in record["profile"])
    assert record["explanation"].endswith(WHY.partition(": ")[2])
    profiling.check_nothing_is_left()


@pytest.mark.parametrize(
    ("mode", "said", "has_facts"),
    [
        ("abort", "nothing: .*SIGABRT.*ROCPROFILER_STATUS_ERROR", False),
        ("garbage", "its output is left out: this profile is damaged", True),
        ("cut off", "its output is left out: this profile is damaged", True),
        ("nothing", "rocprofv3 wrote nothing", True),
    ],
)
def test_a_profiler_that_fails_is_a_note(
    to_profile: Foreign, profiling: Foreign, mode: str, said: str, has_facts: bool
) -> None:
    (to_profile.root.parent / "mode").write_text(mode)
    noted_as(profiling, said, has_facts=has_facts)


def test_a_profiler_that_hangs_is_a_note(rocm: Foreign, tmp_path: Path) -> None:
    rocm.edit_protocol(f"counters: [{', '.join(COUNTERS)}]", "counters: []")
    rocm.edit_protocol("timeout_s: 10", "timeout_s: 2")
    (tmp_path / "mode").write_text("hang")
    rocm.queue("P1", FASTER)
    noted_as(rocm, "nothing: did not end within 2 s", has_facts=False)


def noted_as(repository: Foreign, said: str, *, has_facts: bool) -> None:
    """P1 runs to its end; `said` is a note of it for both sides, and nothing else has changed."""
    answer = repository.concluded("run", "P1")
    record = repository.record("P1")
    assert (record["verdict"], record.get("explanation")) == ("KEEP", None)
    noted = [line for line in record["profile"] if line.startswith("profile of the ")]
    assert len(noted) == 2
    assert all(re.search(said, line) for line in noted), noted
    assert any("bytes of code" in change for change in record["profile"]) == has_facts
    assert re.search(said, answer.out)
    repository.check_nothing_is_left()


def test_a_device_without_counters_keeps_its_times(rocm: Foreign, tmp_path: Path) -> None:
    (tmp_path / "mode").write_text("no counters")
    rocm.queue("P1", FASTER)
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert (record["verdict"], record["explanation"]) == ("KEEP", WHY)
    assert sum("no counters: " in line and "SIGABRT" in line for line in record["profile"]) == 2
    assert len([call for call in calls(rocm) if " --pmc " in call]) == 2  # one try a side, not two
    rocm.check_nothing_is_left()


def test_missing_card_and_nothing_else_decides(rocm: Foreign, tmp_path: Path) -> None:
    rocm.edit_protocol("decides: [gfx1151, here]", "decides: [gfx1151]")
    rocm.queue("P1", FASTER)
    (tmp_path / "kfd").unlink()
    before = rocm.snapshot()
    answer = rocm.expctl("run", "P1")
    assert answer.status == 1
    assert len(errors_in(answer.err)) == 1
    assert f"gfx1151: unavailable: no device {tmp_path / 'kfd'}" in answer.err
    assert re.search(r"^  next +plug in a Strix Halo$", answer.err, re.MULTILINE)
    assert rocm.snapshot() == before


def test_missing_card_and_another_target_decides(rocm: Foreign, tmp_path: Path) -> None:
    rocm.queue("P1", FASTER)
    (tmp_path / "kfd").unlink()
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert (record["verdict"], record["target"]) == ("KEEP", "here")
    assert any("gfx1151: unavailable: no device" in note for note in record["notes"])
    refused = rocm.expctl("run", "P1", "--target", "gfx1151")
    assert (refused.status, len(errors_in(refused.err))) == (1, 1)


def test_missing_program(rocm: Foreign, tmp_path: Path) -> None:
    rocm.queue("P1", FASTER)
    (tmp_path / "bin" / "rocprofv3").unlink()
    assert shutil.which("rocprofv3", path=rocm.environment["PATH"]) is None
    answer = rocm.expctl("run", "P1", "--target", "gfx1151")
    assert answer.status == 1
    assert "no rocprofv3 on PATH" in answer.err
