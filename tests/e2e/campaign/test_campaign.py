"""A user edits, queues, withdraws and notes findings while a campaign runs that is killed twice: nothing is lost or doubled."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from tests.e2e import cheat_parameters as knobs
from tests.e2e.foreign import Answer, Foreign

FIRST = {
    "P1": ({"FIRST": 0}, "", "KEEP"),
    "P2": ({"SECOND": 0}, "", "KEEP"),
    "P3": ({"FIRST": 1}, "", "BLOCKED"),  # turns the knob that P1 turned
    "P4": ({"FIFTH": 9000}, "", "REJECT"),
    "P5": ({"FIFTH": 2}, " + (len(values) == 7)", "REJECT"),  # wrong
    "P6": ({"FIFTH": 3}, " +", "REJECT"),  # doesn't parse
    "P7": ({"THIRD": 1}, "", "withdrawn"),
    "P8": ({"THIRD": 0}, "", "KEEP"),
}
LATER = {
    "P9": ({"FIFTH": 12000}, "", "REJECT"),
    "P10": ({"FIFTH": 1}, " - (len(values) == 7)", "REJECT"),
    "P11": ({"FOURTH": 0}, "", "KEEP"),
    "P12": ({"FIFTH": 0}, "", "skipped"),  # only if P4 had been kept
    "P13": ({"FIFTH": 4}, " *", "REJECT"),
}
EXPECTED = {name: verdict for name, (_, _, verdict) in (FIRST | LATER).items()}
SHORT = ("P1", "P3", "P5", "P7", "P9", "P10")
IDEA = "src/my idea.py"


class User:
    """Does at random moments what a user does; `ideas` are the bytes that were last written to each file."""

    def __init__(self, repository: Foreign, patches: Path, names: list[str], draw: random.Random, pause_s: float) -> None:
        self.repository, self.patches, self.draw, self.pause_s = repository, patches, draw, pause_s
        self.ideas: dict[str, bytes] = {}
        self.failed: list[object] = []
        queue = [self._queues(name) for name in names]
        rest = [*queue, self._finds, *[self._edits] * 6]
        draw.shuffle(rest)
        self.deeds: list[Callable[[], None]] = [self._withdraws, self._edits, *rest]
        self.thread = Thread(target=self._act)

    def _act(self) -> None:
        try:
            for deed in self.deeds:
                time.sleep(self.draw.uniform(0, self.pause_s))
                deed()
        except Exception as error:  # noqa: BLE001  the test shows it
            self.failed.append(error)

    def _does(self, *words: str) -> None:
        answer = self.repository.cold(*words)
        if answer.status:
            self.failed.append((words, answer))

    def _withdraws(self) -> None:
        self._does("withdraw", "P7", "--why", "P8 does more")

    def _queues(self, name: str) -> Callable[[], None]:
        only_if = ["--depends-on", "P4"] if name == "P12" else []
        return lambda: self._does("new", name, "--patch", str(self.patches / name), "--title", "queued meanwhile", *only_if)

    def _finds(self) -> None:
        link = "https://example.org/sums"
        self._does("finding", "add", "A sum of squares has no shortcut", "--kind", "external", "--evidence", link)

    def _edits(self) -> None:
        path = self.draw.choice(("src/total.py", IDEA))
        file = self.repository.root / path
        before = self.ideas.get(path) or (file.read_bytes() if file.exists() else b"")
        self.ideas[path] = before + f"\n# idea {self.draw.random()}\r\n".encode()
        file.write_bytes(self.ideas[path])
        if path != IDEA and self.draw.random() < 0.3:
            self.repository.git("add", path, check=False)


@contextlib.contextmanager
def working(user: User) -> Iterator[None]:
    user.thread.start()
    try:
        yield
    finally:
        user.thread.join()
    assert user.failed == []


def prepared(repository: Foreign, patches: Path, names: list[str]) -> None:
    """Queue the first experiments, and write the patches of the later ones."""
    knobs.begin(repository)
    patches.mkdir()
    for name in names:
        values, wrong, _ = (FIRST | LATER)[name]
        if name in FIRST:
            knobs.turn(repository, name, values, wrong=wrong)
        else:
            repository.write("src/total.py", knobs.kernel(values, wrong=wrong))
            repository.git("diff", f"--output={patches / name}", "--", "src")
            repository.git("checkout", "-q", "--", "src")
    repository.concluded("queue", "P7", "--priority", "-9")  # last, so that the user withdraws it in time


def killed_after(repository: Foreign, after_s: float) -> None:
    """Kill a `run --all` that is under way; one that had nothing more to do is started again first."""
    runner, kill_at_s = repository.start("run", "--all"), time.monotonic() + after_s
    while time.monotonic() < kill_at_s:
        if runner.poll() is not None:
            assert runner.returncode == 0, repository.said()
            runner = repository.start("run", "--all")
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.kill(runner.pid, signal.SIGKILL)
    runner.wait()


def brought_home(repository: Foreign, ended: Answer) -> None:
    """Type the command that the end shows, if it shows one."""
    found = [line.removeprefix("bring it home: ") for line in ended.out.splitlines() if line.startswith("bring it home: ")]
    for command in found:
        repository.git(*command.split()[1:])
    assert repository.git("rev-parse", "-q", "--verify", "expctl/main", check=False) in ("", repository.head())


SEEDS = [20261123, *[pytest.param(seed, marks=pytest.mark.long) for seed in range(6)]]


@pytest.mark.long
def test_the_same_campaign_undisturbed(repository: Foreign, tmp_path: Path) -> None:
    prepared(repository, tmp_path / "patches", list(EXPECTED))
    repository.concluded("withdraw", "P7", "--why", "P8 does more")
    for name in LATER:
        only_if = ["--depends-on", "P4"] if name == "P12" else []
        repository.concluded("new", name, "--patch", str(tmp_path / "patches" / name), *only_if)
    repository.concluded("run", "--all")
    assert knobs.verdicts(repository) == EXPECTED


@pytest.mark.parametrize("seed", SEEDS)
def test_a_campaign_while_the_user_works(repository: Foreign, tmp_path: Path, seed: int, long: bool) -> None:
    draw = random.Random(seed)
    names = list(EXPECTED) if long else list(SHORT)
    prepared(repository, tmp_path / "patches", names)
    later = [name for name in names if name in LATER]
    user = User(repository, tmp_path / "patches", later, draw, pause_s=1.2 if long else 0.6)
    with working(user):
        for _ in range(2):
            killed_after(repository, draw.uniform(1.0, 7.0 if long else 4.0))
    ended = repository.concluded("run", "--all")

    for path, contents in user.ideas.items():
        assert (repository.root / path).read_bytes() == contents
    brought_home(repository, ended)
    for path, contents in user.ideas.items():
        assert (repository.root / path).read_bytes().endswith(contents[contents.index(b"\n# idea") :])

    assert knobs.verdicts(repository) == {name: EXPECTED[name] for name in names}
    subjects = repository.git("log", "--format=%s").splitlines()
    for name in names:
        concluded = EXPECTED[name] in ("KEEP", "REJECT")
        assert sum(subject.startswith(f"{name} {EXPECTED[name]} on here: ") for subject in subjects) == concluded, subjects
        kept = EXPECTED[name] == "KEEP"
        assert sum(subject.startswith(f"{name}: ") for subject in subjects) == kept, subjects
        assert sum(subject.startswith(f"Propose {name}: ") for subject in subjects) == 1
    assert sum(subject.startswith("Add finding ") for subject in subjects) == 1
    repository.check_nothing_is_left()
    repository.concluded("replay", "--all")
