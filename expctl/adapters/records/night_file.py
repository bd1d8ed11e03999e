"""The account of campaigns on disk: a line of JSON for each event, and what the last call left until it is settled."""

from __future__ import annotations

import base64
import json
import os
from contextlib import suppress
from pathlib import Path

from expctl.adapters.codec.decode import encode
from expctl.adapters.codec.record_codec import typed_json
from expctl.domain.errors import Refused
from expctl.domain.queue.night import KeptCall, Night, NightEvent, Usage, present_night
from expctl.files import checked_json


class NightFile:
    """The files `night.jsonl` and `night-call.json` in `folder`. A torn last line, which a crash leaves, is not read."""

    def __init__(self, folder: Path) -> None:
        self._log, self._call = folder / "night.jsonl", folder / "night-call.json"

    def events(self) -> tuple[NightEvent, ...]:
        """Return all events, oldest first. Lines that can't be read are left out."""
        try:
            lines = self._log.read_bytes().split(b"\n")
        except OSError:
            return ()
        found = []
        for number, line in enumerate(lines, start=1):
            with suppress(Refused, ValueError):
                sound = json.dumps(checked_json.checked(json.loads(line or b"{}"))).encode()
                found += [typed_json(sound, NightEvent, where=f"{self._log}, line {number}")] if line else []
        return tuple(found)

    def present(self) -> Night | None:
        """Return the campaign that has begun and not ended; None if there is none."""
        return present_night(self.events())

    def append(self, event: NightEvent) -> None:
        """Append an event and flush it to disk. Raises OSError if it can't be written."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        torn = self._log.exists() and not self._log.read_bytes().endswith(b"\n")
        text = checked_json.line(encode(event))
        with open(self._log, "ab") as file:
            file.write(b"\n" + text if torn else text)
            file.flush()
            os.fsync(file.fileno())

    def keep(self, call: KeptCall | None) -> None:
        """Keep what a call has left; None forgets it."""
        if call is None:
            self._call.unlink(missing_ok=True)
            return
        self._call.parent.mkdir(parents=True, exist_ok=True)
        plain = {
            "call": call.call,
            "head": call.head,
            "text": base64.b64encode(call.text).decode(),
            "patch": base64.b64encode(call.patch).decode(),
            "tokens": call.usage.tokens,
            "money": call.usage.money,
        }
        checked_json.write(self._call, plain)

    def kept(self) -> KeptCall | None:
        """Return what was kept; None if nothing was, or if it can't be read."""
        try:
            plain = checked_json.read(self._call)
            return KeptCall(
                call=plain["call"],
                head=plain["head"],
                text=base64.b64decode(plain["text"]),
                patch=base64.b64decode(plain["patch"]),
                usage=Usage(tokens=plain["tokens"], money=plain["money"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
