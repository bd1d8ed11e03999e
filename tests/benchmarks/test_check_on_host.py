"""What the interpreter computes is what the same source computes on the host: for a sample of kernels; for all with --long."""

from pathlib import Path

import pytest
import yaml

from benchmarks.check.host_comparison import Answer, Compared
from benchmarks.check.on_host import FOLDER, LEVELS, Plan, answers

OWN = FOLDER.with_name("host_kernels")
SAMPLE = ("dpp", "fft_radix2_lds", "noinline_buckets", "rmsnorm_fused_add")
AGREE = (Answer.EQUAL, Answer.ANY_ORDER, Answer.ROUNDING)


@pytest.fixture(autouse=True)
def _compiler() -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")


def cases(folders: list[Path]) -> list[object]:
    marks = {False: [pytest.mark.long], True: []}
    return [pytest.param(each, id=each.name, marks=marks[each.name in SAMPLE]) for each in folders]


def not_refused(name: str, told: Compared) -> Answer:
    """The answer; what the interpreter doesn't know yet is skipped, but for the sample."""
    if told.answer is Answer.REFUSED and name not in SAMPLE:
        pytest.skip(told.why)
    return told.answer


def wrong(folder: Path) -> dict[str, str] | None:
    """The planted fault that makes the result wrong and breaks nothing else."""
    faults = yaml.safe_load((folder / "faults.yaml").read_text())
    return next((each for each in faults if each["kind"] == "wrong result"), None)


@pytest.mark.parametrize("folder", cases(sorted([*FOLDER.iterdir(), *OWN.iterdir()])))
def test_interpreter_and_host_agree(folder: Path, long: bool) -> None:
    for level, told in answers(folder, Plan(levels=LEVELS[::-1] if long else LEVELS[-1:])):
        assert not_refused(folder.name, told) in AGREE, f"{level}: {told.why}"


@pytest.mark.parametrize("folder", cases([each for each in sorted(FOLDER.iterdir()) if wrong(each)]))
def test_a_kernel_that_is_wrong_on_one_side_is_found(folder: Path) -> None:
    fault = wrong(folder)
    assert fault
    source = (folder / "kernel.hip").read_text().replace(fault["find"], fault["replace"])
    ((_, told),) = answers(folder, Plan(levels=LEVELS[-1:]), host_source=source)
    assert not_refused(folder.name, told) is Answer.DIFFERENT
