"""What `status --watch` shows: the run with its estimate and borders round by round, the gate, the queue, the last verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from expctl.domain.text import one_line
from expctl.views.progress_words import FAINT, GAIN_STYLE, LABEL_STYLE, WAIT_STYLE, Words, left_text

if TYPE_CHECKING:
    from expctl.domain.machine.interference import Foreign
    from expctl.domain.verdict.plot_data import Picture
    from expctl.domain.verdict.under_way import UnderWay
    from expctl.flow.live import Live
    from expctl.flow.status import RecentVerdict, Running, Status, Waiting

LABEL = 9
STRIP_FROM, STRIP_MOST = 24, 90
ROUND_COLUMNS = LABEL + 38
VERDICT_STYLE = {"KEEP": "green", "REJECT": "red", "INCONCLUSIVE": "yellow"}
TITLE_MOST = 50  # of what runs: 80 columns have room for its target too
QUEUE_MOST, LAST_MOST, CULPRITS_MOST, ROUNDS_LEAST = 3, 3, 3, 3


def watch_words(live: Live, *, at: str, passed_s: float, width: int, height: int) -> list[Words]:
    """Return the lines of a screen of `width` columns and `height` lines, each as parts with styles. `at` is the time of day,
    `passed_s` how many seconds ago the run got on last; what is left of the time is foretold from then.
    """
    status = live.status
    where = f"{status.branch or 'detached'} at {status.head[:7]}"
    room = width - len(where) - len(at) - 6
    title = one_line(status.name, max(10, room))
    head: Words = [(title.ljust(max(10, room)), "bold"), (f"   {where}", ""), (f"   {at}", FAINT)]
    below = [*_gate(live), *_queue(status), *_last(status)]
    above = list(_run(live, passed_s))
    rounds = height - 2 - len(above) - len(below) - 2
    table = _rounds(live.run, width, rounds) if rounds >= ROUNDS_LEAST else []
    return [head, [], *above, *table, [], *below][:height]


def watch_texts(live: Live) -> dict[str, str]:
    """Return what a pipe gets, as one line for each subject; a subject is told again when its line changes."""
    status, newest = live.status, live.status.last[-1:]
    waits = ", ".join(each.id for each in _waiting(status)[:12]) or "empty"
    return {
        "run": "; ".join("  ".join(filter(None, text)) for text in _run_texts(live, 0.0)),
        "gate": "; ".join(text for text, _ in _gate_texts(live)),
        "queue": waits,
        "last": f"{newest[0].id} {newest[0].verdict}: {one_line(newest[0].reason, 160)}" if newest else "no verdict yet",
    }


def _run(live: Live, passed_s: float) -> Iterator[Words]:
    gain = live.run.outlook.gain if live.run is not None and live.run.outlook is not None else 0
    for number, (text, estimate) in enumerate(_run_texts(live, passed_s)):
        yield [_label("" if number else "run"), (text, ""), (f"  {estimate}" if estimate else "", GAIN_STYLE[gain])]


def _run_texts(live: Live, passed_s: float) -> Iterator[tuple[str, str]]:
    """Yield lines on what runs, each with the estimate that belongs to it, or ""."""
    run = live.run
    outlook = run.outlook if run is not None else None
    if not live.status.running:
        yield "nothing runs", ""
    for running in live.status.running:
        title = f"{one_line(run.title, TITLE_MOST)}, on {run.target}" if run and run.id == running.experiment else ""
        yield "  ".join(part for part in (running.experiment, title) if part), ""
        left = f", {left_text(outlook.left_s - passed_s)}" if outlook and outlook.left_s is not None and running.alive else ""
        yield _step(running) + left, ""
    if outlook is not None:
        yield f"{outlook.session}, round {outlook.done} of at most {outlook.most}", outlook.estimate
    if run is not None and run.picture is not None and (border := _border(run.picture)):
        yield border, ""


def _step(running: Running) -> str:
    if running.alive:
        return f"step {running.step}, pid {running.pid}"
    return f"its runner is gone; {running.resumed_by} resumes it"


def _border(picture: Picture) -> str:
    """Return the borders of the session under way in words; "" before its first look."""
    if picture.confirm:
        return f"a KEEP needs a mean above {picture.confirm_above:+.2f} %" if picture.confirm_above is not None else ""
    if not picture.looks:
        return ""
    look = picture.looks[-1]
    return f"look at round {look.rounds}: futile below {look.futile:+.2f} %, confirmed above {look.keep:+.2f} %"


def _rounds(run: UnderWay | None, width: int, lines: int) -> list[Words]:
    """Return a table of the newest rounds of the session under way, the newest first, with a strip if there is room."""
    picture = run.picture if run is not None else None
    if picture is None:
        return []
    confirms = bool(picture.confirm)
    effects = picture.confirm if confirms else picture.search
    means = picture.confirm_means if confirms else picture.search_means
    looks = {} if confirms else {look.rounds: (look.futile, look.keep) for look in picture.looks}
    first = max(0, len(effects) - lines + 1)
    shown = list(range(len(effects) - 1, first - 1, -1))
    strip = min(STRIP_MOST, width - ROUND_COLUMNS - 2)
    scale = [0.0, *(value for n in shown for value in (effects[n], means[n]))]
    low, high = min(scale), max(scale)
    key = "   o round, x mean, f and k borders" if strip >= STRIP_FROM else ""
    found: list[Words] = [[_label("rounds"), (f"{'round':>5}  {'effect':>10}  {'mean so far':>12}{key}", FAINT)]]
    for n in shown:
        numbers = f"{n + 1:>5}  {effects[n]:>+8.2f} %  {means[n]:>+10.2f} %"
        drawn = _strip(effects[n], means[n], looks.get(n + 1, ()), low, high, strip) if strip >= STRIP_FROM else ""
        found.append([_label(""), (numbers, ""), (f"   {drawn}", FAINT)])
    return found


def _strip(effect: float, mean: float, borders: Sequence[float], low: float, high: float, columns: int) -> str:
    """Return one line of a plot from `low` to `high`; a border that lies beyond is left out."""
    letters = [" "] * columns
    marks = [(0.0, "|"), *zip(borders, "fk", strict=False), (effect, "o"), (mean, "x")]
    for value, letter in marks:
        if low <= value <= high:
            letters[round((value - low) / (high - low or 1.0) * (columns - 1))] = letter
    return "".join(letters).rstrip()


def _gate(live: Live) -> Iterator[Words]:
    for number, text in enumerate(_gate_texts(live)):
        yield [_label("" if number else "gate"), text]


def _gate_texts(live: Live) -> list[tuple[str, str]]:
    """Return lines on the gate with their styles: each culprit, or that there is none."""
    if live.timed:
        return [("passed; not looked at while launches are timed", "")]
    if live.culprits:
        head = "the run waits: " if live.waits else ""
        return [(head + _culprit(each), WAIT_STYLE) for each in live.culprits[:CULPRITS_MOST]]
    seen = "nothing seen" if live.status.not_asked else "quiet"
    return [
        (f"{seen} for {live.status.gate_target}{'; the run waits until it has been so for a while' if live.waits else ''}", "")
    ]


def _culprit(each: Foreign) -> str:
    owner = ", ".join(one_line(part, 60) for part in (each.detail, each.who) if part)
    return f"{each.sensor}: {one_line(each.what, 80)}{f' ({owner})' if owner else ''}"


def _queue(status: Status) -> Iterator[Words]:
    waits = _waiting(status)
    for number, each in enumerate(waits[:QUEUE_MOST]):
        why = f"  {each.state} {one_line(each.why, 80)}" if each.why else ""
        yield [_label("" if number else "queue"), (f"{each.id}  {one_line(each.title, 80)}", ""), (why, FAINT)]
    if len(waits) > QUEUE_MOST:
        yield [_label(""), (f"and {len(waits) - QUEUE_MOST} more", FAINT)]
    if not waits:
        yield [_label("queue"), ("empty", "")]


def _waiting(status: Status) -> list[Waiting]:
    """Return the queued proposals but those that are being run."""
    running = {each.experiment for each in status.running}
    return [each for each in status.queue if each.id not in running]


def _last(status: Status) -> Iterator[Words]:
    for number, each in enumerate(reversed(status.last[-LAST_MOST:])):
        yield [_label("" if number else "last"), *_verdict(each)]


def _verdict(each: RecentVerdict) -> Words:
    style = VERDICT_STYLE.get(each.verdict, "")
    return [(f"{each.id}  ", ""), (each.verdict, style), (f"  {one_line(each.title, 60)}: {one_line(each.reason, 120)}", "")]


def _label(text: str) -> tuple[str, str]:
    return text.ljust(LABEL), LABEL_STYLE
