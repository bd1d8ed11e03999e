"""A second night, of kinds of proposals that the first has not: each ends as its user would expect."""

import json
from typing import Any

from tests.e2e.foreign import Foreign
from tests.e2e.night.test_night import Step, account, employ

WORDS = "title: {}\nkind: {}\nhypothesis: less waste\nprediction: {{verdict: KEEP}}\n"
WRONG = "\n\nright = total\n\n\ndef total(values):\n    return right(values) + (len(values) == 7)\n"
KINDS: tuple[Step, ...] = (
    ({"turn": ["FIRST", 0], "title": "quick begin"}, "KEEP"),
    ({"turn": ["FIRST", 60000], "title": "taken back"}, "REJECT"),
    ({"turn": ["FIRST", "60_000  # other spelling"], "title": "renamed digits"}, "tried-before"),
    ({"turn": ["FIRST", 60000], "title": "precondition written", "more": "precondition: a colder room\n"}, "REJECT"),
    ({"turn": ["FIRST", 0], "title": "stands already"}, "agent-left-half"),
    ({"add": WRONG, "title": "wrong sums"}, "screened-out"),
    ({"add": "\nraise SystemExit(0)\n", "title": "ends well"}, "screened-out"),
    ({"turn": ["SECOND", 0], "title": "schneller \u2013 \u00bd \u6570"}, "KEEP"),
    ({"files": {"src/helper.py": "x = 1\n"}, "title": "unused helper"}, "screened-out"),
    ({"files": {"src/table.bin": "\x00\x01\xff"}, "title": "binary table"}, "screened-out"),
    ({"files": {"src/.gitignore": "*\n"}, "title": "ignored from now"}, "patch-not-allowed"),
    ({"turn": ["THIRD", 60000], "trick": "line ends", "title": "carriage returns"}, "REJECT"),
    ({"turn": ["THIRD", 1], "words": WORDS.format("own verdict", "perf") + "speed_up: 50\n"}, "file-has-problems"),
    ({"turn": ["THIRD", 2], "words": WORDS.format("", "perf")}, "file-contradicts-itself"),
    ({"turn": ["THIRD", 3], "words": WORDS.format("anything", "miracle")}, "file-has-problems"),
    ({"turn": ["THIRD", 0], "words": WORDS.format("fewer words", "simplify")}, "KEEP"),
    ({"turn": ["FIFTH", 3], "title": "after nobody", "more": "depends_on: [P999]\n"}, "waits"),
    ({"turn": ["FIFTH", 4], "title": "after words", "more": "depends_on: [a miracle]\n"}, "file-contradicts-itself"),
    ({"trick": "wrong place", "turn": ["FOURTH", 0]}, "agent-left-half"),
    ({"files": {"protocol.yaml": "version: 1\n"}, "turn": ["FOURTH", 0], "title": "own law"}, "patch-not-allowed"),
    ({"turn": ["FOURTH", 0], "title": "last one"}, "KEEP"),
)


def test_kinds_of_proposals(repository: Foreign) -> None:
    steps = list(KINDS)
    employ(repository, steps)
    ended = repository.concluded("run", "--all", "--propose", str(len(steps)))
    answers = account(repository)
    concluded = {each["id"]: each["verdict"] for each in ran(repository)}
    told = [each.get("code") or concluded.get(each["id"], "waits") for each in answers]
    assert list(enumerate(told)) == list(enumerate(end for _, end in steps)), ended
    report = repository.concluded("report", "--since", "2020-01-01", "--json").json()
    assert {each["id"]: each["verdict"] for each in report["ran"]} == concluded
    (waiting,) = (
        each["id"] for each in answers if concluded.get(each.get("id", "-"), "waits") == "waits" and "code" not in each
    )
    assert f"{waiting} is waiting: for P999: there is no P999" in report["waits"]
    repository.concluded("ledger", "--check")
    repository.check_nothing_is_left()


def ran(repository: Foreign) -> list[dict[str, Any]]:
    """The committed records."""
    names = repository.git("ls-files", "experiments/*/record.json").split()
    return [json.loads((repository.root / name).read_text()) for name in names]
