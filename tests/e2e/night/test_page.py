"""`report --html`, `report --serve` and `status --watch`, beside a real run that is held and then goes on."""

import io
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from html import unescape
from http.client import HTTPConnection
from pathlib import Path

import pytest

from expctl.adapters.git.reader import locate
from expctl.cli.night.page import serve
from tests.e2e.foreign import EXPCTL, FASTER, Foreign, wait_until


@pytest.fixture
def repository(tmp_path: Path) -> Foreign:
    return Foreign.of("foreign_repository", tmp_path)


class Viewer:
    """A command that runs until Ctrl-C; what it says goes to a file."""

    def __init__(self, repository: Foreign, *words: str) -> None:
        self._file = repository.home / f"said-by-{words[-1]}"
        with open(self._file, "wb") as said:
            self.process = subprocess.Popen(
                [EXPCTL, *words], cwd=repository.root, env=repository.environment, stdout=said, stderr=subprocess.STDOUT
            )

    def said(self) -> str:
        return self._file.read_text()

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=240)


def says(viewer: Viewer, pattern: str) -> Callable[[], bool]:
    return lambda: re.search(pattern, viewer.said(), re.MULTILINE) is not None


def get(address: str, path: str) -> tuple[str, str]:
    connection = HTTPConnection(address, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.status == 200
    found = answer.headers["X-Version"], answer.read().decode()
    connection.close()
    return found


def test_who_watches_sees_the_run_and_its_verdict(repository: Foreign) -> None:
    gate = repository.hold("build", "benchmark")
    repository.propose("P1", FASTER, "--title", "Sum in <b>one</b> go", "--hypothesis", "Fewer bytecodes for each value.")
    before = repository.head()
    watch, server = Viewer(repository, "status", "--watch"), Viewer(repository, "report", "--serve", "--port", "0")
    runner = repository.start("run", "P1")
    try:
        wait_until(says(watch, r"run +P1 .*step build, pid \d+"), "the step is shown")
        wait_until(says(server, r"^http://"), "it serves")
        address = re.search(r"http://([\d.:]+)/", server.said())
        assert address is not None
        version, live = get(address[1], "/live")
        assert version == before
        assert "Sum in &lt;b&gt;one&lt;/b&gt; go" in live
        version, page = get(address[1], "/")
        assert (version, f'data-follows="{before}"' in page) == (before, True)
        (gate / "build").touch()
        _until_a_round_is_shown(watch, gate / "benchmark")
        assert runner.wait(timeout=120) == 0
        wait_until(says(watch, r"last +P1 (KEEP|REJECT|INCONCLUSIVE)"), "the verdict is shown")
        version, live = get(address[1], "/live")
        assert (version, live) == (repository.head(), "")
        version, page = get(address[1], "/")
        assert version == repository.head()
        assert 'id="P1"' in page
    finally:
        ends = watch.end(), server.end()
        runner.kill()
        runner.wait()
    assert ends == (0, 0)
    assert len(watch.said().splitlines()) < 200
    _the_page_says_what_the_console_says(repository)


def _until_a_round_is_shown(watch: Viewer, gate: Path) -> None:
    """Let launches through in short spells until `watch`, which looks once a second, has shown a round; then all of them."""
    shown = says(watch, r"search, round \d+ of at most \d+")
    for _ in range(20):
        gate.touch()
        time.sleep(0.15)
        gate.unlink()
        time.sleep(2)
        if shown():
            break
    assert shown(), watch.said()
    gate.touch()


def _the_page_says_what_the_console_says(repository: Foreign) -> None:
    state = repository.snapshot()
    repository.concluded("report", "--html", "../page.html", "--since", "2020-01-01")
    assert repository.snapshot() == state
    page = unescape((repository.root.parent / "page.html").read_text())
    record = repository.record("P1")
    for line in repository.concluded("show", "P1").out.splitlines():
        if not re.match(r"  (epoch|so far) ", line):  # the page has them elsewhere
            assert line in page
    assert f"<em>{_interval(record)}</em>" in page
    assert "Since 2020-01-01T" in page


def _interval(record: dict[str, object]) -> str:
    reasons = record["reasons"]
    assert isinstance(reasons, list)
    found = re.search(r"objective ([-+][\d.]+ % \[[^\]]+\])", str(reasons[0]))
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("report", "--html", "page.html", "--serve"), "report-in-two-forms"),
        (("report", "--html", "page.html", "--json"), "report-in-two-forms"),
        (("report", "--html", "page.html", "--since", "soon"), "not-a-time"),
        (("report", "--html", "."), "file-not-writable"),
        (("status", "--watch", "--json"), "watch-not-json"),
    ],
)
def test_refused(repository: Foreign, words: tuple[str, ...], code: str) -> None:
    state = repository.snapshot()
    answer = repository.expctl(*words)
    assert answer.status in (1, 2)
    assert f"[{code}]" in answer.err
    assert repository.snapshot() == state


class _CtrlC(io.StringIO):
    """An output during whose first line Ctrl-C is pressed."""

    def write(self, text: str) -> int:
        written = super().write(text)
        if "ended" not in self.getvalue() and "Ctrl-C ends it" in text:
            raise KeyboardInterrupt
        return written


def test_ctrl_c_while_the_address_is_printed_is_an_end_like_any_other(repository: Foreign) -> None:
    with redirect_stdout(_CtrlC()) as said:
        serve(locate(repository.root), 0, list)
    assert said.getvalue().endswith("ended\n")
