"""Which commands a suite asks for, which bytes a call moves, and what a suite may not say."""

from typing import Any

import pytest
from msgspec.structs import replace

from expctl.suite.cases import cases_of, faults
from tests.suite.suites import SUITE, with_kernel

TRACE = ("rocprofv3", "--kernel-trace", "-d", "{out}", "--")


def test_optional_bias_counts_only_where_there_is_one() -> None:
    without, with_bias = cases_of(SUITE)
    assert (without.shape, without.moved) == ("M=64 N=8", 2 * 64 + 64 * 8)
    assert (with_bias.shape, with_bias.moved) == ("M=64 N=8 bias", 2 * 64 + 2 * 8 + 64 * 8)
    assert without.argv == ("{python}", "bench.py", "64x8", "3", "10", "{times}")
    assert with_bias.argv == (*without.argv, "--bias")
    assert without.told


def test_a_bias_of_0_is_none() -> None:
    case = cases_of(with_kernel(shapes=({"M": 64, "N": 8, "bias": 0},)))[0]
    assert (case.shape, case.moved, case.argv[-1]) == ("M=64 N=8", 640, "{times}")


def test_unknown_bytes_stay_unknown_and_a_trace_goes_in_front() -> None:
    suite = replace(with_kernel(bytes={}, argv=("bench",), optional={}, traced="^mm"), trace=TRACE)
    case = cases_of(suite)[0]
    assert (case.moved, case.told, case.argv) == (None, False, (*TRACE, "bench"))


@pytest.mark.parametrize("suite", [SUITE, replace(with_kernel(traced="mm.*", argv=("bench",)), trace=TRACE)])
def test_a_sound_suite_has_no_fault(suite: Any) -> None:
    assert list(faults(suite)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"warmups": 2}, "warmups: expected at least 3, found 2"),
        ({"iterations": 9}, "iterations: expected at least 10, found 9"),
        ({"version": 2}, "version: expected 1"),
        ({"timeout_s": 0.0}, "timeout_s: expected more than 0"),
        ({"environments": {}}, "environments: expected at least one"),
        ({"environments": {"../x": SUITE.environments["golden"]}}, "it names files"),
        ({"kernels": {}}, "kernels: expected at least one"),
        ({"trace": ("rocprofv3",)}, "trace: expected {out}"),
        ({"trace": TRACE}, "kernels.mm.traced: expected a pattern"),
        ({"sources": ("/etc/*",)}, "sources: expected a path below the repository"),
    ],
)
def test_what_a_suite_may_not_say(changes: dict[str, Any], said: str) -> None:
    assert any(said in fault for fault in faults(replace(SUITE, **changes))), list(faults(replace(SUITE, **changes)))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"argv": ("bench",)}, "argv: expected {times}"),
        ({"argv": ("{K}", "{times}")}, "shapes[0]: it has no K, which argv names"),
        ({"optional": {"bias": ("{K}",)}}, "shapes[0]: it has no K, which argv names"),
        ({"shapes": ()}, "argv and shapes"),
        ({"shapes": ({},)}, "shapes[0]: it is empty"),
        ({"shapes": ({"M": 1, "N": 1}, {"M": 1, "N": 1, "bias": 0})}, "shapes[1]: M=1 N=1 appears twice"),
        ({"shapes": ({"M": 1, "N": 1, "bias": 2},)}, "bias: expected 1 (the call has it) or 0, found 2"),
        ({"bytes": {"a": "2*K"}}, "bytes: K is none of the shapes"),
        ({"bytes": {"a": "M-M"}}, "bytes: expected more than 0, found 0"),
        ({"traced": "mm"}, "traced: it is for a suite with `trace`"),
        ({"configs": ("../*.json",)}, "configs: expected a path below the repository"),
    ],
)
def test_what_a_kernel_may_not_say(changes: dict[str, Any], said: str) -> None:
    found = list(faults(with_kernel(**changes)))
    assert any(fault.startswith("kernels.mm.") and said in fault for fault in found), found


def test_a_pattern_that_is_none() -> None:
    suite = replace(with_kernel(traced="mm(", argv=("bench",)), trace=TRACE)
    assert any("no regular expression" in fault for fault in faults(suite))
