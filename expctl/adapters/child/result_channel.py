"""What a script may say on its result channel: JSON objects, bound to the run where the script is, and nothing unasked."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from expctl.domain.text import one_line

NONCE_BYTES = 16
NONCE = "nonce"


class Unexpected(Exception):
    """A line that the channel must not carry: no JSON object, another nonce, or something that was not asked."""


class Channel:
    """Of one child. `nonce` is told over its standard input; a script that repeats it in its first line must do so in all.

    Then a line that somebody else wrote into the pipe gives itself away. A script that never does is believed unbound: one that
    loads the build itself has no secret that the build can't find.
    """

    def __init__(self) -> None:
        self.nonce = secrets.token_hex(NONCE_BYTES)
        self._is_bound: bool | None = None

    def understood(self, line: str) -> dict[str, Any]:
        """One line, without its nonce. Raises Unasked."""
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
        return said


def shown(said: Mapping[str, Any]) -> str:
    """A message in few words."""
    return one_line(json.dumps(said), 60)
