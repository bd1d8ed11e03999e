"""Progress: one live line on a terminal, few whole lines in a pipe."""

from io import StringIO

import pytest

from expctl.domain.machine.interference import Foreign
from expctl.domain.machine.waiting import Load, Wait
from expctl.domain.verdict.outlook import Outlook
from expctl.domain.verdict.samples import Session
from expctl.views.console import ConsoleProgress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def tell(progress: ConsoleProgress) -> None:
    progress.title("P15", "stage B", base="4f2c91a55", target="cpu", protocol="9ab3ffff")
    progress.working("build", "cpu")
    progress.step("build", "cpu (155 VGPR)", 3.12)
    progress.advance("benchmark", 5, 10)
    progress.advance("test", 7, 0)
    progress.step("test", "pass")


def test_a_pipe_gets_whole_lines_only() -> None:
    stream = StringIO()
    tell(ConsoleProgress(stream))
    assert stream.getvalue() == (
        "P15  stage B   base 4f2c91a  target cpu  protocol 9ab3\n  build      cpu (155 VGPR)   3.1 s\n  test       pass\n"
    )


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def test_a_terminal_sees_one_line_that_is_wiped_before_the_next() -> None:
    stream = Terminal()
    tell(ConsoleProgress(stream))
    shown = stream.getvalue()
    assert "\n  build      cpu\r\x1b[K  build      cpu (155 VGPR)   3.1 s\n" in shown
    assert "  benchmark  5 of 10\r\x1b[K  test       7\r\x1b[K" in shown
    assert shown.endswith("\r\x1b[K  test       pass\n")


def test_the_live_line_is_wiped_at_the_end() -> None:
    stream = Terminal()
    with ConsoleProgress(stream) as progress:
        progress.working("build", "cpu")
    assert stream.getvalue() == "  build      cpu\r\x1b[K"


@pytest.mark.parametrize("letters", range(60, 90))
def test_the_live_line_leaves_room_for_the_echo_of_ctrl_c(letters: int) -> None:
    stream = Terminal()
    ConsoleProgress(stream).working("build", "x" * letters)
    assert len(stream.getvalue() + "^C") < 80


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, coloured = Terminal(), Terminal()
    ConsoleProgress(plain).working("build", "cpu")
    monkeypatch.delenv("NO_COLOR")
    ConsoleProgress(coloured).working("build", "cpu")
    assert "\x1b[1;36m" in coloured.getvalue()
    assert "\x1b" not in plain.getvalue()


def test_a_terminal_that_bears_nothing_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    tell(ConsoleProgress(stream))
    assert len(stream.getvalue().splitlines()) == 3


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def last_line(stream: Terminal) -> str:
    return stream.getvalue().rpartition("\x1b[K")[2]


def test_a_long_step_shows_a_clock_and_is_drawn_seldom() -> None:
    stream, clock = Terminal(), Clock()
    progress = ConsoleProgress(stream, clock)
    progress.working("build", "cpu")
    for tick in range(1, 101):
        clock.now_s = 0.13 * tick
        progress.tick()
    assert last_line(stream) == "  build      cpu   0:13"
    assert stream.getvalue().count("build") < 52


OUTLOOK = Outlook(session=Session.SEARCH, done=12, most=46, estimate="+2.31 % [+0.40, +4.20]", gain=1, left_s=180.0)


def test_how_far_a_measurement_is_and_the_time_left_which_shrinks() -> None:
    stream, clock = Terminal(), Clock()
    progress = ConsoleProgress(stream, clock)
    progress.outlook(OUTLOOK)
    line = "  search     round 12 of at most 46  +2.31 % [+0.40, +4.20]  about 3 min left"
    assert last_line(stream) == line
    assert len(line) < 80
    clock.now_s = 140.0
    progress.tick()
    assert last_line(stream).endswith("about 40 s left")


def test_a_pipe_gets_a_line_a_minute() -> None:
    stream, clock = StringIO(), Clock()
    progress = ConsoleProgress(stream, clock)
    for second in range(200):
        clock.now_s = float(second)
        progress.outlook(OUTLOOK)
    assert len(stream.getvalue().splitlines()) == 3


ZIG, NODE = (Load(name=name, pid=411, user="ada", percent=97) for name in ("zig", "node"))
BUSY = Foreign(sensor="cpu", what="others use the CPU", detail="1.9 of 2 cores")


def wait(waited_s: float, *busiest: Load) -> Wait:
    return Wait(what="a quiet machine", waited_s=waited_s, at_most_s=60, foreign=(BUSY,), busiest=busiest)


def test_a_wait_names_who_is_waited_for() -> None:
    stream = Terminal()
    ConsoleProgress(stream).waiting(wait(23.2, ZIG))
    assert stream.getvalue() == "  waiting 23 of 60 s for a quiet machine: zig (pid 411, ada) 97 % of a core"


def test_a_wait_of_many_is_told_as_long_as_the_terminal_bears(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    ConsoleProgress(stream).waiting(wait(23, ZIG, NODE, NODE))
    assert stream.getvalue().endswith(": zig 97 %, node 97 %, node 97 %")
    monkeypatch.setenv("COLUMNS", "160")
    wide = Terminal()
    ConsoleProgress(wide).waiting(wait(23, ZIG, NODE, NODE))
    assert wide.getvalue().count("(pid 411, ada)") == 3


def test_a_pipe_is_told_of_a_wait_every_half_minute_and_of_the_next_one_anew() -> None:
    stream, clock = StringIO(), Clock()
    progress = ConsoleProgress(stream, clock)
    for second in (*range(50), *range(10)):
        clock.now_s += 1
        progress.waiting(wait(second, ZIG))
    assert [line.split()[1] for line in stream.getvalue().splitlines()] == ["1", "31", "1"]


def test_a_run_that_waits_is_titled_once() -> None:
    stream = StringIO()
    progress = ConsoleProgress(stream)
    for name in ("build", "waiting", "", "", "verdict", ""):
        progress.title("P15", "stage B", base="4f2c91a55", target="cpu", protocol="9ab3ffff")
        if name:
            progress.step(name, "x")
    assert [line.split()[0] for line in stream.getvalue().splitlines()] == ["P15", "build", "P15", "waiting", "verdict", "P15"]
