"""Progress: a bar on a terminal, whole lines in a pipe."""

from io import StringIO

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


def test_a_terminal_sees_a_bar_that_is_wiped_before_the_next_line() -> None:
    stream = Terminal()
    tell(ConsoleProgress(stream))
    shown = stream.getvalue()
    assert "\r\x1b[K  build      cpu ..." in shown
    assert "\r\x1b[K  benchmark  [############............] 5/10" in shown
    assert "\r\x1b[K  test       7" in shown
    assert shown.endswith("\r\x1b[K  test       pass\n")


def test_a_run_that_waits_is_titled_once() -> None:
    stream = StringIO()
    progress = ConsoleProgress(stream)
    for name in ("build", "waiting", "", "", "verdict", ""):
        progress.title("P15", "stage B", base="4f2c91a55", target="cpu", protocol="9ab3ffff")
        if name:
            progress.step(name, "x")
    assert [line.split()[0] for line in stream.getvalue().splitlines()] == ["P15", "build", "P15", "waiting", "verdict", "P15"]
