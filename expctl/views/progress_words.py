"""The words of the one live line: what is under way, how far it is, and the time left. Each is a pair of text and style."""

from collections.abc import Sequence

from expctl.domain.machine.waiting import Wait, wait_texts
from expctl.domain.verdict.outlook import Outlook

Words = Sequence[tuple[str, str]]
"""Parts of a line: text, and a style of rich ("" for none)."""

CLOCK_FROM_S = 2.0
GAIN_STYLE = {1: "green", -1: "red", 0: ""}
LABEL_STYLE, WAIT_STYLE, FAINT = "bold cyan", "yellow", "dim"


def step_words(name: str, text: str, passed_s: float) -> list[Words]:
    """Return a step under way, e.g. `  build      cpu, candidate   0:12`."""
    return [[_label(name), (text, ""), *_clock(passed_s)]]


def count_words(name: str, done: int, total: int, passed_s: float, left_s: float | None) -> list[Words]:
    """Return a count under way, e.g. `  calibrate  round 5 of 24   about 3 min left`. `total` 0 means unknown."""
    label, _, noun = name.partition(" ")
    count = " ".join(filter(None, (noun, f"{done} of {total}" if total else str(done))))
    return [[_label(label), (count, ""), *(_clock(passed_s) if left_s is None else [(f"   {left_text(left_s)}", FAINT)])]]


def outlook_words(outlook: Outlook, passed_s: float) -> list[Words]:
    """Return how far a measurement is, e.g. `  search     round 12 of at most 46  +2.31 % [+0.40, +4.20]  about 3 min left`."""
    label, count = _label(outlook.session), f"round {outlook.done} of at most {outlook.most}"
    estimate = (f"  {outlook.estimate}" if outlook.estimate else "", GAIN_STYLE[outlook.gain])
    left = [] if outlook.left_s is None else [(f"  {left_text(outlook.left_s - passed_s)}", FAINT)]
    short = f"round {outlook.done}/{outlook.most}"
    return [[label, (count, ""), estimate, *left], [label, (short, ""), estimate, *left]]


def waiting_words(wait: Wait) -> list[Words]:
    """Return a wait, e.g. `  waiting 23 of 60 s for a quiet machine: zig (pid 411, ada) 97 % of a core`, longest first."""
    return [[(f"  {text}", WAIT_STYLE)] for text in wait_texts(wait)]


def plain(words: Words) -> str:
    """Return the text of a line without its styles."""
    return "".join(text for text, _ in words)


def left_text(seconds: float) -> str:
    """Return a time left in words, rounded: it is a forecast. E.g. `about 3 min left`."""
    if seconds < 1.5:
        return "about to end"
    if seconds < 90:
        return f"about {seconds:.0f} s left" if seconds < 20 else f"about {5 * round(seconds / 5)} s left"
    minutes = seconds / 60
    return f"about {minutes:.0f} min left" if minutes < 90 else f"about {minutes / 60:.1f} h left"


def clock_text(seconds: float) -> str:
    """Return a time that has passed, e.g. `0:07` or `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _label(name: str) -> tuple[str, str]:
    return f"  {name:<10} ", LABEL_STYLE


def _clock(passed_s: float) -> list[tuple[str, str]]:
    return [(f"   {clock_text(passed_s)}", FAINT)] if passed_s >= CLOCK_FROM_S else []
