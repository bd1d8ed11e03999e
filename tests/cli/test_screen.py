"""What `status --watch` shows: a screen that fits, and in a pipe a line for each subject."""

import random

import pytest
from msgspec.structs import replace

from benchmarks.scale.history import samples_like
from expctl.cli.night.screen import watch_texts, watch_words
from expctl.domain.machine.interference import Foreign
from expctl.domain.tuning.name import TUNE
from expctl.domain.verdict.outlook import outlook_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.plot_data import Caption, picture_of
from expctl.domain.verdict.samples import Session, round_effects
from expctl.domain.verdict.under_way import UnderWay
from expctl.flow.live import Live
from expctl.flow.status import RecentVerdict, Running, Status, Waiting
from expctl.views.progress_words import plain
from tests.views.page.accounts import PROTOCOL, some_records

HOSTILE = "Wider \x1b[2J\u202e tiles " * 20
WAITING = tuple(Waiting(id=f"P{n}", title=HOSTILE, depends_on=(), state="READY", why="", priority=0) for n in (7, 8, 9, 10, 11))
LAST = (RecentVerdict(id="P5", verdict="REJECT", target="here", title=HOSTILE, reason=HOSTILE),)
CULPRIT = Foreign(sensor="cpu", what="zig", detail="97 % of a core", who="pid 411, ada")
LOCK = Foreign(sensor="lock", what="expctl waits for a quiet machine", who="P7")
STATUS = Status(
    name=HOSTILE,
    branch="main",
    head="4f2c91a" * 5,
    epochs=(),
    baselines=(),
    imported=(),
    running=(Running(experiment="P7", step="measure", pid=4123, alive=True),),
    queue=WAITING,
    last=LAST,
    debts=(),
    blind=(),
    blocking=(LOCK,),
    gate_target="here",
)


def under_way(*, confirms: bool) -> UnderWay:
    record = next(each for each in reversed(some_records(60, 1)) if each.estimates and each.target == "here")
    samples = [each for each in samples_like(record, random.Random(1)) if confirms or each.session is Session.SEARCH]
    measured = PROTOCOL.targets["here"].benchmark
    assert measured is not None
    plan = Plan.of(measured, PROTOCOL.keep, record.procedure.mode if record.procedure else pytest.fail("untimed"))
    caption = Caption(id="P7", title=HOSTILE, target="here", outcome="measuring", reason="")
    picture = picture_of(round_effects(samples), plan, caption, sequential=True, estimate=None)
    return UnderWay(id="P7", title=HOSTILE, target="here", since="", outlook=outlook_of(samples, plan), picture=picture)


LIVE = Live(status=STATUS, run=under_way(confirms=False), timed=True)


def screen(live: Live, width: int = 100, height: int = 30) -> str:
    lines = [plain(line) for line in watch_words(live, at="22:41:07", passed_s=0.0, width=width, height=height)]
    assert len(lines) <= height
    return "\n".join(lines)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("height", [8, 23, 49])
def test_it_fits_and_is_harmless(width: int, height: int) -> None:
    shown = screen(LIVE, width, height)
    assert not {"\x1b", "\u202e"} & set(shown)
    assert "P7" in shown


@pytest.mark.parametrize("confirms", [False, True])
def test_rounds_stand_with_estimate_borders_and_time_left(confirms: bool) -> None:
    run = under_way(confirms=confirms)
    assert run.outlook is not None
    assert run.picture is not None
    shown = screen(replace(LIVE, run=run))
    values, means = (
        (run.picture.confirm, run.picture.confirm_means) if confirms else (run.picture.search, run.picture.search_means)
    )
    assert f"{len(values):>5}  {values[-1]:>+8.2f} %  {means[-1]:>+10.2f} %" in shown
    assert run.outlook.estimate in shown
    if confirms:
        assert f"a KEEP needs a mean above {run.picture.confirm_above:+.2f} %" in shown
    else:
        look = run.picture.looks[-1]
        assert f"futile below {look.futile:+.2f} %, confirmed above {look.keep:+.2f} %" in shown


def test_the_gate_names_its_culprit_and_not_the_run_itself() -> None:
    assert "passed; not looked at" in screen(LIVE)
    waits = replace(LIVE, timed=False, waits=True, status=replace(STATUS, blocking=(LOCK, CULPRIT)))
    shown = screen(waits)
    assert "the run waits: cpu: zig (97 % of a core, pid 411, ada)" in shown
    assert "lock" not in shown
    assert "quiet for here; the run waits" in screen(replace(waits, status=STATUS))


def test_a_long_title_leaves_room_for_the_target() -> None:
    assert LIVE.run is not None
    shown = screen(replace(LIVE, run=replace(LIVE.run, title="wide " * 30, target="sm_90-rows")), width=80)
    (line,) = [each for each in shown.splitlines() if each.endswith("…, on sm_90-rows")]
    assert len(line) <= 80


def test_what_runs_is_not_in_the_queue() -> None:
    shown = screen(LIVE)
    assert "queue    P8" in shown
    assert "and 1 more" in shown


def test_without_a_run_and_after_a_kill() -> None:
    idle = replace(STATUS, running=(), queue=(), last=())
    assert "nothing runs" in screen(Live(status=idle, run=None))
    dead = replace(STATUS, running=(Running(experiment="P7", step="interrupted", pid=0, alive=False),))
    shown = screen(replace(LIVE, status=dead))
    assert "its runner is gone; expctl run P7 resumes it" in shown
    tuning = replace(STATUS, running=(Running(experiment=TUNE, step="interrupted", pid=0, alive=False),))
    assert "its runner is gone; expctl tune with the options that expctl doctor names resumes it" in screen(
        replace(LIVE, status=tuning)
    )
    assert " left" not in shown


def test_a_pipe_gets_a_line_for_each_subject() -> None:
    texts = watch_texts(LIVE)
    assert list(texts) == ["run", "gate", "queue", "last"]
    assert all("\n" not in text and "\x1b" not in text for text in texts.values())
    assert texts["queue"] == "P8, P9, P10, P11"
    assert texts["run"].startswith("P7  Wider tiles")
