"""Results of a build or of a step of the harness."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Available(Struct, frozen=True, kw_only=True):
    """The target can be built and run on this machine. `versions` goes into the record."""

    versions: Mapping[str, str]


class Unavailable(Struct, frozen=True, kw_only=True):
    """The target can't be used on this machine: why, and what to install."""

    reason: str
    hint: str


class Failed(Struct, frozen=True, kw_only=True):
    """A step failed. `fault`: the harness or machine failed, not the build under test.

    `died`: it ended without a result; `killed`: by SIGKILL, for which no build is to blame.
    """

    reason: str
    fault: bool = False
    died: bool = False
    killed: bool = False


class TestReport(Struct, frozen=True, kw_only=True):
    """The report of a passed test."""

    cases: int
    summary: str
