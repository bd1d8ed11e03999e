"""What a build or a step of the harness ended with."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Available(Struct, frozen=True, kw_only=True):
    """The target can be built (and run, when it has steps) here. `versions` goes into the record."""

    versions: Mapping[str, str]


class Unavailable(Struct, frozen=True, kw_only=True):
    """Why it cannot, and what to install."""

    reason: str
    hint: str


class Failed(Struct, frozen=True, kw_only=True):
    """A step that did not do its work. `fault`: the harness or machine, not the build under test; `died`: it ended unsaid.

    `killed`: by SIGKILL, which no build earns by itself.
    """

    reason: str
    fault: bool = False
    died: bool = False
    killed: bool = False


class TestReport(Struct, frozen=True, kw_only=True):
    """A test that passed."""

    cases: int
    summary: str
