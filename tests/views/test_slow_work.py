"""A long command tells a terminal what it does, and a pipe nothing."""

import io
import time

import pytest

from expctl.views.live_line import WIPE
from expctl.views.slow_work import told_when_slow


class Terminal(io.StringIO):
    """Text written to a terminal."""

    def isatty(self) -> bool:
        return True


def drawn(stream: io.StringIO, silent_s: float, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what is written until `order 2` is drawn, or for a tenth of a second where it isn't."""
    monkeypatch.setenv("TERM", "xterm")
    with told_when_slow("check", stream, silent_s=silent_s, every_s=0.01) as tell:
        tell("order 1 of 2, n = 64")
        tell("order 2 of 2, n = 64")
        end = time.monotonic() + (30 if silent_s < 1 and stream.isatty() else 0.1)
        while "order 2" not in stream.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    return stream.getvalue()


def test_the_newest_is_drawn_and_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(Terminal(), 0.01, monkeypatch)
    assert "order 2 of 2, n = 64" in text
    assert "order 1" not in text
    assert text.endswith(WIPE)


@pytest.mark.parametrize(("stream", "silent_s"), [(Terminal(), 60.0), (io.StringIO(), 0.0)], ids=["quick", "a pipe"])
def test_what_is_quick_or_goes_to_a_pipe_tells_nothing(
    stream: io.StringIO, silent_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert drawn(stream, silent_s, monkeypatch) == ""
