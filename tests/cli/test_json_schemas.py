"""Every `--json` says which form its facts have, and docs/JSON.md lists all forms."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from expctl.cli.app import application
from tests.cli.conftest import COMMANDS, Played

ELSEWHERE = {"rules-probe/1", "tune/1", "tune-drift/1"}  # a rule with a probe, a benchmark of configs: tests/e2e
TRIED_ELSEWHERE = [("tune", "drift")]  # tests/e2e/tuning


def verbs() -> Iterator[tuple[str, ...]]:
    """Every command that takes --json, as words of the command line."""
    from typer.main import get_command

    root = get_command(application())
    for verb, command in getattr(root, "commands", {}).items():
        below = {(verb, name): each for name, each in getattr(command, "commands", {}).items()}
        for words, each in {(verb,): command, **below}.items():
            if any("--json" in parameter.opts for parameter in each.params):
                yield words


@pytest.mark.filterwarnings("ignore:.*click.*:DeprecationWarning")  # of typer's own imports, with a newer click
def test_every_command_with_json_is_tried() -> None:
    tried = [words.split() for words, _ in COMMANDS]
    missing = [words for words in verbs() if not any(each[: len(words)] == list(words) for each in tried)]
    assert missing == TRIED_ELSEWHERE


@pytest.mark.parametrize("index", range(len(COMMANDS)), ids=[" ".join(words.split()[:3]) for words, _ in COMMANDS])
def test_json_says_which_form_it_has(index: int, played: Played) -> None:
    answer, (words, schema) = played.answers[index], COMMANDS[index]
    assert answer.status == 0, f"{words}: {answer}"
    assert next(iter(json.loads(answer.out).items())) == ("schema", f"expctl.{schema}")


def test_the_page_lists_every_form_once(root: Path) -> None:
    sources = "".join(path.read_text() for path in (root / "expctl/cli").glob("**/*.py"))
    used = set(re.findall(r'schema="([a-z/0-9-]+)"', sources)) | {"record/3"}
    listed = re.findall(r"^\|[^|]*\| `expctl\.([a-z/0-9-]+)` \|", (root / "docs/JSON.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(used)
    assert {schema for _, schema in COMMANDS} | ELSEWHERE == used
