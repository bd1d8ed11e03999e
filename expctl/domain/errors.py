"""The three ways in which a command ends early, and the exit status of each.

A fault in the experiment is not among them: that is data and becomes a verdict.
"""

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit statuses of the command line. A REJECT is a result, so it is 0."""

    CONCLUDED = 0
    REFUSED = 1
    USAGE = 2
    BUG = 3
    BUSY = 75
    INTERRUPTED = 130


class Refused(Exception):
    """Something that the user can mend. Nothing was changed.

    `code` names the kind of refusal and stays when its words change: docs/ERRORS.md lists all of them.
    `hint` is the next command to type or the edit to make.
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


class Misused(Refused):
    """The words on the command line are wrong."""

    status = ExitStatus.USAGE


class Busy(Refused):
    """The gate or a lock is held by somebody else; nothing ran."""

    status = ExitStatus.BUSY


class MachineTrouble(Refused):
    """The disk, the memory or git gave way: no experiment is to blame, and none could go on."""


class Interrupted(Exception):
    """The user asked to stop. What was done is journalled and `run` resumes it."""

    status = ExitStatus.INTERRUPTED
