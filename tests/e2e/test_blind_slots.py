"""Blind slots, whole: measured, committed, shown, replayed, killed, and what a false KEEP does."""

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.foreign import Foreign, wait_until
from tests.e2e.test_killed import kill
from tests.refusals import printed_code

BLIND = "experiments/blind.jsonl"


KERNEL = """\
WORK = 4
# Somewhat apart,
# so that what follows
# may change alone:

ROUNDS = WORK


def total(values):
    for _ in range(ROUNDS):
        sum(values)
    return sum([value * value for value in values])
"""


def with_control(repository: Foreign) -> None:
    """Commit a kernel, and a control of it that does half as much again beside the sum: about 40 % slower."""
    repository.write("src/total.py", KERNEL)
    repository.commit("a kernel with a knob")
    repository.write("src/total.py", KERNEL.replace("WORK = 4", "WORK = 8"))
    patch = repository.git("diff", "--", "src/total.py")
    repository.git("checkout", "-q", "--", "src/total.py")
    repository.write("controls/slower.patch", patch + "\n")
    control = "control: {patch: controls/slower.patch, slower_percent: 40}"
    repository.edit_protocol("      style: fine\n", f"      style: fine\n      {control}\n")


def lines(repository: Foreign) -> list[dict[str, object]]:
    return [json.loads(line) for line in repository.git("show", f"HEAD:{BLIND}").splitlines()]


def test_nulls_are_counted_shown_and_replayed(repository: Foreign) -> None:
    before = repository.head()
    found = repository.concluded("run", "--blind", "2", "--json").json()["steps"]
    assert [(each["event"], each["truth"], each["number"]) for each in found] == [("blind", "null", 1), ("blind", "null", 2)]
    assert found[1]["rates"]["nulls"] == 2
    first, second = lines(repository)
    assert first["artifacts"][0] == first["artifacts"][1]  # type: ignore[index]
    assert first["head"] == before
    assert second["head"] == found[0]["commit"]
    rates = "0 of 2 nulls kept (at most 77.6 %)"
    assert f"\nblind slots\n  here       {rates}\n" in repository.concluded("status").out
    assert repository.concluded("status", "--json").json()["blind"][0]["nulls"] == 2
    assert f"- **Blind on here:** {rates}\n" in (repository.root / "ledger.md").read_text()
    replayed = repository.concluded("replay", "--all").out.splitlines()
    assert [line.split()[:3] for line in replayed] == [["blind", "1", "same"], ["blind", "2", "same"]]
    assert repository.git("status", "--porcelain") == ""
    repository.check_nothing_is_left()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"verdict":"', '"verdict":"KEEP","was":"', "unknown key"),
        ('"truth":"null"', '"truth":"slow"', "the truth is slow, but the builds are equal"),
        ('"rounds":', '"rounds":1', "rounds: recorded 1"),
    ],
)
def test_a_line_that_somebody_changed_differs(repository: Foreign, old: str, new: str, said: str) -> None:
    repository.concluded("run", "--blind", "1")
    text = (repository.root / BLIND).read_text()
    repository.write(BLIND, text.replace(old, new, 1))
    repository.commit("a better rate")
    answer = repository.expctl("replay", "--all")
    assert answer.status == 1
    assert said in answer.out, answer.out


def test_samples_without_a_line_and_a_line_twice_differ(repository: Foreign) -> None:
    repository.concluded("run", "--blind", "1")
    line = (repository.root / BLIND).read_text()
    repository.write(BLIND, line + line)
    repository.commit("twice")
    assert "belongs to 2 lines of" in repository.expctl("replay", "--all").out
    repository.write(BLIND, "")
    repository.commit("none")
    answer = repository.expctl("replay", "--all")
    assert answer.status == 1
    assert "belongs to no line of" in answer.out


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-1],
        lambda text: text[:-40],
        lambda text: text.replace(b"\n", b"\n\n", 1),
        lambda text: text.replace(b"\n", b"", 1),
        lambda text: text.replace(b"here", b"h\xe9re", 1),
        lambda text: b"<<<<<<< HEAD\n" + text,
    ],
    ids=["no line end", "cut off", "empty line", "two in a line", "not UTF-8", "conflict"],
)
def test_a_damaged_file_is_named_before_anything_is_measured(repository: Foreign, damage: Callable[[bytes], bytes]) -> None:
    repository.concluded("run", "--blind", "2")
    file = repository.root / BLIND
    file.write_bytes(damage(file.read_bytes()))
    repository.commit("by hand")
    snapshot = repository.snapshot()
    for words in (("status",), ("ledger", "--check"), ("run", "--blind", "1"), ("run", "--all")):
        answer = repository.expctl(*words)
        assert (answer.status, printed_code(answer.err)) == (1, "file-damaged"), answer
        assert answer.out == ""
    answer = repository.expctl("replay", "--all")
    assert answer.status == 1
    assert f"{BLIND}, line " in answer.out, answer
    assert repository.snapshot() == snapshot


def test_a_planted_slow_down_is_not_kept(repository: Foreign) -> None:
    with_control(repository)
    truths: Counter[str] = Counter()
    while "slow" not in truths:
        (found,) = repository.concluded("run", "--blind", "1", "--json").json()["steps"]
        truths[found["truth"]] += 1
    assert found["verdict"] == "REJECT"
    assert f"{truths['slow']} of {truths['slow']} slow-downs not kept" in repository.concluded("status").out
    repository.concluded("replay", "--all")


def test_a_false_keep_is_shouted_and_stops_the_queue(repository: Foreign) -> None:
    """After it was shown today, the kernel changes such that the control is a gain."""
    with_control(repository)
    repository.concluded("run", "--blind", "1")
    kernel = KERNEL.replace("ROUNDS = WORK", "ROUNDS = 12 - WORK")
    repository.write("src/total.py", kernel)
    repository.edit_protocol("blind_percent: 0", "blind_percent: 100")
    for number in range(1, 13):
        repository.queue(f"P{number}", kernel + f"\n\nUNUSED = {number}\n")
    answer = repository.expctl("run", "--all")
    assert answer.status == 1, answer
    assert printed_code(answer.err) == "blind-slot-kept"
    assert "KEEP  A FALSE KEEP  on here, HEAD against itself with a planted slow-down" in answer.out
    assert "next      expctl gate" in answer.err
    assert (repository.root / "src/total.py").read_text() == kernel
    assert "WARNING    blind slot" in repository.concluded("status").out
    assert "- **Warning:** blind slot" in (repository.root / "ledger.md").read_text()
    assert lines(repository)[-1]["verdict"] == "KEEP"
    repository.check_nothing_is_left()


def test_killed_at_random_moments_no_line_is_doubled(repository: Foreign, long: bool) -> None:
    draw = random.Random(20261123)
    for _ in range(20 if long else 4):
        runner = repository.start("run", "--blind", "9")
        time.sleep(draw.uniform(0.3, 2.5))
        kill(runner)
    repository.concluded("run", "--blind", "1")
    committed = repository.git("log", "--format=%s", "--grep=^Expctl-Blind: ").splitlines()
    found = lines(repository)
    assert len(found) == len(committed) >= 1
    assert len({str(each["samples_sha256"]) for each in found}) == len(found)
    assert len(list((repository.root / "experiments/blind").iterdir())) == len(found)
    repository.concluded("replay", "--all")
    assert repository.git("status", "--porcelain") == ""
    repository.check_nothing_is_left()


def test_killed_while_it_publishes_nothing_is_lost_or_doubled(repository: Foreign) -> None:
    for delay_s in (0.0, 0.01, 0.03):
        before = repository.head()
        runner = repository.start("run", "--blind", "1")
        while not any((repository.root / ".git").glob("index.lock*")) and runner.poll() is None:
            time.sleep(0.002)
        time.sleep(delay_s)
        kill(runner)
        assert repository.head() == before or "Expctl-Blind: null" in repository.git("log", "-1", "--format=%B")
    repository.concluded("run", "--blind", "1")
    assert len(lines(repository)) == len(repository.git("log", "--format=%s", "--grep=^Expctl-Blind: ").splitlines())
    repository.concluded("replay", "--all")
    repository.check_nothing_is_left()


def test_a_user_s_commit_meanwhile_is_kept(repository: Foreign, tmp_path: Path) -> None:
    assert tmp_path
    runner = repository.start("run", "--blind", "1")
    wait_until(lambda: repository.step() == "measure", "the measurement")
    repository.write("notes", "mine\n")
    repository.commit("by the user")
    users = repository.head()
    assert runner.wait(240) == 0, repository.said()
    assert repository.git("rev-parse", "HEAD^") == users
    repository.check_nothing_is_left()


@pytest.mark.parametrize("words", [("P1", "--blind", "2"), ("--all", "--blind", "2"), ("--blind", "1", "--again")])
def test_blind_stands_alone(repository: Foreign, words: tuple[str, ...]) -> None:
    answer = repository.expctl("run", *words)
    assert answer.status == 2
    assert "--blind" in answer.err
