"""Exceptions that end a command early, and the exit status of each. A failed experiment is a verdict, not an exception."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Self


class ExitStatus(IntEnum):
    """Exit statuses of the command line. A REJECT is a result like any other, so its status is 0."""

    CONCLUDED = 0
    REFUSED = 1
    USAGE = 2
    BUG = 3
    BUSY = 75
    INTERRUPTED = 130


UPGRADE = (
    "upgrade expctl from its repository (pipx upgrade expctl, or pip install --upgrade 'expctl @ git+URL'), then the same"
    " command again; the file is sound, leave it as it is"
)


class Refused(Exception):
    """Raised for a request that can't be fulfilled until the user corrects something. Nothing was changed.

    `code` names the kind of error and stays when the message changes: docs/ERRORS.md lists all of them. `hint` is the next
    command to type or the edit to make.
    """

    status = ExitStatus.REFUSED

    def __init__(
        self,
        message: str,
        *,
        code: str,
        expected: str = "",
        found: str = "",
        where: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.expected = expected
        self.found = found
        self.where = where
        self.hint = hint

    @classmethod
    def again(cls, said: Mapping[str, str]) -> Self:
        """Return the refusal that said this, which was kept."""
        return cls(**said)


class NewerFile(Refused):
    """A newer expctl wrote a file: it is sound, and an upgrade reads it."""


class CommitNotHere(Refused):
    """This clone lacks a commit: nothing is damaged, and a fetch brings it."""


class Misused(Refused):
    """The command line is wrong: an option or argument has a value that isn't allowed, or contradicts another one."""

    status = ExitStatus.USAGE


class Busy(Refused):
    """Another process uses the machine or holds a lock, or the machine stays noisy; the command can be repeated later."""

    status = ExitStatus.BUSY


class MachineTrouble(Refused):
    """The disk, the memory or git failed: no experiment is to blame, and none can continue."""


class ControlFailed(Refused):
    """The measuring path failed its control, a stand-in of known speed: no experiment is to blame, and none can be decided."""


class Interrupted(BaseException):
    """The user asked to stop. The journal has the finished steps, and `expctl run` goes on after them. Like KeyboardInterrupt,
    it is no Exception: a library that catches those must not swallow it.
    """

    status = ExitStatus.INTERRUPTED
