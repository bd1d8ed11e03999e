"""A proposer that is a command: good proposals are judged like any other, the rest is refused and told back."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import cheat_parameters as knobs
from tests.e2e.foreign import TEMPLATES, Foreign
from tests.refusals import printed_code

# What the agent does in its n-th call, and what expctl says of it: a verdict, or a part of the refusal.
REPERTOIRE: tuple[tuple[dict[str, object], str], ...] = (
    ({"turn": ["FIRST", 9000]}, "REJECT"),
    ({"turn": ["FIRST", 9000]}, "tried before, as P1"),  # a repeat of what was rejected
    ({"turn": ["FIRST", 0]}, "KEEP"),
    ({"turn": ["FIRST", 0]}, "changes nothing"),  # a repeat of what was kept
    ({"trick": "no yaml", "turn": ["SECOND", 1]}, "not YAML"),
    ({"trick": "wrong types", "turn": ["SECOND", 1]}, "verdict: unknown key"),
    ({"trick": "no patch", "turn": ["SECOND", 1]}, "holds experiment.yaml"),
    ({"turn": ["SECOND", 0]}, "KEEP"),  # mended
    ({"create": ["bench/test.py.new"]}, "is outside the scope"),  # hostile
    ({"create": ["src/link", "120000", "/etc/passwd"]}, "has mode 120000"),
    ({"create": ["src/../../outside"]}, "the patch does not apply"),
    ({"trick": "unseen", "turn": ["THIRD", 1]}, "bidi or invisible characters"),
    ({"trick": "link", "turn": ["THIRD", 1]}, "can't be opened as a plain file"),
    ({"trick": "huge", "turn": ["THIRD", 1]}, "200000000 bytes"),
    ({"trick": "beside", "turn": ["THIRD", 1]}, "2 entries"),
    ({"id": "P1", "turn": ["THIRD", 9000]}, "P1 exists already"),  # a repeat of an id
    ({"turn": ["THIRD", 9000]}, "REJECT"),
    ({"turn": ["THIRD", 9000]}, "tried before, as P4"),  # repeats again
    ({"turn": ["FIRST", 9001], "title": "a turn too far"}, "REJECT"),
    ({"turn": ["THIRD", 9000], "title": "in other words"}, "tried before, as P4"),
)
TAKEN = [said for _, said in REPERTOIRE if said in ("KEEP", "REJECT")]


def employ(repository: Foreign, repertoire: list[dict[str, object]], timeout_s: float = 20) -> Path:
    """Commit a protocol with the agent as its proposer; return the folder that it writes what it was told to."""
    knobs.begin(repository)
    memory = repository.root.parent / "memory"
    memory.mkdir()
    (memory / "repertoire.json").write_text(json.dumps(repertoire))
    protocol = (repository.root / "protocol.yaml").read_text()
    argv = json.dumps(["{python}", str(TEMPLATES / "agent.py"), str(memory)])
    repository.write("protocol.yaml", protocol + f"proposer: {{argv: {argv}, timeout_s: {timeout_s}}}\n")
    repository.commit("a proposer")
    return memory


def told(memory: Path, call: int) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((memory / f"told-{call}.json").read_text())
    return read


def test_twenty_proposals_of_a_fake_agent(repository: Foreign) -> None:
    memory = employ(repository, [what for what, _ in REPERTOIRE])
    (repository.root.parent / "outside").unlink(missing_ok=True)

    ran = repository.concluded("run", "--all", "--propose", "30", "--json")

    events = ran.json()["steps"]
    answers = [event for event in events if event.get("event") in ("proposed", "unproposed")]
    verdicts = [event["record"]["verdict"] for event in events if "record" in event]
    assert len(answers) == len(REPERTOIRE) == 20
    for (what, said), event in zip(REPERTOIRE, answers, strict=True):
        refusal = f"{event.get('why')} {event.get('found')}"
        assert event["event"] == ("proposed" if said in ("KEEP", "REJECT") else "unproposed"), (what, event)
        assert event["event"] == "proposed" or said in refusal, (what, event)
    assert verdicts == TAKEN
    why = "the queue is empty; the proposer has nothing more to propose"
    assert events[-1] == {"event": "ended", "why": why, "bring_home": ""}

    # Told back on the next call, until something is taken.
    for call, (_, said) in enumerate(REPERTOIRE[:-1]):
        refused = told(memory, call + 1)["refused"]
        assert bool(refused) is (said not in ("KEEP", "REJECT"))
        assert not refused or said in f"{refused[-1]['refused']} {refused[-1].get('found')}"
    known = {record["id"]: record["verdict"] for record in told(memory, 20)["brief"]["records"]}
    assert known == {f"P{number}": verdict for number, verdict in enumerate(TAKEN, start=1)}

    # Nothing but the five that were taken is in the repository, and nothing was written outside.
    assert repository.git("ls-tree", "--name-only", "HEAD", "experiments/").split() == [
        f"experiments/P{number}" for number in range(1, len(TAKEN) + 1)
    ]
    assert repository.git("status", "--porcelain").split() == ["??", "experiments/P90/"]
    assert not (repository.root.parent / "outside").exists()
    assert json.loads((repository.root / "experiments/P1/queued.json").read_text())["by"] == "command"
    repository.check_nothing_is_left()


def test_a_proposer_that_fails_is_not_asked_for_ever(repository: Foreign) -> None:
    memory = employ(repository, [{"trick": "dies", "turn": ["FIRST", 0]}] * 9)
    ran = repository.concluded("run", "--all", "--propose", "9")
    assert (memory / "calls").read_text() == "3"
    assert "the proposer exited with status 7" in ran.err
    assert "the end: the queue is empty; the proposer failed 3 times in a row" in ran.out


def test_a_proposer_that_edits_the_users_kernel_has_proposed_nothing(repository: Foreign) -> None:
    employ(repository, [{}])
    agent = repository.root.parent / "vandal.py"
    agent.write_text(f"open({str(repository.root / 'src/total.py')!r}, 'a').write('# mine')\n")
    repository.edit_protocol(str(TEMPLATES / "agent.py"), str(agent))
    answer = repository.concluded("run", "--all", "--propose", "3")
    assert "the end: the queue is empty; the proposer has nothing more to propose" in answer.out
    assert repository.git("show", "HEAD:src/total.py") == knobs.kernel().strip()


def test_without_a_proposer_it_says_what_to_add(repository: Foreign) -> None:
    answer = repository.expctl("run", "--all", "--propose", "1")
    assert (answer.status, printed_code(answer.err)) == (1, "no-proposer")


@pytest.mark.parametrize(
    ("screen", "values"),
    [("rounds: 2", ["3000", "0", "9000"]), pytest.param("", ["9000", "0"], marks=pytest.mark.long)],
    ids=["two rounds", "as it is"],
)
def test_a_sweep_proposes_its_winner_and_has_it_judged(repository: Foreign, screen: str, values: list[str]) -> None:
    knobs.begin(repository)
    sweep = f"{{file: src/total.py, constants: {{FIRST: [{', '.join(values)}], SECOND: ['3000', '1']}}"
    sweep += f", screen: {{{screen}}}}}" if screen else "}"
    repository.write("protocol.yaml", (repository.root / "protocol.yaml").read_text() + f"proposer: {{sweep: {sweep}}}\n")
    repository.commit("a sweep")
    ran = repository.concluded("run", "--all", "--propose", "2")
    assert "FIRST = 0\n" in repository.git("show", "HEAD:src/total.py")
    assert "SECOND = 1\n" in repository.git("show", "HEAD:src/total.py")
    record = repository.record("P1")
    assert (record["verdict"], record["kind"], record["title"]) == ("KEEP", "config", "FIRST=0, SECOND=1 in src/total.py")
    assert "A screen, not a verdict." in record["hypothesis"]
    assert "the sweep found nothing better" in ran.out


def test_a_sweep_that_does_not_fit_its_file_is_refused(repository: Foreign) -> None:
    knobs.begin(repository)
    protocol = (repository.root / "protocol.yaml").read_text()
    repository.write("protocol.yaml", protocol + "proposer: {sweep: {file: src/total.py, constants: {SIXTH: ['1']}}}\n")
    repository.commit("a sweep")
    answer = repository.expctl("run", "--all", "--propose", "1")
    assert (answer.status, "SIXTH is defined nowhere" in answer.err) == (1, True)
