"""The commands of a profile step."""

import pytest

from expctl.domain.protocol.profiler_passes import counter_faults, passes_of
from expctl.domain.protocol.step import Step

ROCPROF = ("rocprofv3", "--kernel-trace", "--stats", "-d", "{out}", "-o", "{id}", "--", "{python}", "-u", "p.py", "--stats")


def step(*argv: str, counters: int = 0) -> Step:
    return Step(argv=argv, timeout_s=5, counters=tuple(f"C{i}" for i in range(counters)))


@pytest.mark.parametrize(("counters", "sizes"), [(0, []), (1, [1]), (6, [6]), (7, [6, 1]), (18, [6, 6, 6])])
def test_six_counters_a_pass_after_the_times(counters: int, sizes: list[int]) -> None:
    first, *others = passes_of(step(*ROCPROF, counters=counters))
    assert first.argv == ROCPROF
    assert [sum(word.startswith("C") for word in each.argv) for each in others] == sizes
    named = [word for each in others for word in each.argv if word.startswith("C")]
    assert named == [f"C{i}" for i in range(counters)]
    for each in others:
        own, command = each.argv[: each.argv.index("--")], each.argv[each.argv.index("--") :]
        assert own[:2] == ("rocprofv3", "--pmc")
        assert own[-5:] == ("--kernel-trace", "-d", "{out}", "-o", "{id}")
        assert command == ROCPROF[7:]  # the command's own words stay, whatever they are


def test_ncu_counts_in_its_one_pass() -> None:
    (only,) = passes_of(step("/opt/bin/ncu", "--csv", "p", counters=8))
    assert only.argv == ("/opt/bin/ncu", "--metrics", "C0,C1,C2,C3,C4,C5,C6,C7", "--csv", "p")


def test_a_script_has_one_pass() -> None:
    assert passes_of(step("{python}", "p.py")) == (step("{python}", "p.py"),)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (step("{python}", "p.py", counters=1), "rocprofv3 or ncu"),
        (step("rocprofv3", "-d", "x", counters=1), "'--'"),
        (Step(argv=ROCPROF, timeout_s=5, counters=("-d",)), "the name of a counter"),
        (Step(argv=ROCPROF, timeout_s=5, counters=("A B",)), "the name of a counter"),
    ],
)
def test_what_a_protocol_must_not_say(wrong: Step, said: str) -> None:
    (fault,) = counter_faults(wrong)
    assert said in fault


def test_our_own_protocol_is_sound() -> None:
    assert counter_faults(step(*ROCPROF, counters=9)) == []
    assert counter_faults(step("{python}")) == []
