"""Check the lines that a script writes to its result channel: JSON objects, with the nonce it was given if it uses that."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from expctl.domain.text import one_line

NONCE_BYTES = 16
NONCE = "nonce"
CONTRACT = 1
"""Version of docs/HARNESS.md that expctl understands. A script names its own in `contract`; without it, it keeps version 1."""


class Unexpected(Exception):
    """A script wrote a line that is not allowed: no JSON object, another nonce, or an answer that was not asked for."""


class UnknownContract(Unexpected):
    """The script follows a version of docs/HARNESS.md that expctl doesn't know. Its text begins with a verb, e.g. `keeps
    version 3 of ...`: who reports it puts the script's name in front.
    """


class Channel:
    """Parses the lines that one script writes; the script gets the random text `nonce` on its standard input.

    A script whose first line repeats the nonce must repeat it in every line, so that a line written by other code is noticed.
    If the first line lacks the nonce, all lines must lack it: a script that loads the build under test into its own process
    can't hide a nonce from that build.
    """

    def __init__(self) -> None:
        self.nonce = secrets.token_hex(NONCE_BYTES)
        self._is_bound: bool | None = None

    def parse(self, line: str) -> dict[str, Any]:
        """Return a line's JSON object without its nonce and contract version. Raises Unexpected, or UnknownContract."""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise Unexpected(f"no JSON object: {one_line(line, 60)!r}")
        given = said.pop(NONCE, None)
        if self._is_bound is None:
            self._is_bound = given is not None
        if given != (self.nonce if self._is_bound else None):
            raise Unexpected(f"a line that is not of this run: {shown(said)}")
        version = said.pop("contract", CONTRACT)
        named = one_line(json.dumps(version), 20)
        if type(version) is not int:
            raise UnknownContract(f"gives {named} as its version of docs/HARNESS.md, where an integer belongs")
        if version != CONTRACT:
            raise UnknownContract(
                f"keeps version {named} of docs/HARNESS.md; this expctl knows version {CONTRACT}: update expctl"
            )
        return said


def shown(said: Mapping[str, Any]) -> str:
    """Return the message `said` as JSON, shortened to 60 characters, to be quoted in an error."""
    return one_line(json.dumps(said), 60)
