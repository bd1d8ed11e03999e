"""Every cheat is refused, with the reason; no honest kernel is; and each safeguard is what refuses some cheat."""

import re
from collections.abc import Iterator, Sequence

import pytest

from tests.cheating.variants import CHEATS, HONEST, Cheat, HarnessProcess, build

# These stand for the honest ones here; `python -m tests.cheating.all_cheats FOLDER` has all of them, and by `expctl run`.
SOME_HONEST = (
    "dot-products",
    "static-scratch",
    "maps-memory",
    "slow-first-call",
    "says-hello",
    "two-threads",
    "sleeping-helper",
)
PASSED = {"test": True, "benchmark": True}
TRIES = 10  # of what is refused by chance


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HarnessProcess]:
    folder = tmp_path_factory.mktemp("cheating")
    made = HarnessProcess(build(folder), folder)
    yield made
    made.close()


def test_there_are_twenty_of_each() -> None:
    assert len({cheat.name for cheat in CHEATS}) == len(CHEATS) >= 20
    assert len(set(HONEST)) == len(HONEST) >= 20
    assert set(SOME_HONEST) < set(HONEST)


@pytest.mark.parametrize("cheat", [cheat for cheat in CHEATS if cheat.step], ids=lambda cheat: cheat.name)
def test_a_cheat_is_refused_with_the_reason(harness: HarnessProcess, cheat: Cheat) -> None:
    for _ in range(TRIES if cheat.by_chance else 1):
        said = harness.try_out(cheat.name)
        step, refused = list(said.items())[-1]
        if not refused.ok:
            break
    assert step == cheat.step or cheat.or_earlier, f"expected to be refused by the {cheat.step}: {said}"
    assert not refused.ok
    assert re.search(cheat.reason, refused.reason)


@pytest.mark.parametrize("cheat", [cheat for cheat in CHEATS if not cheat.step], ids=lambda cheat: cheat.name)
def test_what_is_denied_changes_nothing(harness: HarnessProcess, cheat: Cheat) -> None:
    """Where it is not denied, it idles at the size of the KPI, and is refused for that."""
    before = harness.files()
    said = harness.try_out(cheat.name)
    assert {step: each.ok for step, each in said.items()} == PASSED, said
    assert harness.files() - before <= {f"{cheat.name}.so"}


@pytest.mark.parametrize("name", SOME_HONEST)
def test_an_honest_kernel_is_not_flagged(harness: HarnessProcess, name: str) -> None:
    said = harness.try_out(name)
    assert {step: each.ok for step, each in said.items()} == PASSED, said


# A cheat, what is switched off, and the step that it passes then.
PASSES_WITHOUT = [
    ("forges-results", ("the sandbox",), "test"),
    ("cached-by-pointer", ("fresh inputs",), "benchmark"),
    ("cached-upcast", ("a fresh B",), "benchmark"),
    ("skips-every-second-call", ("poison",), "test"),
    ("races-seldom", ("sampled outputs",), "benchmark"),
    ("one-wrong-element", ("whole outputs",), "benchmark"),
    ("changes-its-inputs", ("inputs that are looked at again",), "benchmark"),
    ("clock-much-slower", ("the clock check",), "benchmark"),
    ("never-rests", ("the clock check",), "benchmark"),
    ("changes-its-priority", ("the process audit",), "benchmark"),
    ("leaves-a-process", ("forking", "the process audit"), "benchmark"),
]
WORDS = [f"{name} without {safeguards[0]}" for name, safeguards, _ in PASSES_WITHOUT]


@pytest.mark.parametrize(("name", "without", "step"), PASSES_WITHOUT, ids=WORDS)
def test_a_safeguard_is_what_refuses_a_cheat(harness: HarnessProcess, name: str, without: Sequence[str], step: str) -> None:
    said = harness.try_out(name, without=without)
    assert said[step].ok, said


def test_without_its_filter_a_process_that_is_left_behind_is_found(harness: HarnessProcess) -> None:
    assert "started a process" in harness.try_out("leaves-a-process", without=["forking"])["test"].reason


def test_without_confinement_a_build_writes_what_the_harness_would_read(harness: HarnessProcess) -> None:
    before = harness.files()
    harness.try_out("changes-the-harness", without=["confinement"])
    assert harness.files() - before >= {"json.py"}


def test_without_confinement_a_build_can_open_its_judge(harness: HarnessProcess) -> None:
    """It works where it can, to show that it could."""
    assert "never written" in harness.try_out("opens-the-judge")["test"].reason
    assert harness.try_out("opens-the-judge", without=["confinement"])["test"].ok
