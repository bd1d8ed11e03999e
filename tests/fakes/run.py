"""Fakes of what one run needs of the machine: progress, clock, journal and locks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from expctl.domain.errors import Busy
from expctl.domain.machine.waiting import Wait
from expctl.domain.run.events import Event
from expctl.domain.verdict.outlook import Outlook


class Crash(BaseException):
    """The process is gone: nothing above may catch this."""


@dataclass
class FakeProgress:
    """Remembers the lines that a person would see."""

    lines: list[str] = field(default_factory=list)

    def title(self, experiment: str, title: str, *, base: str, target: str, protocol: str) -> None:
        self.lines.append(f"{experiment} {title} {base} {target} {protocol}")

    def working(self, name: str, text: str) -> None:
        self.lines.append(f"{name}... {text}")

    def step(self, name: str, text: str, duration_s: float = 0.0) -> None:
        self.lines.append(f"{name} {text} {duration_s}")

    def advance(self, name: str, done: int, total: int) -> None:
        self.lines.append(f"{name} {done}/{total}")

    def outlook(self, outlook: Outlook) -> None:
        self.lines.append(f"{outlook.session} round {outlook.done}/{outlook.most} {outlook.estimate}")

    def waiting(self, wait: Wait) -> None:
        self.lines.append(f"waits for {wait.what}")

    def tick(self) -> None:
        """Nothing to draw."""


@dataclass
class FakeClock:
    """Time passes by one second at every look."""

    now_s: float = 0.0

    def date(self) -> str:
        minutes, seconds = divmod(int(self.monotonic_s()), 60)
        return f"2026-03-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}Z"

    def monotonic_s(self) -> float:
        self.now_s += 1.0
        return self.now_s


@dataclass
class FakeJournal:
    """Events in memory. Dies around the `crash_at`-th append (from 1), after or before it took effect; `before_append` may
    raise."""

    events: dict[str, tuple[Event, ...]] = field(default_factory=dict)
    appends: int = 0
    crash_at: int = 0
    crash_before: bool = False
    before_append: Callable[[int], None] = lambda _number: None

    def read(self, experiment: str) -> tuple[Event, ...]:
        return self.events.get(experiment, ())

    def append(self, experiment: str, event: Event) -> None:
        self.appends += 1
        self.before_append(self.appends)
        if self.appends == self.crash_at and self.crash_before:
            raise Crash
        self.events[experiment] = (*self.read(experiment), event)
        if self.appends == self.crash_at:
            raise Crash

    def extend(self, experiment: str, events: Sequence[Event]) -> None:
        for event in events:
            self.append(experiment, event)

    def forget(self, experiment: str) -> None:
        self.events.pop(experiment, None)

    def unfinished(self) -> tuple[str, ...]:
        return tuple(sorted(self.events))


@dataclass
class FakeDurations:
    """Seconds by target and step, in memory."""

    known: dict[tuple[str, str], float] = field(default_factory=dict)

    def read(self, target: str, step: str) -> float:
        return self.known.get((target, step), 0.0)

    def write(self, target: str, step: str, seconds: float) -> None:
        self.known[target, step] = seconds


@dataclass
class FakeHolder:
    """The steps that were shown."""

    steps: list[str] = field(default_factory=list)

    def show(self, step: str) -> None:
        self.steps.append(step)


@dataclass
class FakeLocks:
    """The two locks; `taken` says that somebody else has the one for measuring, `publisher` who has the other one."""

    holder: FakeHolder = field(default_factory=FakeHolder)
    taken: bool = False
    held: bool = False
    busy_times: int = 0

    running: str = ""
    publisher: str = ""
    before_publishing: Callable[[str], object] = lambda _what: None

    @contextmanager
    def publishing(self, *, what: str, wait_s: float) -> Iterator[None]:
        assert what
        assert wait_s > 0
        self.before_publishing(what)
        if self.publisher or (self.busy_times and not self.held):
            self.busy_times = max(0, self.busy_times - 1)
            raise Busy("another expctl is publishing in this repository", code="repository-publishing", found=self.publisher)
        self.publisher = what
        try:
            yield
        finally:
            self.publisher = ""

    def measured(self) -> str:
        return self.running

    @contextmanager
    def measuring(self, *, experiment: str) -> Iterator[FakeHolder]:
        assert experiment
        if self.busy_times:
            self.busy_times -= 1
            raise Busy("another expctl is running in this repository", code="repository-in-use")
        if self.taken or self.held:
            raise Busy("another expctl is running in this repository", code="repository-in-use")
        self.held = True
        try:
            yield self.holder
        finally:
            self.held = False
