"""--notify: JSON on standard input, no shell, and nothing that it does is an error."""

import json
import sys
import time
from pathlib import Path

import pytest

from expctl.adapters.fleet.ray_node import SETTINGS, prepare
from expctl.adapters.notifier import Notifier


def told(tmp_path: Path, *argv: str) -> str:
    return Notifier(argv, tmp_path / "notify", mark="test").tell({"event": "outcome", "title": "ä\u202e"})


def test_it_gets_one_line_of_json(tmp_path: Path) -> None:
    heard = tmp_path / "$(heard); x"
    assert told(tmp_path, sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())", str(heard)) == ""
    assert json.loads(heard.read_text()) == {"event": "outcome", "title": "ä\u202e"}
    assert heard.read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((sys.executable, "-c", "import sys; sys.exit('deaf')"), "exited with status 1 (deaf)"),
        (("/no/such/command",), "cannot start /no/such/command: No such file or directory"),
    ],
)
def test_a_failure_is_words(tmp_path: Path, argv: tuple[str, ...], said: str) -> None:
    assert said in told(tmp_path, *argv)


def test_it_does_not_get_what_the_process_is_given_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that runs a campaign on a fleet is given the fleet's secret, which Ray reads from the environment."""
    monkeypatch.setenv("RAY_ADDRESS", "the user's own")
    heard = tmp_path / "heard"
    words = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w'))"
    notifier = Notifier((sys.executable, "-c", words, str(heard)), tmp_path / "notify", mark="test")
    monkeypatch.setenv("RAY_ADDRESS", "")
    with monkeypatch.context() as patched:
        for name in (*SETTINGS, "RAY_AUTH_TOKEN"):
            patched.setenv(name, "")
        prepare("the secret")
        assert notifier.tell({"event": "outcome"}) == ""
    found = json.loads(heard.read_text())
    assert {name: text for name, text in found.items() if name.startswith("RAY_")} == {"RAY_ADDRESS": "the user's own"}


def test_a_hanging_one_is_ended(tmp_path: Path) -> None:
    started = time.monotonic()
    hanging = Notifier((sys.executable, "-c", "import time; time.sleep(60)"), tmp_path, mark="test", timeout_s=0.3)
    assert "did not end within 0.3 s" in hanging.tell({"event": "outcome"})
    assert time.monotonic() - started < 10
