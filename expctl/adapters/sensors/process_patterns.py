"""Sensor of foreign benchmarks and profilers, by the name of the executable, or of the script that an interpreter runs."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import translate

from expctl.adapters.sensors.interface import EACH_TIME, Launch, Sensor
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.machine.interference import Foreign
from expctl.domain.text import one_line

INTERPRETERS = re.compile("|".join(translate(name) for name in ("python*", "bash", "sh", "dash", "perl", "node", "ruby")))

Strangers = Callable[[Iterable[Foreign]], tuple[Foreign, ...]]


class ProcessPatterns(Sensor):
    """Finds processes that aren't ours and whose name matches one of `patterns` (fnmatch, from the protocol). `strangers`
    leaves out of a finding whoever doesn't count as foreign either.
    """

    name = "process"
    every_s = EACH_TIME

    def __init__(self, table: ProcessTable, patterns: Sequence[str], *, strangers: Strangers = tuple) -> None:
        self._table, self._strangers = table, strangers
        self._patterns = [(pattern, re.compile(translate(pattern))) for pattern in patterns]
        self._looked_at = 0
        self._is_timed = False

    def why_absent(self) -> str:
        """Return in words that /proc hides other users' processes, so that only some are seen; empty if it shows them."""
        return "/proc hides the processes of other users (hidepid)" if self._table.hides_others() else ""

    def says(self) -> str:
        """Return in words how many processes `blocking` checked last, and for which patterns."""
        return f"looked at {self._looked_at} for {', '.join(pattern for pattern, _ in self._patterns) or 'nothing'}"

    def blocking(self) -> tuple[Foreign, ...]:
        """Return every process that isn't ours and whose name matches a pattern."""
        everybody = self._table.pids()
        self._looked_at = len(everybody)
        return self._strangers(self._matching(everybody))

    def start(self, launch: Launch) -> None:
        """Remember whether this benchmark process is being timed: only then does `stop` check all processes."""
        self._is_timed = launch.timed

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:
        """Return those of the pids `fresh` that aren't ours and whose name matches a pattern."""
        return self._strangers(self._matching(fresh))

    def stop(self) -> tuple[Foreign, ...]:
        """Return the processes that match a pattern at the end of a timed launch; nothing after one that was not timed. All are
        checked again, because a process that didn't match at the start may have replaced its program by exec.
        """
        return self.blocking() if self._is_timed else ()

    def _matching(self, pids: Iterable[int]) -> Iterator[Foreign]:
        for pid in pids:
            name, pattern = self._match(self._table.words(pid))
            if pattern and self._table.process(pid) is not None and not self._table.is_ours(pid):
                who, since = self._table.who(pid), self._table.since(pid)
                yield Foreign(sensor=self.name, what=f"{one_line(name, 60)} matches {pattern}", pid=pid, who=who, since=since)

    def _match(self, words: Sequence[str]) -> tuple[str, str]:
        if not words:
            return "", ""
        names = [words[0].rpartition("/")[2]]
        if INTERPRETERS.match(names[0]):
            names += [word.rpartition("/")[2] for word in _after_options(words[1:])][:1]
        return next(((name, text) for text, pattern in self._patterns for name in names if pattern.match(name)), ("", ""))


def _after_options(words: Sequence[str]) -> Iterator[str]:
    values = False  # is the next word the value of an option?
    for word in words:
        if not values and not word.startswith("-"):
            yield word
        values = word in ("-W", "-X")
