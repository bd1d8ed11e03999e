"""The rules of this project's history that were kept in words refuse a repeat, and let an honest neighbour through.

Each is asked in the repository that holds the history, as `expctl rules check` asks it.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from expctl import wiring
from expctl.adapters.git.reader import locate
from expctl.adapters.rules.lookup import RuleLookup
from expctl.domain.rules.match_levels import Level
from expctl.flow.rules.repeat_check import matching_rules
from tests.rules_corpus.strangers.corpus import unpacked

ROOT = Path(__file__).parents[2]
REPEATS = [
    ("P2", "R12a-paste", Level.PATTERN),
    ("P3", "R07b-paste", Level.SETTINGS),
    ("P7", "R01b-paste", Level.INSTRUCTION),
    ("P7", "R01-setprio2-load", Level.PATTERN),
]
LONG_REPEATS = [
    ("P2", "R12d-in-load-b", Level.PATTERN),
    ("P3", "R07a-macro", Level.SETTINGS),
    ("P3", "R07d-other-file", Level.SETTINGS),
    ("P7", "R01j-asm-stringized", Level.INSTRUCTION),
    ("P7", "R01g-at-the-calls", Level.PATTERN),
    ("P8", "R08a-macro", Level.SETTINGS),
]
HONEST = ["R01t-store-phase", "R01q-level1"]
LONG_HONEST = ["R12s-cvt-f32", "R07s-deep", "R01u-epilogue", "R01r-sleep"]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> tuple[RuleLookup, str]:
    """The rules of the imported history on the state for which the stranger wrote, and the commit."""
    root = tmp_path_factory.mktemp("history")
    for record in (ROOT / "experiments").glob("*/record.json"):
        if '"imported"' in record.read_text():
            (root / "experiments" / record.parent.name).mkdir(parents=True)
            shutil.copy(record, root / "experiments" / record.parent.name)
    for path, text in unpacked("kernel.tar.xz").items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text)
    shutil.copy(ROOT / "protocol.yaml", root)
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "history")):
        subprocess.run(["git", *words], cwd=root, check=True)
    place = locate(root)
    git = wiring.reader(place)
    return wiring.rulebook(place, git), git.head()


def known(book: tuple[RuleLookup, str], name: str) -> list[tuple[str, Level]]:
    """Which rules in force know a patch, and how."""
    found = matching_rules(*book, unpacked("patches.tar.xz")[f"{name}.patch"])
    return [(match.record.id, match.level) for match, changed in found.matches if not changed]


@pytest.mark.parametrize(
    ("rule", "name", "level"), [*REPEATS, *(pytest.param(*each, marks=pytest.mark.long) for each in LONG_REPEATS)]
)
def test_a_rule_in_words_refuses_its_repeat(book: tuple[RuleLookup, str], rule: str, name: str, level: Level) -> None:
    assert (rule, level) in known(book, name)


@pytest.mark.parametrize("name", [*HONEST, *(pytest.param(each, marks=pytest.mark.long) for each in LONG_HONEST)])
def test_an_honest_neighbour_goes_free(book: tuple[RuleLookup, str], name: str) -> None:
    assert known(book, name) == []
