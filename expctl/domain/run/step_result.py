"""Results of builds, tests and other harness scripts."""

from collections.abc import Mapping

from msgspec import Struct, field


class Available(Struct, frozen=True, kw_only=True):
    """The target can be used on this machine. `versions` of its tools go into the record."""

    versions: Mapping[str, str]


class Unavailable(Struct, frozen=True, kw_only=True):
    """The target can't be used on this machine: `reason` says why, `hint` what to install."""

    reason: str
    hint: str


class Failed(Struct, frozen=True, kw_only=True):
    """A build or script failed. `fault` is True if the harness or the machine failed, not the build under test. `died`: the
    process ended without a result; `killed`: it was ended by SIGKILL, for which no build is to blame. `repeat`: the script says
    that a disturbed machine can look the same, so that it counts once it recurs.
    """

    reason: str
    fault: bool = False
    died: bool = False
    killed: bool = False
    repeat: bool = False


class TestReport(Struct, frozen=True, kw_only=True):
    """The result of a test that passed: number of cases, a summary, and the values of each figure in the order of the cases."""

    cases: int
    summary: str
    seen: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


class DamagedFile(Exception):
    """A build wrote a file that begins like ELF and can't be read as such; the message says why."""
