"""What a build or a step of the harness ended with."""

from __future__ import annotations

from collections.abc import Mapping

from expctl.domain.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """The target can be built (and run, when it has steps) here. `versions` goes into the record."""

    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """Why it cannot, and what to install."""

    reason: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A step that did not do its work. `fault`: the harness or machine, not the build under test; `died`: it ended unsaid.

    `killed`: by SIGKILL, which no build earns by itself.
    """

    reason: str
    fault: bool = False
    died: bool = False
    killed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """A test that passed."""

    cases: int
    summary: str
