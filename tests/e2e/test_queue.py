"""`run --all`: a whole queue, unattended, disturbed and not; what it says of everything that it doesn't run."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.e2e import cheat_parameters as knobs
from tests.e2e.foreign import EXPCTL, FASTER, Foreign, wait_until
from tests.refusals import printed_code

OUTCOMES = {
    "P1": "KEEP",
    "P2": "KEEP",  # proposed before P1 was kept: measured as the three-way merge
    "P3": "BLOCKED",  # turns the knob that P1 turned
    "P4": "REJECT",
    "P5": "ready",  # P4 again: a rule refuses it, each time anew
    "P6": "skipped",  # only if P4 had been kept
    "P7": "KEEP",  # only if P1 was kept and P2 gained
    "P8": "REJECT",  # wrong
    "P9": "REJECT",  # doesn't parse
    "P10": "REJECT",
    "P11": "withdrawn",
    "P12": "KEEP",
}
# Without what is measured long and is of a kind with something else.
SHORT = tuple(name for name in OUTCOMES if name not in ("P10", "P12"))
SHORTEST = ("P1", "P2", "P3", "P8", "P9", "P11")


def queue_up(repository: Foreign, names: Collection[str]) -> dict[str, str]:
    """Propose those of `names`; return what they come to."""
    knobs.begin(repository)
    for name, values, options, wrong in (
        ("P1", {"FIRST": 0}, ("--title", "no first waste"), ""),
        ("P2", {"SECOND": 0}, (), ""),
        ("P3", {"FIRST": 1}, (), ""),
        ("P4", {"FIFTH": 9000}, (), ""),
        ("P5", {"FIFTH": 9000}, (), ""),
        ("P6", {"FOURTH": 1}, ("--depends-on", "P4"), ""),
        ("P7", {"THIRD": 0}, ("--depends-on", "P1 and P2.effect.objective > 5"), ""),
        ("P8", {"FOURTH": 2}, (), " + (len(values) == 7)"),
        ("P9", {"FOURTH": 3}, (), " +"),
        ("P10", {"FOURTH": 12000}, (), ""),
        ("P11", {"FOURTH": 4}, (), ""),
        ("P12", {"FOURTH": 0}, (), ""),
    ):
        if name in names:
            knobs.turn(repository, name, values, *options, wrong=wrong)
    repository.concluded("withdraw", "P11", "--why", "P12 does more")
    return {name: OUTCOMES[name] for name in names}


@pytest.mark.long
def test_a_whole_queue_in_one_go(repository: Foreign, long: bool) -> None:
    outcomes = queue_up(repository, OUTCOMES if long else SHORT)
    proposed = {name: (repository.root / f"experiments/{name}/change.patch").read_bytes() for name in outcomes}
    before_p2 = json.loads((repository.root / "experiments/P2/queued.json").read_text())["base"]

    ran = repository.concluded("run", "--all")

    assert knobs.verdicts(repository) == outcomes
    assert repository.git("show", "HEAD:src/total.py").split("# knob")[1:4:2] == [
        " first\n#\nFIRST = 0\n#\n#\n",
        " third\n#\nTHIRD = 0\n#\n#\n",
    ]
    (note,) = [note for note in repository.record("P2")["notes"] if note.startswith("re-based")]
    assert before_p2[:7] in note
    assert proposed == {name: (repository.root / f"experiments/{name}/change.patch").read_bytes() for name in outcomes}
    assert "P3 is BLOCKED: the same lines of src/total.py changed meanwhile" in ran.out
    assert "this change was tried before, as P4, and rejected" in ran.err
    assert "P6 is skipped: P4 can't hold any more: P4 ended in REJECT" in ran.err
    assert "the end: nothing in the queue can run: 1 BLOCKED, 1 skipped, 1 refused" in ran.out
    ledger = (repository.root / "ledger.md").read_text()
    for said in ("state: BLOCKED: on ", "state: skipped: P4", "state: withdrawn: P12 does more"):
        assert said in ledger
    assert "BLOCKED" in repository.concluded("status").out
    repository.check_nothing_is_left()


def test_killed_twice_it_ends_as_undisturbed(repository: Foreign, long: bool) -> None:
    outcomes = queue_up(repository, OUTCOMES if long else SHORTEST)
    for experiment, event in (("P2", "Measured"), ("P7" if long else "P8", "Built")):
        runner = repository.start("run", "--all")

        def written(experiment: str = experiment, event: str = event) -> bool:
            return event in repository.journal(experiment)

        wait_until(written, event, at_most_s=120)
        with contextlib.suppress(ProcessLookupError):
            os.kill(runner.pid, signal.SIGKILL)
        assert runner.wait() == -signal.SIGKILL
    repository.concluded("run", "--all")
    assert knobs.verdicts(repository) == outcomes
    subjects = repository.git("log", "--format=%s").splitlines()
    ended = sum(outcome in ("KEEP", "REJECT") for outcome in outcomes.values())
    assert len([subject for subject in subjects if " on here: " in subject]) == ended, subjects
    repository.check_nothing_is_left()
    head = repository.head()
    repository.concluded("run", "--all")
    assert repository.head() == head


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.long), 2])
def test_ctrl_c_ends_the_queue_and_nothing_is_lost(repository: Foreign, times: int) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 9000})
    knobs.turn(repository, "P2", {"SECOND": 9000}, wrong=" + 1")
    queued = repository.head()
    runner = repository.start("run", "--all")
    wait_until(lambda: "Measured" in repository.journal("P1"), "a round")
    for _ in range(times):
        runner.send_signal(signal.SIGINT)
    assert runner.wait(240) == 130, repository.said()
    assert "Traceback" not in repository.said()
    assert (repository.head(), repository.survivors()) == (queued, [])
    repository.concluded("run", "--all")
    assert knobs.verdicts(repository) == {"P1": "REJECT", "P2": "REJECT"}


def test_budgets_end_it_and_say_so(repository: Foreign) -> None:
    knobs.begin(repository)
    for number, value in enumerate((9000, 9001, 9002), start=1):
        knobs.turn(repository, f"P{number}", {"FIRST": value})
    assert "the end: the budget of 1 experiments is spent" in repository.concluded("run", "--all", "--max-experiments", "1").out
    assert "the end: 1 REJECTs in a row" in repository.concluded("run", "--all", "--stop-after", "1").out
    assert knobs.verdicts(repository) == {"P1": "REJECT", "P2": "REJECT", "P3": "ready"}
    refused = repository.expctl("run", "P3", "--stop-after", "1")
    assert (refused.status, "--all" in refused.err) == (2, True)


def test_what_ends_everything_ends_the_queue_with_words(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 0})
    knobs.turn(repository, "P2", {"SECOND": 0})
    repository.git("switch", "-q", "--detach")
    answer = repository.expctl("run", "--all")
    assert answer.status == 1
    assert answer.err.count("Error [") == 1
    assert printed_code(answer.err) == "head-detached"


def test_an_id_is_bound_to_its_content(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 9000})
    yaml = repository.root / "experiments/P1/experiment.yaml"
    yaml.write_text(yaml.read_text().replace("not stated", "another one"))
    repository.commit("rewritten")
    refused = repository.expctl("run", "P1")
    assert refused.status == 1
    assert printed_code(refused.err) == "proposal-differs-from-queued"
    assert "expctl new --patch experiments/P1/change.patch" in refused.err
    assert knobs.verdicts(repository) == {"P1": "changed"}
    repository.concluded("new", "P2", "--patch", "experiments/P1/change.patch")
    repository.concluded("run", "--all")
    assert knobs.verdicts(repository) == {"P1": "changed", "P2": "REJECT"}


def test_a_proposal_made_on_another_baseline_is_brought_back_merged(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"SECOND": 0})
    repository.write("src/total.py", knobs.kernel().replace("# knob second\n", "# knob second, new words\n"))
    repository.commit("by hand")
    repository.concluded("show", "P1", "--apply")
    text = (repository.root / "src/total.py").read_text()
    assert ("SECOND = 0\n" in text, "new words" in text) == (True, True)


def test_priorities_and_withdrawals_are_commits_of_the_queue(repository: Foreign) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 0})
    knobs.turn(repository, "P2", {"SECOND": 0})
    repository.concluded("queue", "P2", "--priority", "3")
    assert repository.changed_by("HEAD") == ["experiments/P2/queued.json", "ledger.md"]
    assert [entry["id"] for entry in repository.concluded("queue", "--json").json()["entries"]] == ["P2", "P1"]
    repository.concluded("withdraw", "P1", "--why", "no | need")
    assert r"state: withdrawn: no \| need" in (repository.root / "ledger.md").read_text()
    for words in (["run", "P1"], ["withdraw", "P1", "--why", "twice"], ["queue", "P1", "--priority", "1"]):
        assert repository.expctl(*words).status == 1, words
    repository.write("src/total.py", knobs.kernel({"FIRST": 5}))
    taken = repository.expctl("new", "P1", "--from-diff")
    assert (taken.status, printed_code(taken.err)) == (1, "experiment-exists")


def test_words_and_numbers_that_say_nothing_are_refused(repository: Foreign) -> None:
    knobs.begin(repository)
    repository.write("src/total.py", knobs.kernel({"FIRST": 5}))
    for option in ("--title", "--hypothesis"):
        blank = repository.expctl("new", "P1", "--from-diff", option, "")
        assert (blank.status, printed_code(blank.err)) == (2, "proposal-words-unfit")
        assert f"{option.strip('-')}: expected some words" in blank.err
    repository.concluded("new", "P1", "--from-diff")
    head = repository.git("rev-parse", "HEAD")
    for huge in ("1000001", "-1000001", "9" * 30):
        refused = repository.expctl("queue", "P1", "--priority", huge)
        assert (refused.status, printed_code(refused.err)) == (2, "priority-too-large")
        assert f"found     {huge}" in refused.err
    assert repository.git("rev-parse", "HEAD") == head


def test_an_unknown_left_side_is_refused_when_it_is_queued(repository: Foreign) -> None:
    knobs.begin(repository)
    repository.write("src/total.py", knobs.kernel({"FIRST": 0}))
    for condition, status, said in (
        ("P1.speed > 3", 1, "expected one of verdict, target, effect.SIZE"),
        ("P1.effect.huge > 3", 1, "expected objective or a size of the KPI (n=1000, n=500)"),
        ("P2", 1, "it waits for itself"),
        ("P1.verdict > 3", 1, "expected verdict with == or != and a word"),
        ("__import__('os')", 2, 'column 1: expected a condition, found "__import__'),
    ):
        refused = repository.expctl("new", "P2", "--from-diff", "--depends-on", condition)
        assert (refused.status, said in refused.err) == (status, True), refused
    assert repository.git("log", "-1", "--format=%s") == "knobs"


def test_notify_gets_each_outcome_and_may_fail(repository: Foreign, tmp_path: Path) -> None:
    knobs.begin(repository)
    knobs.turn(repository, "P1", {"FIRST": 9000})
    knobs.turn(repository, "P2", {"SECOND": 0}, "--depends-on", "P1")
    listener = tmp_path / "listener.py"
    listener.write_text("import sys\nopen(sys.argv[1], 'a').write(sys.stdin.read())\n")
    heard = tmp_path / "heard; touch nothing"
    ran = repository.concluded("run", "--all", "--notify", f"python3 {listener} '{heard}'")
    events = [json.loads(line) for line in heard.read_text().splitlines()]
    assert [(event["event"], event.get("id")) for event in events] == [
        ("outcome", "P1"),
        ("skipped", "P2"),
        ("ended", None),
    ]
    assert (events[0]["verdict"], events[1]["state"]) == ("REJECT", "skipped")
    assert "note" not in ran.err
    ran = repository.concluded("run", "P1", "--notify", f"{sys.executable} -c exit(1)")
    assert "exited with status 1" in ran.err
    mistyped = repository.expctl("run", "P1", "--notify", "/no/such/command")
    assert (mistyped.status, "[notify-not-found]" in mistyped.err) == (2, True)


@pytest.mark.parametrize("titles", [("faster",) * 4, ("one", "two", "three", "four")], ids=["one-command", "four-commands"])
def test_proposals_without_an_id_that_come_at_once_get_one_each(repository: Foreign, titles: tuple[str, ...]) -> None:
    """Four equal commands are one proposal; commands with other words are one each."""
    patch = repository.root.parent / "faster.patch"
    repository.write("src/total.py", FASTER)
    patch.write_text(repository.git("diff") + "\n")
    repository.git("checkout", "--", ".")
    words = ("new", "--patch", str(patch), "--hypothesis", "fewer steps", "--title")
    started = [
        subprocess.Popen([EXPCTL, *words, title], cwd=repository.root, env=repository.environment, stdin=subprocess.DEVNULL)
        for title in titles
    ]
    assert [each.wait(240) for each in started] == [0] * 4
    queued = {each["id"]: each["title"] for each in repository.concluded("queue", "--json").json()["entries"]}
    assert list(queued) == [f"P{number}" for number in range(1, len(set(titles)) + 1)]
    assert set(queued.values()) == set(titles)


def test_a_branch_without_a_name_is_refused(repository: Foreign) -> None:
    ended = repository.expctl("run", "--all", "--branch", "")
    assert (ended.status, "[branch-without-name]" in ended.err) == (2, True), ended
