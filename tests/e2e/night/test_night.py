"""A night with a scripted coding agent: every proposal ends as the table says, budgets hold, kills change nothing."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.e2e import cheat_parameters as knobs
from tests.e2e.foreign import Foreign, wait_until

AGENT = Path(__file__).with_name("coding_agent.py")
Step = tuple[dict[str, object], str]

# What the agent does, and how it ends: a verdict, or the code of the refusal.
OPENING: tuple[Step, ...] = (
    ({"turn": ["FIRST", 60000], "title": "slower first"}, "REJECT"),
    ({"turn": ["FIRST", 60000], "title": "repeated first"}, "tried-before"),
    ({"turn": ["FIRST", 0], "title": "without first"}, "KEEP"),
    ({"trick": "malformed", "turn": ["SECOND", 1]}, "file-has-problems"),
    ({"trick": "no build", "title": "syntax"}, "screened-out"),
    ({"turn": ["SECOND", 0], "title": "without second"}, "KEEP"),
    ({"trick": "harness", "turn": ["THIRD", 1], "title": "own judge"}, "patch-not-allowed"),
    ({"trick": "silent"}, "agent-left-nothing"),
    ({"trick": "repository", "turn": ["THIRD", 60000], "title": "third slower"}, "REJECT"),
    ({"trick": "link", "title": "elsewhere"}, "patch-not-allowed"),
    ({"trick": "endless", "turn": ["THIRD", 1]}, "proposer-failed"),
    ({"turn": ["THIRD", 0], "title": "without third"}, "KEEP"),
)
CIRCLE: tuple[Step, ...] = tuple(({"turn": ["FOURTH", 0], "trick": "no words"}, "agent-left-half") for _ in range(3))


def middle(number: int) -> list[Step]:
    """More of the same: of four proposals one is slower than all before, one repeats it, one dies, one is malformed."""
    found: list[Step] = []
    for turn in range(number // 4):
        value = 60000 + turn * 1000
        found += [
            ({"turn": ["FIFTH", value], "title": f"fifth{turn} slows{turn}"}, "REJECT"),
            ({"turn": ["FIFTH", value], "title": f"anew{turn} differently{turn}"}, "tried-before"),
            ({"trick": "dies"}, "proposer-failed"),
            ({"trick": "malformed", "turn": ["FOURTH", turn]}, "file-has-problems"),
        ]
    return found


def employ(repository: Foreign, steps: list[Step]) -> None:
    knobs.begin(repository)
    script = repository.root.parent / "script.json"
    script.write_text(json.dumps([what for what, _ in steps]))
    argv = json.dumps(["{python}", str(AGENT), str(script)])
    protocol = (repository.root / "protocol.yaml").read_text()
    proposer = f"proposer: {{argv: {argv}, timeout_s: 4, leaves: diff, screen: true}}\n"
    repository.write("protocol.yaml", protocol + proposer + "keep: {blind_percent: 0}\n" * ("keep:" not in protocol))
    repository.commit("an agent")


def account(repository: Foreign) -> list[dict[str, Any]]:
    file = repository.root / ".git/expctl/night.jsonl"
    events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [each for each in events if each["what"] in ("proposed", "refused", "failed")]


def kill_after(repository: Foreign, words: tuple[str, ...], calls: int) -> None:
    runner = repository.start(*words)
    wait_until(lambda: len(account(repository)) >= calls, f"{calls} calls", at_most_s=240)
    time.sleep(0.4)
    runner.send_signal(signal.SIGKILL)
    runner.wait()


def test_a_scripted_night(repository: Foreign, long: bool) -> None:
    steps = [*OPENING, *middle(60 - len(OPENING) - len(CIRCLE) - 1 if long else 4)]
    steps += [({"turn": ["FOURTH", 1], "title": "fourth less"}, "KEEP")] * (60 - len(steps) - len(CIRCLE) if long else 1)
    steps += CIRCLE
    employ(repository, steps)
    main = repository.git("rev-parse", "main")
    words = ("run", "--all", "--propose", "200")
    for calls in (3, 9):
        kill_after(repository, words, calls)
    ended = repository.concluded(*words)

    answers = account(repository)
    told = [(each.get("code") or repository.record(each["id"])["verdict"]) for each in answers]
    assert list(enumerate(told)) == list(enumerate(end for _, end in steps))
    assert "the proposer circles: 3 refusals in a row on one idea" in ended.out
    assert repository.git("merge-base", "--is-ancestor", main, "main", check=False) == ""

    report = repository.concluded("report", "--since", "2020-01-01", "--json").json()
    records = [repository.record(each["id"]) for each in answers if each["what"] == "proposed"]
    verdicts = [record["verdict"] for record in records]
    assert report["verdicts"] == {name: verdicts.count(name) for name in ("KEEP", "REJECT")}
    for ran, record in zip(report["ran"], records, strict=True):
        (objective,) = (each for each in record["estimates"] if each["size"] == "objective")
        assert (ran["id"], ran["verdict"]) == (record["id"], record["verdict"])
        assert [ran[key] for key in ("effect_percent", "low_percent", "high_percent")] == [
            objective[key] for key in ("effect_percent", "low_percent", "high_percent")
        ]
    counts = {what: sum(each["what"] == what for each in answers) for what in ("proposed", "refused", "failed")}
    assert report["calls"] == {what: count for what, count in counts.items() if count}
    assert report["usage"]["tokens"] == 100 * len(steps)
    text = repository.concluded("report", "--since", "2020-01-01").out
    assert f"Ran ({len(records)})" in text
    assert f"Kept ({verdicts.count('KEEP')})" in text
    repository.check_nothing_is_left()


def test_budgets_of_what_the_agent_reports(repository: Foreign) -> None:
    employ(repository, [({"trick": "silent"}, ""), ({"trick": "malformed", "turn": ["FIRST", 1]}, "")] * 4)
    ended = repository.concluded("run", "--all", "--propose", "8", "--max-tokens", "250")
    assert "the budget of 250 tokens is spent (300)" in ended.out
    assert len(account(repository)) == 3
    again = repository.concluded("run", "--all", "--propose", "8", "--max-money", "1")
    assert "the budget of 1 in money is spent (1)" in again.out
    assert len(account(repository)) == 5
    assert subprocess.run(["git", "status", "--porcelain"], cwd=repository.root, capture_output=True).stdout == b""
